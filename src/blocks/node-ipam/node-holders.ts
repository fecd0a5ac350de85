// Nodes as objects that hold blocks: `spec.podCIDRs`, which the API server never lets anyone change again.
import { readNodeBlocks } from '../../kubernetes/node/node-blocks.ts';
import { isIgnored } from '../../kubernetes/object-identity.ts';
import type { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import { type JsonObject, textAt } from '../../kubernetes/transport/json.ts';
import type { WriteOutcome } from '../../kubernetes/transport/write-outcome.ts';
import { type AskedMaskSizes, askedMaskSizes } from '../allocation/asked-mask-size.ts';
import {
  type Assignment,
  type BlockHolders,
  type Holder,
  type HolderReading,
  supersededAnnotation,
} from '../allocation/block-holders.ts';

/** `H`: what is known of a Node. `D`: what is written to one. */
export interface NodeHoldersDeps<H extends Holder, D> {
  readonly read: (raw: JsonObject) => H;
  readonly writer: Pick<NodeWriter, 'annotate' | 'get'>;
  /** Writes to the Node in just this state. */
  readonly write: (holder: H, draft: D, signal: AbortSignal) => Promise<WriteOutcome>;
  /** Applies what the API server answered to what is known. */
  readonly observe: (raw: JsonObject) => void;
}

export interface NodeHolder extends Holder {
  readonly askedMaskSizes: AskedMaskSizes;
}

export function nodeHolder(raw: JsonObject): NodeHolder {
  const asked = askedMaskSizes((label) => textAt(raw, 'metadata', 'labels', label));
  return { ...holderIn(raw), askedMaskSizes: asked };
}

/** What a Node shows of its blocks. */
export function holderIn(raw: JsonObject): Holder {
  const { name, uid, resourceVersion: version, createdAt, isDeleting, podCidrs } = readNodeBlocks(raw);
  return { name, uid, version, createdAt, isLeftAlone: isDeleting || isIgnored(raw), blocks: podCidrs };
}

export class NodeHolders<H extends Holder, D> implements BlockHolders<H, D> {
  readonly #deps: NodeHoldersDeps<H, D>;

  constructor(deps: NodeHoldersDeps<H, D>) {
    this.#deps = deps;
  }

  async assign(holder: H, draft: D, signal: AbortSignal): Promise<Assignment<H>> {
    return this.#outcome(await this.#deps.write(holder, draft, signal));
  }

  async supersede({ name, uid, version: resourceVersion }: H, signal: AbortSignal): Promise<Assignment<H>> {
    const annotations = { [supersededAnnotation]: resourceVersion };
    return this.#outcome(
      await this.#deps.writer.annotate({ name, uid, resourceVersion }, annotations, signal),
    );
  }

  #outcome(outcome: WriteOutcome): Assignment<H> {
    return outcome.kind === 'written' ? { kind: 'written', holder: this.#take(outcome.raw) } : outcome;
  }

  async read(name: string, signal: AbortSignal): Promise<HolderReading<H>> {
    const outcome = await this.#deps.writer.get(name, signal);
    if (outcome.kind === 'found') return { kind: 'found', holder: this.#take(outcome.raw) };
    if (outcome.kind === 'gone' || outcome.kind === 'unavailable') return outcome;
    return { kind: 'unavailable', message: outcome.message };
  }

  isLeftAlone({ isLeftAlone }: H): boolean {
    return isLeftAlone;
  }

  report(): void {
    // A Node has no field for it: Events and /status tell.
  }

  forget(): void {
    // Nothing is remembered.
  }

  #take(raw: JsonObject): H {
    this.#deps.observe(raw);
    return this.#deps.read(raw);
  }
}

/** Writes `spec.podCIDRs`, bound to the uid and version of the Node. */
export function writePodCidrs(
  writer: Pick<NodeWriter, 'setPodCidrs'>,
  { name, uid, version: resourceVersion }: Holder,
  blocks: readonly string[],
  signal: AbortSignal,
): Promise<WriteOutcome> {
  return writer.setPodCidrs({ name, uid, resourceVersion }, blocks, signal);
}
