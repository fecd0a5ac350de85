// Writes one CiliumNode until it holds the desired content. Each write is one difference, computed from the
// newest known state, so a conflict costs a read and never a wrong write.
import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type {
  CiliumNodeWriter,
  ReadOutcome,
  WriteFailure,
  WriteOutcome,
} from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { isEqual } from '../../kubernetes/transport/merge-patch.ts';
import { type JsonObject, textAt } from '../../kubernetes/transport/json.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import { type Desired, missingWrites, nextWrite, type Write } from './next-write.ts';

export interface PublishedObject {
  /** The newest known state of the object. */
  readonly node: CiliumNode;
  /** When the publisher last wrote it, may have written it, or started to, in monotonic ms; -Infinity if never. */
  writtenAt: number;
}

export interface NodePublisherDeps {
  readonly writer: Pick<CiliumNodeWriter, 'patchSpec' | 'patchStatus' | 'get'>;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly object: PublishedObject;
  /** The desired content; undefined while unknown. */
  readonly desired: () => Desired | undefined;
  /** Applies a newer state of the object. */
  readonly observe: (raw: JsonObject) => void;
  readonly onWrite: (part: Write['part'], outcome: WriteOutcome['kind'] | 'unfinished') => void;
  /** Called for a failure that needs action, once per text. */
  readonly onTrouble: (problem: string) => void;
  /** Called with all missing writes while publishing is not permitted. */
  readonly onHeld: (writes: readonly Write[]) => void;
  /** Called when everything is written. */
  readonly onPublished: () => void;
}

/** The next missing write and what it was computed from. */
interface Next {
  readonly node: CiliumNode;
  readonly desired: Desired;
  readonly write: Write;
}

/** Upper bound on the writes of one run; more than a run can need. */
const mostWrites = 20;
const backoffPolicy = { base: 1000, cap: 30_000 };
/** Pause after a refusal that only a user or administrator can fix, in ms. */
const refusedFor = 30_000;

export class NodePublisher {
  readonly #deps: NodePublisherDeps;
  readonly #backoff: Backoff;
  #trouble: string | undefined;
  #isStuck = false;
  #isBehind = false;

  constructor(deps: NodePublisherDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(backoffPolicy, deps);
  }

  /** What the API server refuses to accept, while that write is still missing. */
  get refusal(): string | undefined {
    return this.#trouble;
  }

  /** Whether a missing write was attempted and failed. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Whether the API server gave no usable answer to the last write, or to the read after a conflict. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /**
   * Computes the desired content, which claims its addresses for the node, and returns whether any write is
   * missing. If none is, everything counts as published, as after a run.
   */
  lacks(): boolean {
    const next = this.#next();
    if (next === 'nothing') this.#finished();
    return typeof next === 'object';
  }

  /** Writes the differences. Resolves to the delay in ms before the next attempt; undefined when nothing is left. */
  async run(signal: AbortSignal): Promise<number | undefined> {
    let previous: Write | undefined;
    for (let writes = 0; writes < mostWrites; writes++) {
      // The node may have stopped during the write. Nothing would release addresses claimed after that.
      if (signal.aborted) return undefined;
      const next = this.#next();
      if (next === 'nothing') return this.#finished();
      if (next === 'unknown') return undefined;
      const { node, desired, write } = next;
      if (this.#deps.permission.refusal('publish') !== undefined) {
        this.#deps.onHeld(missingWrites(node, desired));
        return undefined;
      }
      if (isSame(write, previous)) {
        const problem = 'the API server accepts the write and does not keep what it holds';
        return this.#refused(unwritten(write, problem));
      }
      const result = await this.#write(node, write, signal);
      const again = typeof result === 'object' ? this.#failed(write, result) : undefined;
      if (again !== undefined) return again;
      if (result === 'written') previous = write;
    }
    this.#deps.onWrite('spec', 'unfinished');
    return this.#backoff.fail();
  }

  #lacksFirst(write: Write): boolean {
    const next = this.#next();
    return typeof next === 'object' && isSame(next.write, write);
  }

  #next(): Next | 'nothing' | 'unknown' {
    const { node } = this.#deps.object;
    const desired = this.#deps.desired();
    if (desired === undefined) return 'unknown';
    const write = nextWrite(node, desired);
    return write === undefined ? 'nothing' : { node, desired, write };
  }

  /** If the object is not the expected one, reads it again. */
  async #write(
    node: CiliumNode,
    { part, patch }: Write,
    signal: AbortSignal,
  ): Promise<'written' | 'reread' | WriteFailure> {
    const { writer, observe, onWrite, object } = this.#deps;
    const writtenBefore = object.writtenAt;
    object.writtenAt = this.#deps.clock.monotonic();
    const outcome = await (part === 'spec'
      ? writer.patchSpec(node, patch, signal)
      : writer.patchStatus(node, patch, signal));
    onWrite(part, outcome.kind);
    this.#isStuck = outcome.kind === 'unavailable';
    const mayBeWritten = outcome.kind === 'unavailable' || isNewer(outcome, node);
    object.writtenAt = mayBeWritten ? this.#deps.clock.monotonic() : writtenBefore;
    if (outcome.kind === 'written') {
      observe(outcome.raw);
      return 'written';
    }
    if (outcome.kind !== 'conflict') return outcome;
    const live: ReadOutcome = await writer.get(node.name, signal);
    this.#isStuck = live.kind === 'unavailable';
    if (live.kind !== 'found') return live;
    observe(live.raw);
    return 'reread';
  }

  /** Delay before the next attempt, in ms; undefined if a different write, which was not refused, is missing by now. */
  #failed(write: Write, failure: WriteFailure): number | undefined {
    this.#isBehind = failure.kind !== 'conflict';
    switch (failure.kind) {
      case 'gone':
        // The object may still exist: the API server may have lost only its CRD for a moment.
        return refusedFor;
      case 'denied':
      case 'invalid': {
        const { kind, message } = failure;
        const again = this.#refused(kind === 'denied' ? message : unwritten(write, message));
        return this.#lacksFirst(write) ? again : undefined;
      }
      case 'unavailable':
        return Math.max(failure.retryAfterMs ?? 0, this.#backoff.fail());
      case 'conflict':
        return this.#backoff.fail();
    }
  }

  #refused(text: string): number {
    const isNews = this.#trouble !== text;
    this.#isBehind = true;
    this.#trouble = text;
    if (isNews) this.#deps.onTrouble(text);
    return refusedFor;
  }

  #finished(): undefined {
    this.#backoff.forget();
    this.#trouble = undefined;
    this.#isBehind = false;
    this.#deps.onPublished();
    return undefined;
  }
}

function unwritten({ part }: Write, problem: string): string {
  return `cannot write the ${part} of the CiliumNode: ${problem}`;
}

/** A write that changes nothing also succeeds. */
function isNewer(outcome: WriteOutcome, { resourceVersion }: CiliumNode): boolean {
  return outcome.kind === 'written' && textAt(outcome.raw, 'metadata', 'resourceVersion') !== resourceVersion;
}

function isSame(write: Write, previous: Write | undefined): boolean {
  return write.part === previous?.part && isEqual(write.patch, previous.patch);
}
