// Nodes as objects that hold blocks: `spec.podCIDRs`, which the API server never lets anyone change again, and where they follow
// a cloud, the condition NetworkUnavailable.
import { readNodeBlocks, readNodeNetwork } from '../../kubernetes/node/node-blocks.ts';
import { allocatorWroteAt } from '../../kubernetes/field-managers.ts';
import { isIgnored } from '../../kubernetes/object-identity.ts';
import type { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';
import type { Reflector } from '../../kubernetes/watch/reflector.ts';
import type { Clock } from '../../runtime/clock.ts';
import { askedMaskSizes } from '../allocation/asked-mask-size.ts';
import type { Assignment, Holder } from '../allocation/block-holders.ts';
import { ObjectHolders, targetOf } from '../holders/object-holders.ts';

/** A Node that gets a block of a network. */
export function nodeHolder(raw: JsonObject): Holder {
  return { ...holderIn(raw), asked: askedMaskSizes((label) => textAt(raw, 'metadata', 'labels', label)) };
}

/** A Node whose pod CIDRs follow a cloud. */
export interface AliasHolder extends Holder {
  /** Empty if the Node shows none. */
  readonly providerId: string;
  /** Whether its condition says that its network is available. */
  readonly isNetworkReady: boolean;
}

export function aliasHolder(raw: JsonObject): AliasHolder {
  return { ...holderIn(raw), ...readNodeNetwork(raw) };
}

function holderIn(raw: JsonObject): Holder {
  const { name, uid, resourceVersion: version, createdAt, isDeleting, podCidrs } = readNodeBlocks(raw);
  return {
    name,
    uid,
    version,
    createdAt,
    isLeftAlone: isDeleting || isIgnored(raw),
    blocks: podCidrs,
    allocatorWroteAt: allocatorWroteAt(raw, 'spec', 'podCIDR'),
  };
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

/** Tells nobody of a condition: a Node has no field for it, but Events and /status do. */
export class NodeHolders extends ObjectHolders {
  readonly #writer: NodeWriter;
  readonly #clock: Pick<Clock, 'wall'>;

  /** `known`: the Nodes as last read. */
  constructor(writer: NodeWriter, known: Pick<Reflector<Holder>, 'observe'>, clock: Pick<Clock, 'wall'>) {
    super(writer, known);
    this.#writer = writer;
    this.#clock = clock;
  }

  override assign(holder: Holder, blocks: readonly string[], signal: AbortSignal): Promise<Assignment> {
    return this.take(this.#writer.setPodCidrs(targetOf(holder), blocks, signal));
  }

  /** Says that the network of the Node is available, whatever else of it changes meanwhile. */
  setNetworkReady({ name, uid }: Holder, signal: AbortSignal): Promise<Assignment> {
    return this.take(this.#writer.setNetworkReady({ name, uid, at: this.#clock.wall() }, signal));
  }

  override isLeftAlone({ isLeftAlone }: Holder): boolean {
    return isLeftAlone;
  }
}
