// Nodes as objects that hold blocks: `spec.podCIDRs`, which the API server never lets anyone change again.
import { readNodeBlocks } from '../../kubernetes/node/node-blocks.ts';
import type { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import { type JsonObject, textAt } from '../../kubernetes/transport/json.ts';
import { type AskedMaskSizes, askedMaskSizes } from '../allocation/asked-mask-size.ts';
import type { Assignment, BlockHolders, Holder, HolderReading } from '../allocation/block-holders.ts';

export interface NodeHoldersDeps {
  readonly writer: Pick<NodeWriter, 'setPodCidrs' | 'get'>;
  /** Applies what the API server answered to what is known. */
  readonly observe: (raw: JsonObject) => void;
}

export interface NodeHolder extends Holder {
  readonly askedMaskSizes: AskedMaskSizes;
}

export function nodeHolder(raw: JsonObject): NodeHolder {
  const {
    resourceVersion: version,
    isDeleting: isLeftAlone,
    podCidrs: blocks,
    ...read
  } = readNodeBlocks(raw);
  const asked = askedMaskSizes((label) => textAt(raw, 'metadata', 'labels', label));
  return { ...read, version, isLeftAlone, blocks, askedMaskSizes: asked };
}

export class NodeHolders implements BlockHolders<NodeHolder> {
  readonly #deps: NodeHoldersDeps;

  constructor(deps: NodeHoldersDeps) {
    this.#deps = deps;
  }

  async assign(
    holder: NodeHolder,
    blocks: readonly string[],
    signal: AbortSignal,
  ): Promise<Assignment<NodeHolder>> {
    const { name, uid, version: resourceVersion } = holder;
    const outcome = await this.#deps.writer.setPodCidrs({ name, uid, resourceVersion }, blocks, signal);
    if (outcome.kind !== 'written') return outcome;
    this.#deps.observe(outcome.raw);
    return { kind: 'written', holder: nodeHolder(outcome.raw) };
  }

  async read(name: string, signal: AbortSignal): Promise<HolderReading<NodeHolder>> {
    const outcome = await this.#deps.writer.get(name, signal);
    if (outcome.kind === 'found') {
      this.#deps.observe(outcome.raw);
      return { kind: 'found', holder: nodeHolder(outcome.raw) };
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
}
