// CiliumNodes as objects that hold blocks. Which field has them is the mode's: `spec.ipam.podCIDRs` is what agents with
// ipam=cluster-pool read at their start.
import type { BlockedErrors } from '../../kubernetes/cilium-node/blocked-errors.ts';
import {
  type CiliumNodeBlocks,
  readCiliumNodeBlocks,
} from '../../kubernetes/cilium-node/cilium-node-blocks.ts';
import { readCiliumNodePools } from '../../kubernetes/cilium-node/cilium-node-pools.ts';
import type { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { allocatorWroteAt } from '../../kubernetes/field-managers.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { ClusterNodes } from '../../kubernetes/watch/cluster-nodes.ts';
import type { Reflector } from '../../kubernetes/watch/reflector.ts';
import type { Assignment, BlockCondition, Holder } from '../allocation/block-holders.ts';
import { ObjectHolders, targetOf } from '../holders/object-holders.ts';

export interface CiliumNodeHoldersDeps {
  readonly writer: Pick<CiliumNodeWriter, 'annotate' | 'patchSpec' | 'get'>;
  readonly errors: Pick<BlockedErrors, 'writeError' | 'forget'>;
  /** The Nodes: they, too, may ask that a CiliumNode is ignored. */
  readonly nodes: Pick<ClusterNodes, 'isIgnored'>;
  /** The CiliumNodes as last read. */
  readonly known: Pick<Reflector<Holder>, 'observe'>;
}

/** A CiliumNode. */
export interface CiliumNodeHolder
  extends Holder,
    Pick<CiliumNodeBlocks, 'isDeleting' | 'isKept' | 'isOwned'> {
  readonly isIgnored: boolean;
}

export function ciliumNodeHolder(raw: JsonObject): CiliumNodeHolder {
  const { resourceVersion: version, podCidrs, problem, operatorError, ...node } = readCiliumNodeBlocks(raw);
  return {
    ...node,
    version,
    isLeftAlone: node.isIgnored || node.isDeleting,
    blocks: podCidrs,
    allocatorWroteAt: allocatorWroteAt(raw, 'spec', 'ipam', 'podCIDRs'),
    ...(problem !== undefined && { problem }),
    ...(operatorError !== undefined && { error: operatorError }),
  };
}

/**
 * As above, in the mode cluster-pool. Blocks of pools count as held, and a node with exactly one block a family of the default
 * pool keeps those: so a cluster comes back from multi-pool.
 */
export function clusterPoolHolder(raw: JsonObject, defaultPool: string): CiliumNodeHolder {
  const { allocated } = readCiliumNodePools(raw);
  const alsoHeld = allocated.flatMap(({ cidrs }) => cidrs);
  if (alsoHeld.length === 0) return ciliumNodeHolder(raw);
  const ofDefault = allocated.filter(({ pool }) => pool === defaultPool).flatMap(({ cidrs }) => cidrs);
  const [ipv6 = [], ipv4 = []] = [true, false].map((isIpv6) =>
    ofDefault.filter((cidr) => cidr.includes(':') === isIpv6),
  );
  const kept = [ipv4, ipv6].filter((own) => own.length === 1).flat();
  return { ...ciliumNodeHolder(raw), alsoHeld, kept };
}

export class CiliumNodeHolders extends ObjectHolders {
  readonly #deps: CiliumNodeHoldersDeps;
  /** The last message of each object, by uid: another writer or the schema may remove it, and it is not written again. */
  readonly #said = new Map<string, string>();

  constructor(deps: CiliumNodeHoldersDeps) {
    super(deps.writer, deps.known);
    this.#deps = deps;
  }

  override assign(holder: Holder, blocks: readonly string[], signal: AbortSignal): Promise<Assignment> {
    return this.patch(holder, { ipam: { podCIDRs: blocks } }, signal);
  }

  /** Patches `spec`, bound to the uid and version of the object. Rejects only with the signal's reason. */
  patch(holder: Holder, spec: JsonObject, signal: AbortSignal): Promise<Assignment> {
    return this.take(this.#deps.writer.patchSpec(targetOf(holder), spec, signal));
  }

  override isLeftAlone({ name, isLeftAlone }: Holder): boolean {
    return isLeftAlone || this.#deps.nodes.isIgnored(name);
  }

  /**
   * Writes the message into the status, where it was cilium-operator's, or clears what is there. An object that is to be ignored
   * is not written at all.
   */
  report(holder: Holder, condition: BlockCondition | undefined): void {
    const { errors, nodes } = this.#deps;
    if (holder.isIgnored === true || nodes.isIgnored(holder.name)) errors.forget(holder.name);
    else this.#say(holder, condition?.message ?? '');
  }

  #say(holder: Holder, message: string): void {
    const said = this.#said.get(holder.uid);
    if ((holder.error ?? '') === message) this.#deps.errors.forget(holder.name);
    else if (said !== message) this.#deps.errors.writeError(holder, message);
    if (message !== '' || said !== undefined || holder.error !== undefined)
      this.#said.set(holder.uid, message);
  }

  forget({ name, uid }: Holder): void {
    this.#said.delete(uid);
    this.#deps.errors.forget(name);
  }
}
