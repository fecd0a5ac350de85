// The half that CiliumNodes and Nodes share as objects that hold blocks: each answer of the API server is applied to what is known.
import type { ObjectWriter } from '../../kubernetes/transport/object-writer.ts';
import { textAt } from '../../runtime/json.ts';
import type { WriteOutcome, WriteTarget } from '../../kubernetes/transport/write-outcome.ts';
import type { Reflector } from '../../kubernetes/watch/reflector.ts';
import type {
  Assignment,
  BlockHolders,
  BlockWriter,
  Holder,
  HolderReading,
} from '../allocation/block-holders.ts';

/** The annotation that supersedes earlier writes of an object: its value is the resource version that they are bound to. */
const supersededAnnotation = 'headwater/superseded-version';

export abstract class ObjectHolders implements BlockHolders, BlockWriter {
  readonly #writer: Pick<ObjectWriter, 'annotate' | 'get'>;
  readonly #known: Pick<Reflector<Holder>, 'observe'>;

  /** `known`: the objects as last read. */
  constructor(writer: Pick<ObjectWriter, 'annotate' | 'get'>, known: Pick<Reflector<Holder>, 'observe'>) {
    this.#writer = writer;
    this.#known = known;
  }

  abstract assign(holder: Holder, blocks: readonly string[], signal: AbortSignal): Promise<Assignment>;

  abstract isLeftAlone(holder: Holder): boolean;

  supersede(holder: Holder, signal: AbortSignal): Promise<Assignment> {
    const annotations = { [supersededAnnotation]: holder.version };
    return this.take(this.#writer.annotate(targetOf(holder), annotations, signal));
  }

  async read(name: string, signal: AbortSignal): Promise<HolderReading> {
    const outcome = await this.#writer.get(name, signal);
    if (outcome.kind === 'gone' || outcome.kind === 'unavailable') return outcome;
    if (outcome.kind !== 'found') return { kind: 'unavailable', message: outcome.message };
    this.#known.observe(outcome.raw);
    return { kind: 'found' };
  }

  protected async take(written: Promise<WriteOutcome>): Promise<Assignment> {
    const outcome = await written;
    if (outcome.kind !== 'written') return outcome;
    this.#known.observe(outcome.raw);
    return { kind: 'written', version: textAt(outcome.raw, 'metadata', 'resourceVersion') ?? '' };
  }
}

export function targetOf({ name, uid, version: resourceVersion }: Holder): WriteTarget {
  return { name, uid, resourceVersion };
}
