// What may run at once, in turns with everything else: a timer that is due at once lets nothing else in when there are many
// of them, because Node.js runs all timers that are due before it looks at a socket again.

export interface TurnsOptions {
  readonly monotonic: () => number;
  /**
   * Calls it once, after everybody else has had a turn. What is asked for together comes together, and what one of them
   * leads to by promises comes before the next.
   */
  readonly afterOthers: (action: () => void) => void;
}

/** No turn begins anything more after this time, in ms; what its actions led to by promises counts. */
const longestTurn = 4;
/** Actions of one turn. */
const mostInTurn = 50;

interface Place {
  readonly action: () => void;
}

export class Turns {
  readonly #options: TurnsOptions;
  /** In the order in which they came; those whom somebody waits for go first. */
  readonly #pressing = new Set<Place>();
  readonly #patient = new Set<Place>();
  /** Actions that the turn under way, or the next one, may still begin. */
  #left = 0;
  /** Of the turn under way; undefined in between. */
  #end: number | undefined;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Calls `action` once, after those like it that came before. The returned function cancels it and may be called twice. */
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
