// What may run at once, in turns with everything else: a timer that is due at once lets nothing else in when there are many
// of them, because Node.js runs all timers that are due before it looks at a socket again.

export interface TurnsOptions {
  readonly monotonic: () => number;
  /** Calls it once, after everybody else has had a turn. */
  readonly afterOthers: (action: () => void) => void;
}

/** No turn begins anything more after this time, in ms. */
const longestTurn = 10;

export class Turns {
  readonly #options: TurnsOptions;
  /** In the order in which they came. */
  readonly #waiting = new Set<{ readonly action: () => void }>();
  #isAwaited = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Calls `action` once, after those that came before. The returned function cancels it and may be called twice. */
  take(action: () => void): () => void {
    const place = { action };
    this.#waiting.add(place);
    this.#await();
    return () => this.#waiting.delete(place);
  }

  #await(): void {
    if (this.#isAwaited || this.#waiting.size === 0) return;
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
    for (const place of this.#waiting) {
      this.#waiting.delete(place);
      place.action();
      if (monotonic() >= end) return;
    }
  }
}
