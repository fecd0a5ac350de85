// Runs due callbacks in small slices so that many zero-delay timers cannot starve I/O. Node.js runs all due timers
// before it polls a socket.

export interface TurnsOptions {
  readonly monotonic: () => number;
  /**
   * Calls `action` once, after pending I/O. Actions requested together run together; the promise callbacks of each run
   * before the next action.
   */
  readonly afterOthers: (action: () => void) => void;
}

/** No action starts later than this into a slice, in ms; promise callbacks of its actions count. */
const longestTurn = 4;
/** Maximum actions per slice. */
const mostInTurn = 50;

interface Place {
  readonly action: () => void;
}

export class FairTimers {
  readonly #options: TurnsOptions;
  /** In order of arrival; pressing actions, which somebody waits for, go first. */
  readonly #pressing = new Set<Place>();
  readonly #patient = new Set<Place>();
  /** Actions that the current or next slice may still start. */
  #left = 0;
  /** End of the current slice; undefined between slices. */
  #end: number | undefined;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Calls `action` once, after earlier actions of its kind. The returned function cancels it and is idempotent. */
  take(action: () => void, isPressing: boolean): () => void {
    const place = { action };
    const line = isPressing ? this.#pressing : this.#patient;
    line.add(place);
    if (this.#end === undefined && this.#left < mostInTurn) this.#await(1);
    return () => line.delete(place);
  }

  #await(count: number): void {
    this.#left += count;
    for (let index = 0; index < count; index++) this.#options.afterOthers(() => this.#step());
  }

  #step(): void {
    const now = this.#options.monotonic();
    this.#end ??= now + longestTurn;
    this.#left--;
    try {
      if (now < this.#end) this.#next()?.action();
    } finally {
      if (this.#left === 0) {
        this.#end = undefined;
        this.#await(Math.min(this.#pressing.size + this.#patient.size, mostInTurn));
      }
    }
  }

  #next(): Place | undefined {
    const line = this.#pressing.size > 0 ? this.#pressing : this.#patient;
    const [place] = line;
    if (place !== undefined) line.delete(place);
    return place;
  }
}
