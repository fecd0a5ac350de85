// How long a loop waits before it looks again: a fixed time while all is well, and longer and longer while it is not. Pure but
// for what it remembers. Its rules are those of cloud-provider-gcp (pkg/controller/nodeipam/ipam/timeout.go).

/** In ms. */
export interface TimeoutSettings {
  /** After a success. */
  readonly resync: number;
  /** After the first error in a row. It counts as it is, even above `maxBackoff`. */
  readonly initialRetry: number;
  /** After any number of errors in a row. */
  readonly maxBackoff: number;
}

export class Timeout {
  readonly #settings: TimeoutSettings;
  #errors = 0;
  #current = 0;

  constructor(settings: TimeoutSettings) {
    this.#settings = settings;
  }

  /** Takes in how a look ended. */
  update(isFine: boolean): void {
    const { initialRetry, maxBackoff } = this.#settings;
    if (isFine) {
      this.#errors = 0;
      return;
    }
    this.#current = this.#errors === 0 ? initialRetry : Math.min(2 * this.#current, maxBackoff);
    this.#errors++;
  }

  /** Until the next look, in ms. */
  next(): number {
    return this.#errors === 0 ? this.#settings.resync : this.#current;
  }
}
