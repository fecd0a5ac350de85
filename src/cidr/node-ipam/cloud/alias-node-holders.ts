// Nodes whose pod CIDRs follow a cloud: first `spec.podCIDRs`, then the condition NetworkUnavailable, in a write each.
import { readNodeBlocks, readNodeNetwork } from '../../../kubernetes/node/node-blocks.ts';
import type { NodeWriteOutcome, NodeWriter } from '../../../kubernetes/node/node-writer.ts';
import type { JsonObject } from '../../../kubernetes/transport/json.ts';
import type { Assignment, BlockHolders, Holder, HolderReading } from '../../allocation/block-holders.ts';

export interface AliasHolder extends Holder {
  /** Empty if the Node shows none. */
  readonly providerId: string;
  /** Whether its condition says that its network is available. */
  readonly isNetworkReady: boolean;
}

export type AliasDraft =
  | { readonly kind: 'podCidrs'; readonly blocks: readonly string[] }
  | { readonly kind: 'networkReady' };

export interface AliasNodeHoldersDeps {
  readonly writer: Pick<NodeWriter, 'get' | 'setNetworkReady' | 'setPodCidrs'>;
  /** Applies what the API server answered to what is known. */
  readonly observe: (raw: JsonObject) => void;
  /** Wall clock, in ms. */
  readonly wall: () => number;
}

export function aliasHolder(raw: JsonObject): AliasHolder {
  const { name, uid, resourceVersion, createdAt, isDeleting, podCidrs } = readNodeBlocks(raw);
  return {
    name,
    uid,
    version: resourceVersion,
    createdAt,
    isLeftAlone: isDeleting,
    blocks: podCidrs,
    ...readNodeNetwork(raw),
  };
}

/** Whether it shows something else than before, of what is decided on. */
export function isOtherState(holder: AliasHolder, before: AliasHolder): boolean {
  return (
    holder.blocks.join() !== before.blocks.join() ||
    holder.providerId !== before.providerId ||
    holder.isNetworkReady !== before.isNetworkReady
  );
}

export class AliasNodeHolders implements BlockHolders<AliasHolder, AliasDraft> {
  readonly #deps: AliasNodeHoldersDeps;

  constructor(deps: AliasNodeHoldersDeps) {
    this.#deps = deps;
  }

  async assign(
    holder: AliasHolder,
    draft: AliasDraft,
    signal: AbortSignal,
  ): Promise<Assignment<AliasHolder>> {
    const outcome = await this.#write(holder, draft, signal);
    if (outcome.kind !== 'written') return outcome;
    this.#deps.observe(outcome.raw);
    return { kind: 'written', holder: aliasHolder(outcome.raw) };
  }

  async read(name: string, signal: AbortSignal): Promise<HolderReading<AliasHolder>> {
    const outcome = await this.#deps.writer.get(name, signal);
    if (outcome.kind === 'found') {
      this.#deps.observe(outcome.raw);
      return { kind: 'found', holder: aliasHolder(outcome.raw) };
    }
    if (outcome.kind === 'gone' || outcome.kind === 'unavailable') return outcome;
    return { kind: 'unavailable', message: outcome.message };
  }

  report(): void {
    // A Node has no field for it: Events and /status tell.
  }

  forget(): void {
    // Nothing is remembered.
  }

  #write(holder: AliasHolder, draft: AliasDraft, signal: AbortSignal): Promise<NodeWriteOutcome> {
    const { writer } = this.#deps;
    const { name, uid, version: resourceVersion } = holder;
    if (draft.kind === 'networkReady')
      return writer.setNetworkReady({ name, uid, at: this.#deps.wall() }, signal);
    return writer.setPodCidrs({ name, uid, resourceVersion }, draft.blocks, signal);
  }
}
