// Writes one node's CiliumNode until it holds what it should: one difference at a time, each computed from the newest
// state that is known, so that a conflict costs a read and never a wrong write.
import { FailureStreak } from '../scheduling/failure-streak.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import type {
  CiliumNodeWriter,
  ReadOutcome,
  WriteFailure,
  WriteOutcome,
} from '../kubernetes/cilium-node-writer.ts';
import { isEqual } from '../kubernetes/merge-patch.ts';
import { type JsonObject, textAt } from '../kubernetes/json.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import { type Desired, lackingWrites, nextWrite, type Write } from './publication.ts';

export interface NodePublisherDeps {
  readonly writer: Pick<CiliumNodeWriter, 'patchSpec' | 'patchStatus' | 'get'>;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  readonly clock: Clock;
  readonly random: Random;
  /** The newest state of the object that is known; undefined once it is gone or another node's. */
  readonly node: () => CiliumNode | undefined;
  /** What the object should hold now; undefined as long as that is not known. */
  readonly desired: () => Desired | undefined;
  /** Takes the newest state of the object into what is known; `isOurs`: nothing but our own write made it. */
  readonly observe: (raw: JsonObject, isOurs: boolean) => void;
  readonly onWrite: (part: Write['part'], outcome: WriteOutcome['kind'] | 'unfinished') => void;
  /** Told of a failure that somebody must act on, once for each text. */
  readonly onTrouble: (problem: string) => void;
  /** Told of all that it lacks, instead of writing it, while nothing may be published. */
  readonly onHeld: (writes: readonly Write[]) => void;
  /** Everything is written. */
  readonly onPublished: () => void;
}

/** What the object lacks first. */
interface Next {
  readonly node: CiliumNode;
  readonly desired: Desired;
  readonly write: Write;
}

/** Writes of one run; more than a run can need. */
const mostWrites = 20;
const backoffPolicy = { base: 1000, cap: 30_000 };
/** How long a refusal that only somebody else can mend is left alone, in ms. */
const refusedFor = 30_000;

export class NodePublisher {
  readonly #deps: NodePublisherDeps;
  readonly #streak: FailureStreak;
  #trouble: string | undefined;
  #writtenAt = -Infinity;

  constructor(deps: NodePublisherDeps) {
    this.#deps = deps;
    this.#streak = new FailureStreak(backoffPolicy, deps);
  }

  /** When it last changed the object, or may have, or set out to, in monotonic ms; -Infinity if it has not. */
  get writtenAt(): number {
    return this.#writtenAt;
  }

  /**
   * Works out what the object should hold, which claims its addresses for the node, and says whether it lacks anything of
   * that. Where it does not, everything counts as written, as after a run.
   */
  lacks(): boolean {
    const next = this.#next();
    if (next === 'nothing') this.#finished();
    return typeof next === 'object';
  }

  /** Writes what differs. Resolves to the time in ms after which to try again; undefined when nothing is left to do. */
  async run(signal: AbortSignal): Promise<number | undefined> {
    let previous: Write | undefined;
    for (let writes = 0; writes < mostWrites; writes++) {
      // An answer may come after the node was ended: whatever was claimed then, nobody would ever give back.
      if (signal.aborted) return undefined;
      const next = this.#next();
      if (next === 'nothing') return this.#finished();
      if (next === 'unknown') return undefined;
      const { node, desired, write } = next;
      if (this.#deps.permission.refusal('publish') !== undefined) {
        this.#deps.onHeld(lackingWrites(node, desired));
        return undefined;
      }
      if (isSame(write, previous)) {
        return this.#refused(write, 'the API server accepts the write and does not keep what it holds');
      }
      const result = await this.#write(node, write, signal);
      const again = typeof result === 'object' ? this.#failed(write, result) : undefined;
      if (again !== undefined) return again;
      if (result === 'written') previous = write;
    }
    this.#deps.onWrite('spec', 'unfinished');
    return this.#streak.fail();
  }

  #lacksFirst(write: Write): boolean {
    const next = this.#next();
    return typeof next === 'object' && isSame(next.write, write);
  }

  #next(): Next | 'nothing' | 'unknown' {
    const node = this.#deps.node();
    const desired = this.#deps.desired();
    if (node === undefined || desired === undefined) return 'unknown';
    const write = nextWrite(node, desired);
    return write === undefined ? 'nothing' : { node, desired, write };
  }

  /** An object that turns out to be another than thought is read anew. */
  async #write(
    node: CiliumNode,
    { part, patch }: Write,
    signal: AbortSignal,
  ): Promise<'written' | 'readAnew' | WriteFailure> {
    const { writer, observe, onWrite } = this.#deps;
    const writtenBefore = this.#writtenAt;
    this.#writtenAt = this.#deps.clock.monotonic();
    const outcome = await (part === 'spec'
      ? writer.patchSpec(node, patch, signal)
      : writer.patchStatus(node, patch, signal));
    onWrite(part, outcome.kind);
    const mayBeWritten = outcome.kind === 'unavailable' || isNewer(outcome, node);
    this.#writtenAt = mayBeWritten ? this.#deps.clock.monotonic() : writtenBefore;
    if (outcome.kind === 'written') {
      observe(outcome.raw, true);
      return 'written';
    }
    if (outcome.kind !== 'conflict') return outcome;
    const live: ReadOutcome = await writer.get(node.name, signal);
    if (live.kind !== 'found') return live;
    observe(live.raw, false);
    return 'readAnew';
  }

  /** When to try again, in ms; undefined where another write is lacking by now, which is not refused. */
  #failed(write: Write, failure: WriteFailure): number | undefined {
    switch (failure.kind) {
      case 'gone':
        // Where it is not, it may be that only its kind was, for a moment.
        return refusedFor;
      case 'denied':
      case 'invalid': {
        const again = this.#refused(write, failure.message);
        return this.#lacksFirst(write) ? again : undefined;
      }
      case 'unavailable':
        return Math.max(failure.retryAfterMs ?? 0, this.#streak.fail());
      case 'conflict':
        return this.#streak.fail();
    }
  }

  #refused(write: Write, problem: string): number {
    const text = `cannot write the ${write.part} of the CiliumNode: ${problem}`;
    if (this.#trouble !== text) this.#deps.onTrouble(text);
    this.#trouble = text;
    return refusedFor;
  }

  #finished(): undefined {
    this.#streak.forget();
    this.#trouble = undefined;
    this.#deps.onPublished();
    return undefined;
  }
}

/** What changes nothing is accepted, too. */
function isNewer(outcome: WriteOutcome, { resourceVersion }: CiliumNode): boolean {
  return outcome.kind === 'written' && textAt(outcome.raw, 'metadata', 'resourceVersion') !== resourceVersion;
}

function isSame(write: Write, previous: Write | undefined): boolean {
  return write.part === previous?.part && isEqual(write.patch, previous.patch);
}
