// Deletes CiliumNodes of machines that are gone, in every mode that has CiliumNodes: what it waits for, and what is reported.
import { writeTimeoutOf } from '../config/release-window.ts';
import {
  CiliumNodeGc,
  type CiliumNodeGcDeps,
  type GcCandidate,
  type GcOutcome,
} from '../kubernetes/cilium-node/cilium-node-gc.ts';
import type { CiliumNodeWriter } from '../kubernetes/cilium-node/cilium-node-writer.ts';
import { ask } from '../kubernetes/transport/api-reply.ts';
import type { ModeDeps } from './host.ts';

/** Undefined if an option turns it off. */
export function ciliumNodeCollection(
  { host, kubernetes, leadership }: Pick<ModeDeps, 'host' | 'kubernetes' | 'leadership'>,
  {
    writer,
    ...known
  }: Pick<CiliumNodeGcDeps, 'ciliumNodes' | 'nodeNames'> & {
    readonly writer: Pick<CiliumNodeWriter, 'delete'>;
  },
): CiliumNodeGc | undefined {
  const { options, clock } = host;
  const { permission, isInSafeLeaseWindow } = leadership;
  if (options.nodesGcInterval === 0) return undefined;
  return new CiliumNodeGc({
    ...known,
    interval: options.nodesGcInterval,
    refusal: () => {
      const why = permission.refusal('release');
      if (why === 'dryRun') return why;
      return why === undefined && isInSafeLeaseWindow(writeTimeoutOf(options)) ? undefined : 'paused';
    },
    isNodeGone: async (name, signal) => {
      const path = `/api/v1/nodes/${encodeURIComponent(name)}`;
      const reply = await ask(kubernetes, { method: 'GET', path }, signal);
      if (reply.kind === 'gone') return true;
      return reply.kind === 'ok' ? false : undefined;
    },
    remove: async ({ name, uid, version: resourceVersion }, signal) => {
      const outcome = await writer.delete({ name, uid, resourceVersion }, signal);
      return outcome === 'conflict' ? 'kept' : outcome;
    },
    onOutcome: (node, outcome) => noteOutcome(host, node, outcome),
    clock,
  });
}

function noteOutcome(
  { log, registry }: Pick<ModeDeps['host'], 'log' | 'registry'>,
  { name }: GcCandidate,
  outcome: GcOutcome,
): void {
  registry.metrics.headwater_ciliumnode_gc_total.add({ outcome });
  if (outcome === 'deleted') log.info('deleted a CiliumNode without a Node', { node: name });
  else if (outcome === 'would_delete')
    log.info('dry run: would delete a CiliumNode without a Node', { node: name });
  else log.debug('a CiliumNode without a Node stays', { node: name, outcome });
}
