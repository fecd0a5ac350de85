// Deletes CiliumNodes of machines that are gone, in every mode that has CiliumNodes: what it waits for, and what is reported.
import { writeTimeoutOf } from '../config/release-window.ts';
import { CiliumNodeGc, type CiliumNodeGcDeps } from '../kubernetes/cilium-node/cilium-node-gc.ts';
import type { CiliumNodeWriter } from '../kubernetes/cilium-node/cilium-node-writer.ts';
import { NodeWriter } from '../kubernetes/node/node-writer.ts';
import type { ModeDeps } from './host.ts';

/** Undefined if an option turns it off. */
export function ciliumNodeCollection(
  { host, kubernetes, leadership, scope }: Pick<ModeDeps, 'host' | 'kubernetes' | 'leadership' | 'scope'>,
  {
    writer,
    ciliumNodes,
    ...known
  }: Pick<CiliumNodeGcDeps, 'ciliumNodes' | 'nodeNames'> & {
    readonly writer: Pick<CiliumNodeWriter, 'delete'>;
  },
): CiliumNodeGc | undefined {
  const { options, clock } = host;
  const { permission, isInSafeLeaseWindow } = leadership;
  if (options.nodesGcInterval === 0) return undefined;
  const nodes = new NodeWriter(kubernetes, () => false, 0);
  return new CiliumNodeGc({
    ...known,
    ciliumNodes: () => [...ciliumNodes()].filter(({ name }) => !scope.isOutside(name)),
    interval: options.nodesGcInterval,
    refusal: () => {
      const why = permission.refusal('release');
      if (why === 'dryRun') return why;
      return why === undefined && isInSafeLeaseWindow(writeTimeoutOf(options)) ? undefined : 'paused';
    },
    isNodeGone: async (name, signal) => {
      const read = await nodes.get(name, signal);
      if (read.kind === 'found') return false;
      return read.kind === 'gone' ? true : { problem: read.message };
    },
    remove: async ({ name, uid, version: resourceVersion }, signal) => {
      const outcome = await writer.delete({ name, uid, resourceVersion }, signal);
      if (outcome === 'deleted' || outcome.kind === 'gone') return 'deleted';
      return outcome.kind === 'conflict' ? 'kept' : { problem: outcome.message };
    },
    onOutcome: outcomeLog(host),
    clock,
  });
}

/** Says once that a deletion fails, until one succeeds. */
function outcomeLog({
  log,
  registry,
}: Pick<ModeDeps['host'], 'log' | 'registry'>): CiliumNodeGcDeps['onOutcome'] {
  let isFailureTold = false;
  return ({ name: node }, outcome, problem) => {
    registry.metrics.headwater_ciliumnode_gc_total.add({ outcome });
    if (outcome === 'deleted') {
      isFailureTold = false;
      log.info('deleted a CiliumNode without a Node', { node });
    } else if (outcome === 'would_delete')
      log.info('dry run: would delete a CiliumNode without a Node', { node });
    else if (outcome === 'failed' && !isFailureTold) {
      isFailureTold = true;
      log.warn('cannot delete a CiliumNode without a Node: what is reserved for it stays', { node, problem });
    } else log.debug('a CiliumNode without a Node stays', { node, outcome, problem });
  };
}
