// Schedules the reads that show awaited interfaces: attached, and not shown attached yet. One schedule serves all
// instances: a burst of attachments costs one read a second at most, and not a read for each interface.
import type { Clock } from '../../runtime/clock.ts';

export interface AwaitedRefreshOptions {
  readonly clock: Clock;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
  /** Most instances that one read asks about. */
  readonly max: number;
  /** Refreshes the instance, in one call with others. */
  readonly refresh: (instanceId: string) => void;
  /** Whether an interface of the instance is still awaited. */
  readonly isAwaited: (instanceId: string) => boolean;
}

/** Least time between two reads, in ms. */
const minPause = 1000;
/** So many reads pass while an attachment usually takes effect and becomes visible. Only then do pauses grow. */
const usualReads = 3;

/** Time until the next read, in ms. `fruitless`: how many reads in a row showed nothing new. */
export function pauseAfter(fruitless: number, consistencyWindow: number): number {
  return Math.max(
    minPause,
    Math.min(consistencyWindow, minPause * 2 ** Math.min(Math.max(0, fruitless - usualReads), 20)),
  );
}

export class AwaitedRefresh {
  readonly #options: AwaitedRefreshOptions;
  /** By instance, when its newest interface was attached, in monotonic ms. The instance that was read last comes last. */
  readonly #awaited = new Map<string, number>();
  #lastAt = -Infinity;
  #fruitless = 0;
  /** Something was attached since the last read, or that read showed something. */
  #isNews = false;
  #isStopped = false;
  /** When the scheduled read is due, in monotonic ms; Infinity without one. */
  #due = Infinity;
  #cancel: (() => void) | undefined;

  constructor(options: AwaitedRefreshOptions) {
    this.#options = options;
  }

  /** Refreshes the instance until nothing of it is awaited. `since`: when its newest interface was attached. */
  add(instanceId: string, since: number): void {
    if ((this.#awaited.get(instanceId) ?? -Infinity) >= since) return;
    this.#awaited.set(instanceId, since);
    this.#isNews = true;
    this.#fruitless = 0;
    this.#arm();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #arm(): void {
    if (this.#isStopped || this.#awaited.size === 0) return;
    const { clock, consistencyWindow } = this.#options;
    const due = this.#lastAt + pauseAfter(this.#fruitless, consistencyWindow);
    // Frequent attachments must not postpone a read that is due.
    if (due >= this.#due) return;
    this.#due = due;
    this.#cancel?.();
    this.#cancel = clock.schedule(Math.max(0, due - clock.monotonic()), () => this.#refresh());
  }

  #refresh(): void {
    const { clock, max, refresh, isAwaited } = this.#options;
    this.#due = Infinity;
    for (const id of this.#awaited.keys()) {
      if (isAwaited(id)) continue;
      this.#awaited.delete(id);
      this.#isNews = true;
    }
    this.#fruitless = this.#isNews ? 0 : this.#fruitless + 1;
    this.#isNews = false;
    const next = [...this.#awaited].slice(0, max);
    if (next.length > 0) this.#lastAt = clock.monotonic();
    for (const [id, since] of next) {
      this.#awaited.delete(id);
      this.#awaited.set(id, since);
      refresh(id);
    }
    this.#arm();
  }
}
