// CiliumNodes as objects that hold blocks: `spec.ipam.podCIDRs`, as agents read it at their start.
import type { BlockedErrors } from '../../kubernetes/cilium-node/blocked-errors.ts';
import {
  type CiliumNodeBlocks,
  readCiliumNodeBlocks,
} from '../../kubernetes/cilium-node/cilium-node-blocks.ts';
import type { CiliumNodeWriter, WriteFailure } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import type { JsonObject } from '../../kubernetes/transport/json.ts';
import type {
  Assignment,
  BlockCondition,
  BlockHolders,
  Holder,
  HolderReading,
} from '../allocation/block-holders.ts';

export interface CiliumNodeHoldersDeps {
  readonly writer: Pick<CiliumNodeWriter, 'patchSpec' | 'get'>;
  readonly errors: Pick<BlockedErrors, 'say' | 'forget'>;
  /** Applies what the API server answered to what is known. */
  readonly observe: (raw: JsonObject) => void;
}

/** A CiliumNode, and what its holder does not tell. */
export interface CiliumNodeHolder extends Holder {
  readonly isIgnored: boolean;
  readonly isOwned: boolean;
  readonly nodeUid: string | undefined;
}

export function ciliumNodeHolder(raw: JsonObject): CiliumNodeHolder {
  return holderOf(readCiliumNodeBlocks(raw));
}

function holderOf(read: CiliumNodeBlocks): CiliumNodeHolder {
  const { name, uid, createdAt, isIgnored, isOwned, nodeUid, problem, operatorError } = read;
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
    isOwned,
    nodeUid,
  };
}

export class CiliumNodeHolders implements BlockHolders {
  readonly canGrow = true;
  readonly #deps: CiliumNodeHoldersDeps;
  /** What was said last, by uid: what another writer or the schema removes is not written again. */
  readonly #said = new Map<string, string>();

  constructor(deps: CiliumNodeHoldersDeps) {
    this.#deps = deps;
  }

  async assign(holder: Holder, blocks: readonly string[], signal: AbortSignal): Promise<Assignment> {
    const { name, uid, version: resourceVersion } = holder;
    const target = { name, uid, resourceVersion };
    const outcome = await this.#deps.writer.patchSpec(target, { ipam: { podCIDRs: blocks } }, signal);
    if (outcome.kind !== 'written') return outcome;
    this.#deps.observe(outcome.raw);
    return { kind: 'written', holder: ciliumNodeHolder(outcome.raw) };
  }

  async read(name: string, signal: AbortSignal): Promise<HolderReading> {
    const outcome = await this.#deps.writer.get(name, signal);
    if (outcome.kind !== 'found') return notFound(outcome);
    this.#deps.observe(outcome.raw);
    return { kind: 'found', holder: ciliumNodeHolder(outcome.raw) };
  }

  /** Writes the message into the status, where it was cilium-operator's, or clears what is there. */
  report(holder: Holder, condition: BlockCondition | undefined): void {
    const message = condition?.message ?? '';
    const said = this.#said.get(holder.uid);
    if ((holder.error ?? '') === message) this.#deps.errors.forget(holder.name);
    else if (said !== message) this.#deps.errors.say(holder, message);
    if (message !== '' || said !== undefined || holder.error !== undefined)
      this.#said.set(holder.uid, message);
  }

  forget({ name, uid }: Holder): void {
    this.#said.delete(uid);
    this.#deps.errors.forget(name);
  }
}

function notFound(failure: WriteFailure): HolderReading {
  switch (failure.kind) {
    case 'gone':
      return failure;
    case 'unavailable':
      return failure;
    case 'conflict':
    case 'denied':
    case 'invalid':
      return { kind: 'unavailable', message: failure.message };
  }
}
