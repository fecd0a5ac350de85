// The last look before blocks go back to their pool that an agent no longer lists: it may have lost its state, and pods of its
// node still run with addresses of them. Such blocks stay the node's until those pods are gone, or the agent lists them again.
import type { PodReading, PodReads } from '../../kubernetes/watch/shown-pods.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { ProcessPorts } from '../../runtime/process-ports.ts';
import { type Result, WorkQueue } from '../../runtime/work-queue.ts';

/** Who holds the dropped blocks. */
export interface DroppedHoldings {
  /** Whether blocks of the object wait for a look. */
  hasDropped(uid: string): boolean;
  /** A look at the pods of its node begins: it decides about what waits now. */
  beginLook(uid: string): void;
  /** Takes in what the pods of its node show. What none of them uses goes once the object is taken in again. */
  lookedAt(uid: string, reading: PodReading): void;
}

/** An object that dropped blocks. */
interface Watched {
  readonly name: string;
  readonly pause: Backoff;
}

/** Between two looks at one node, in ms. */
const lookAgain = { base: 10_000, cap: 300_000 };

export class DroppedBlocks {
  readonly #ports: ProcessPorts;
  readonly #pods: PodReads;
  readonly #holdings: DroppedHoldings;
  readonly #reassess: (name: string) => void;
  /** Uids. A drop during a look asks for another look. */
  readonly #queue: WorkQueue<string>;
  /** By uid. */
  readonly #watched = new Map<string, Watched>();

  /** `reassess`: called with an object that is to be taken in again. */
  constructor(
    ports: ProcessPorts,
    pods: PodReads,
    holdings: DroppedHoldings,
    reassess: (name: string) => void,
  ) {
    this.#ports = ports;
    this.#pods = pods;
    this.#holdings = holdings;
    this.#reassess = reassess;
    const { clock, onBug } = ports;
    this.#queue = new WorkQueue<string>({
      clock,
      onBug,
      workers: Infinity,
      reconcile: (uid) => this.#look(uid),
      retryAfter: (uid) => this.#watched.get(uid)?.pause.fail() ?? lookAgain.cap,
    });
  }

  /** An agent no longer lists blocks that it had. */
  noteDrop(name: string, uid: string): void {
    if (!this.#watched.has(uid)) this.#watched.set(uid, { name, pause: new Backoff(lookAgain, this.#ports) });
    this.#queue.add(uid);
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#queue.stop(deadline);
  }

  async #look(uid: string): Promise<Result> {
    const holdings = this.#holdings;
    const watched = this.#watched.get(uid);
    if (watched !== undefined && holdings.hasDropped(uid)) {
      holdings.beginLook(uid);
      holdings.lookedAt(uid, await this.#pods.on(watched.name, this.#queue.closing));
      this.#reassess(watched.name);
      if (holdings.hasDropped(uid)) return { requeueAfter: watched.pause.fail() };
    }
    this.#watched.delete(uid);
    return {};
  }
}
