// Nodes as objects that hold blocks: `spec.podCIDRs`, which the API server never lets anyone change again, and where they follow
// a cloud, the condition NetworkUnavailable.
import { readNodeBlocks, readNodeNetwork } from '../../kubernetes/node/node-blocks.ts';
import { isIgnored } from '../../kubernetes/object-identity.ts';
import type { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import { type JsonObject, textAt } from '../../kubernetes/transport/json.ts';
import type { WriteOutcome, WriteTarget } from '../../kubernetes/transport/write-outcome.ts';
import type { Reflector } from '../../kubernetes/watch/reflector.ts';
import type { Clock } from '../../runtime/clock.ts';
import { askedMaskSizes } from '../allocation/asked-mask-size.ts';
import {
  type Assignment,
  type BlockHolders,
  type BlockWriter,
  type Holder,
  type HolderReading,
  supersededAnnotation,
} from '../allocation/block-holders.ts';

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
  return { name, uid, version, createdAt, isLeftAlone: isDeleting || isIgnored(raw), blocks: podCidrs };
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
export class NodeHolders implements BlockHolders, BlockWriter {
  readonly #writer: NodeWriter;
  readonly #known: Pick<Reflector<Holder>, 'observe'>;
  readonly #clock: Pick<Clock, 'wall'>;

  /** `known`: the Nodes as last read. */
  constructor(writer: NodeWriter, known: Pick<Reflector<Holder>, 'observe'>, clock: Pick<Clock, 'wall'>) {
    this.#writer = writer;
    this.#known = known;
    this.#clock = clock;
  }

  async assign(holder: Holder, blocks: readonly string[], signal: AbortSignal): Promise<Assignment> {
    return this.#assignment(await this.#writer.setPodCidrs(targetOf(holder), blocks, signal));
  }

  /** Says that the network of the Node is available, whatever else of it changes meanwhile. */
  async setNetworkReady({ name, uid }: Holder, signal: AbortSignal): Promise<Assignment> {
    const at = this.#clock.wall();
    return this.#assignment(await this.#writer.setNetworkReady({ name, uid, at }, signal));
  }

  async supersede(holder: Holder, signal: AbortSignal): Promise<Assignment> {
    const annotations = { [supersededAnnotation]: holder.version };
    return this.#assignment(await this.#writer.annotate(targetOf(holder), annotations, signal));
  }

  #assignment(outcome: WriteOutcome): Assignment {
    if (outcome.kind !== 'written') return outcome;
    this.#known.observe(outcome.raw);
    return { kind: 'written', version: textAt(outcome.raw, 'metadata', 'resourceVersion') ?? '' };
  }

  async read(name: string, signal: AbortSignal): Promise<HolderReading> {
    const outcome = await this.#writer.get(name, signal);
    if (outcome.kind === 'gone' || outcome.kind === 'unavailable') return outcome;
    if (outcome.kind !== 'found') return { kind: 'unavailable', message: outcome.message };
    this.#known.observe(outcome.raw);
    return { kind: 'found' };
  }

  isLeftAlone({ isLeftAlone }: Holder): boolean {
    return isLeftAlone;
  }
}

function targetOf({ name, uid, version: resourceVersion }: Holder): WriteTarget {
  return { name, uid, resourceVersion };
}
