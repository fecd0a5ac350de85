// Runs due callbacks in small slices so that many zero-delay timers cannot starve I/O. Node.js runs all due timers
// before it polls a socket.

/** No action starts later than this into a slice, in ms; promise callbacks of its actions count. */
const maxSlice = 4;
/** Maximum actions per slice. */
const maxActionsInSlice = 50;

interface Place {
  readonly action: () => void;
}

export class FairTimers {
  readonly #monotonic: () => number;
  readonly #afterOthers: (action: () => void) => void;
  /** In order of arrival; pressing actions, whose callers wait, go first. */
  readonly #pressing = new Set<Place>();
  readonly #lowPriority = new Set<Place>();
  /** Actions that the current or next slice may still start. */
  #left = 0;
  /** End of the current slice; undefined between slices. */
  #end: number | undefined;

  /**
   * `afterOthers`: calls `action` once, after pending I/O. Actions requested together run together; the promise callbacks of
   * each run before the next action.
   */
  constructor(monotonic: () => number, afterOthers: (action: () => void) => void) {
    this.#monotonic = monotonic;
    this.#afterOthers = afterOthers;
  }

  /** Calls `action` once, after earlier actions of its kind. The returned function cancels it and is idempotent. */
  take(action: () => void, isPressing: boolean): () => void {
    const place = { action };
    const queue = isPressing ? this.#pressing : this.#lowPriority;
    queue.add(place);
    if (this.#end === undefined && this.#left < maxActionsInSlice) this.#awaitTurns(1);
    return () => queue.delete(place);
  }

  #awaitTurns(count: number): void {
    this.#left += count;
    for (let index = 0; index < count; index++) this.#afterOthers(() => this.#step());
  }

  #step(): void {
    const now = this.#monotonic();
    this.#end ??= now + maxSlice;
    this.#left--;
    try {
      if (now < this.#end) this.#next()?.action();
    } finally {
      if (this.#left === 0) {
        this.#end = undefined;
        this.#awaitTurns(Math.min(this.#pressing.size + this.#lowPriority.size, maxActionsInSlice));
      }
    }
  }

  #next(): Place | undefined {
    const queue = this.#pressing.size > 0 ? this.#pressing : this.#lowPriority;
    const [place] = queue;
    if (place !== undefined) queue.delete(place);
    return place;
  }
}
