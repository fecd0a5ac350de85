// What may run at once, in turns with everything else: a timer that is due at once lets nothing else in when there are many
// of them, because Node.js runs all timers that are due before it looks at a socket again.

export interface TurnsOptions {
  readonly monotonic: () => number;
  /** Calls it once, after everybody else has had a turn. */
  readonly afterOthers: (action: () => void) => void;
}

/** No turn begins anything more after this time, in ms. */
const longestTurn = 10;

interface Place {
  readonly action: () => void;
}

export class Turns {
  readonly #options: TurnsOptions;
  /** In the order in which they came; those whom somebody waits for go first. */
  readonly #pressing = new Set<Place>();
  readonly #patient = new Set<Place>();
  #isAwaited = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Calls `action` once, after those like it that came before. The returned function cancels it and may be called twice. */
  take(action: () => void, isPressing: boolean): () => void {
    const place = { action };
    const line = isPressing ? this.#pressing : this.#patient;
    line.add(place);
    this.#await();
    return () => line.delete(place);
  }

  #await(): void {
    if (this.#isAwaited || this.#pressing.size + this.#patient.size === 0) return;
    this.#isAwaited = true;
    this.#options.afterOthers(() => {
      this.#isAwaited = false;
      try {
        this.#turn();
      } finally {
        this.#await();
      }
    });
  }

  #turn(): void {
    const { monotonic } = this.#options;
    const end = monotonic() + longestTurn;
    do {
      const line = this.#pressing.size > 0 ? this.#pressing : this.#patient;
      const [place] = line;
      if (place === undefined) return;
      line.delete(place);
      place.action();
    } while (monotonic() < end);
  }
}
