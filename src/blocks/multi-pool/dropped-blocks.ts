// The last look before blocks go back to their pool that an agent no longer lists: it may have lost its state, and pods of its
// node still run with addresses of them. Such blocks stay the node's until those pods are gone, or the agent lists them again.
import type { PodReading, PodReads } from '../../kubernetes/watch/shown-pods.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { TaskGroup } from '../../runtime/task-group.ts';
import type { AllocatorPorts } from '../allocation/block-allocator.ts';

/** Who holds the dropped blocks. */
export interface DroppedHoldings {
  /** Whether blocks of the object wait for a look. */
  hasDropped(uid: string): boolean;
  /** A look at the pods of its node begins: it decides about what waits now. */
  beginLook(uid: string): void;
  /** Takes in what the pods of its node show. What none of them uses goes once the object is taken in again. */
  lookedAt(uid: string, reading: PodReading): void;
}

export interface DroppedBlocksDeps extends Pick<AllocatorPorts, 'clock' | 'onBug' | 'random'> {
  readonly pods: PodReads;
  readonly holdings: DroppedHoldings;
  /** The object is to be taken in again. */
  readonly reassess: (name: string) => void;
}

/** How one object is looked after that dropped blocks. */
interface Watched {
  readonly pause: Backoff;
  isLooking: boolean;
  /** It dropped more since the look began. */
  hasDroppedMore: boolean;
  /** Cancels the next look. */
  cancelNext: () => void;
}

/** Between two looks at one node, in ms. */
const lookAgain = { base: 10_000, cap: 300_000 };

export class DroppedBlocks {
  readonly #deps: DroppedBlocksDeps;
  readonly #tasks: TaskGroup;
  /** By uid. */
  readonly #watched = new Map<string, Watched>();

  constructor(deps: DroppedBlocksDeps) {
    this.#deps = deps;
    this.#tasks = new TaskGroup(deps);
  }

  /** An agent no longer lists blocks that it had. */
  noteDrop(name: string, uid: string): void {
    const watched = this.#watched.get(uid) ?? this.#newlyWatched();
    this.#watched.set(uid, watched);
    watched.cancelNext();
    if (watched.isLooking) watched.hasDroppedMore = true;
    else this.#tasks.beginTask(() => this.#look(name, uid, watched));
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.#tasks.stop(deadline);
  }

  #newlyWatched(): Watched {
    const pause = new Backoff(lookAgain, this.#deps);
    return { pause, isLooking: false, hasDroppedMore: false, cancelNext: () => undefined };
  }

  async #look(name: string, uid: string, watched: Watched): Promise<void> {
    watched.isLooking = true;
    try {
      await this.#readPods(name, uid);
      while (watched.hasDroppedMore) {
        watched.hasDroppedMore = false;
        await this.#readPods(name, uid);
      }
    } finally {
      watched.isLooking = false;
    }
    if (this.#deps.holdings.hasDropped(uid))
      watched.cancelNext = this.#tasks.later(watched.pause.fail(), () => this.#lookLater(name, uid));
    else this.#watched.delete(uid);
  }

  async #readPods(name: string, uid: string): Promise<void> {
    const { pods, holdings, reassess } = this.#deps;
    const { closing: signal } = this.#tasks;
    holdings.beginLook(uid);
    holdings.lookedAt(uid, await pods.on(name, signal));
    reassess(name);
  }

  #lookLater(name: string, uid: string): void {
    if (this.#deps.holdings.hasDropped(uid)) this.noteDrop(name, uid);
    else this.#watched.delete(uid);
  }
}
