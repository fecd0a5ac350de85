// CiliumNodes as objects that hold blocks. Which field has them is the mode's: `spec.ipam.podCIDRs` is what agents with
// ipam=cluster-pool read at their start.
import type { BlockedErrors } from '../../kubernetes/cilium-node/blocked-errors.ts';
import { readCiliumNodeBlocks } from '../../kubernetes/cilium-node/cilium-node-blocks.ts';
import { readCiliumNodePools } from '../../kubernetes/cilium-node/cilium-node-pools.ts';
import type { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import type { WriteFailure } from '../../kubernetes/transport/write-outcome.ts';
import type { JsonObject } from '../../kubernetes/transport/json.ts';
import type { WriteOutcome } from '../../kubernetes/transport/write-outcome.ts';
import {
  type Assignment,
  type BlockCondition,
  type BlockHolders,
  type Holder,
  type HolderReading,
  supersededAnnotation,
} from '../allocation/block-holders.ts';

/** `D`: what is written to a CiliumNode. */
export interface CiliumNodeHoldersDeps<H extends CiliumNodeHolder, D> {
  readonly read: (raw: JsonObject) => H;
  /** The patch of `spec`. */
  readonly specOf: (draft: D) => JsonObject;
  readonly writer: Pick<CiliumNodeWriter, 'annotate' | 'patchSpec' | 'get'>;
  readonly errors: Pick<BlockedErrors, 'writeError' | 'forget'>;
  /** Whether the Node of that name asks that its CiliumNode is ignored. */
  readonly isIgnoredByNode: (name: string) => boolean;
  /** Applies what the API server answered to what is known. */
  readonly observe: (raw: JsonObject) => void;
}

/** A CiliumNode, and what its holder does not tell. */
export interface CiliumNodeHolder extends Holder {
  readonly isIgnored: boolean;
  /** The owner asks that it is kept although its machine is gone. */
  readonly isKept: boolean;
  readonly isOwned: boolean;
  readonly nodeUid: string | undefined;
}

export function ciliumNodeHolder(raw: JsonObject): CiliumNodeHolder {
  const read = readCiliumNodeBlocks(raw);
  const { name, uid, createdAt, isIgnored, isKept, isOwned, nodeUid, problem, operatorError } = read;
  return {
    name,
    uid,
    version: read.resourceVersion,
    createdAt,
    isLeftAlone: isIgnored || read.isDeleting,
    blocks: read.podCidrs,
    ...(problem !== undefined && { problem }),
    ...(operatorError !== undefined && { error: operatorError }),
    isIgnored,
    isKept,
    isOwned,
    nodeUid,
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

/** The patch of cluster-pool. */
export function podCidrsPatch(blocks: readonly string[]): JsonObject {
  return { ipam: { podCIDRs: blocks } };
}

export class CiliumNodeHolders<H extends CiliumNodeHolder, D> implements BlockHolders<H, D> {
  readonly #deps: CiliumNodeHoldersDeps<H, D>;
  /** What was said last, by uid: what another writer or the schema removes is not written again. */
  readonly #said = new Map<string, string>();

  constructor(deps: CiliumNodeHoldersDeps<H, D>) {
    this.#deps = deps;
  }

  async assign(holder: H, draft: D, signal: AbortSignal): Promise<Assignment<H>> {
    const { writer, specOf } = this.#deps;
    const { name, uid, version: resourceVersion } = holder;
    return this.#outcome(await writer.patchSpec({ name, uid, resourceVersion }, specOf(draft), signal));
  }

  async supersede({ name, uid, version: resourceVersion }: H, signal: AbortSignal): Promise<Assignment<H>> {
    const annotations = { [supersededAnnotation]: resourceVersion };
    return this.#outcome(
      await this.#deps.writer.annotate({ name, uid, resourceVersion }, annotations, signal),
    );
  }

  #outcome(outcome: WriteOutcome): Assignment<H> {
    if (outcome.kind !== 'written') return outcome;
    this.#deps.observe(outcome.raw);
    return { kind: 'written', holder: this.#deps.read(outcome.raw) };
  }

  async read(name: string, signal: AbortSignal): Promise<HolderReading<H>> {
    const outcome = await this.#deps.writer.get(name, signal);
    if (outcome.kind !== 'found') return notFound(outcome);
    this.#deps.observe(outcome.raw);
    return { kind: 'found', holder: this.#deps.read(outcome.raw) };
  }

  isLeftAlone({ name, isLeftAlone }: H): boolean {
    return isLeftAlone || this.#deps.isIgnoredByNode(name);
  }

  /**
   * Writes the message into the status, where it was cilium-operator's, or clears what is there. An object that is to be ignored
   * is not written at all.
   */
  report(holder: H, condition: BlockCondition | undefined): void {
    const { errors, isIgnoredByNode } = this.#deps;
    if (holder.isIgnored || isIgnoredByNode(holder.name)) errors.forget(holder.name);
    else this.#say(holder, condition?.message ?? '');
  }

  #say(holder: H, message: string): void {
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

function notFound(failure: WriteFailure): HolderReading<never> {
  if (failure.kind === 'gone' || failure.kind === 'unavailable') return failure;
  return { kind: 'unavailable', message: failure.message };
}
