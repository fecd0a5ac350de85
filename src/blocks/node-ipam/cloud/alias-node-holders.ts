// Nodes whose pod CIDRs follow a cloud: first `spec.podCIDRs`, then the condition NetworkUnavailable, in a write each.
import { readNodeNetwork } from '../../../kubernetes/node/node-blocks.ts';
import type { NodeWriter } from '../../../kubernetes/node/node-writer.ts';
import type { JsonObject } from '../../../kubernetes/transport/json.ts';
import type { Holder } from '../../allocation/block-holders.ts';
import { holderIn, type NodeHoldersDeps, writePodCidrs } from '../node-holders.ts';

export interface AliasHolder extends Holder {
  /** Empty if the Node shows none. */
  readonly providerId: string;
  /** Whether its condition says that its network is available. */
  readonly isNetworkReady: boolean;
}

export type AliasDraft =
  | { readonly kind: 'podCidrs'; readonly blocks: readonly string[] }
  | { readonly kind: 'networkReady' };

export function aliasHolder(raw: JsonObject): AliasHolder {
  return { ...holderIn(raw), ...readNodeNetwork(raw) };
}

/** Whether it shows something else than before, of what is decided on. */
export function isOtherState(holder: AliasHolder, before: AliasHolder): boolean {
  return (
    holder.blocks.join() !== before.blocks.join() ||
    holder.isLeftAlone !== before.isLeftAlone ||
    holder.providerId !== before.providerId ||
    holder.isNetworkReady !== before.isNetworkReady
  );
}

/** `wall`: wall clock, in ms. */
export function aliasWrites(
  writer: Pick<NodeWriter, 'setNetworkReady' | 'setPodCidrs'>,
  wall: () => number,
): NodeHoldersDeps<AliasHolder, AliasDraft>['write'] {
  return (holder, draft, signal) =>
    draft.kind === 'networkReady'
      ? writer.setNetworkReady({ name: holder.name, uid: holder.uid, at: wall() }, signal)
      : writePodCidrs(writer, holder, draft.blocks, signal);
}
