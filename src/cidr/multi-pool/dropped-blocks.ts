// The last look before blocks go back to their pool that an agent no longer lists: it may have lost its state, and pods of its
// node still run with addresses of them. Such blocks stay the node's until those pods are gone, or the agent lists them again.
import type { PodReading, PodReads } from '../../kubernetes/watch/shown-pods.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { TaskGroup } from '../../runtime/task-group.ts';

/** Who holds the dropped blocks. */
export interface DroppedHoldings {
  /** Whether blocks of the object wait for a look. */
  hasDropped(uid: string): boolean;
  /** Takes in what the pods of its node show. What none of them uses goes once the object is taken in again. */
  lookedAt(uid: string, reading: PodReading): void;
}

export interface DroppedBlocksDeps {
  readonly pods: PodReads;
  readonly holdings: DroppedHoldings;
  /** The object is to be taken in again. */
  readonly reassess: (name: string) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly onBug: (error: unknown) => void;
}

/** Between two looks at one node, in ms. */
const lookAgain = { base: 10_000, cap: 300_000 };

export class DroppedBlocks {
  readonly #deps: DroppedBlocksDeps;
  readonly #tasks: TaskGroup;
  readonly #pauses = new Map<string, Backoff>();

  constructor(deps: DroppedBlocksDeps) {
    this.#deps = deps;
    this.#tasks = new TaskGroup(deps);
  }

  /** An agent no longer lists blocks that it had. */
  noteDrop(name: string, uid: string): void {
    if (!this.#tasks.isAbout(uid)) this.#tasks.beginTask(() => this.#look(name, uid), uid);
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.#tasks.stop(deadline);
  }

  async #look(name: string, uid: string): Promise<void> {
    const { pods, holdings, reassess, clock } = this.#deps;
    const { closing: signal } = this.#tasks;
    holdings.lookedAt(uid, await pods.on(name, signal));
    reassess(name);
    if (!holdings.hasDropped(uid)) {
      this.#pauses.delete(uid);
      return;
    }
    const pause = this.#pauses.get(uid) ?? new Backoff(lookAgain, { clock, random: this.#deps.random });
    this.#pauses.set(uid, pause);
    this.#tasks.later(pause.fail(), () => this.#lookLater(name, uid));
  }

  #lookLater(name: string, uid: string): void {
    if (this.#deps.holdings.hasDropped(uid)) this.noteDrop(name, uid);
    else this.#pauses.delete(uid);
  }
}
