// How long to wait before the next look at a Node: a fixed time while all is well, and longer and longer while it is not. The
// rules are those of cloud-provider-gcp (pkg/controller/nodeipam/ipam/timeout.go).

/** In ms. */
export interface SyncBackoffSettings {
  /** After a success. */
  readonly resync: number;
  /** After the first error in a row. It counts as it is, even above `maxBackoff`. */
  readonly initialRetry: number;
  /** After any number of errors in a row. */
  readonly maxBackoff: number;
}

export class SyncBackoff {
  readonly #settings: SyncBackoffSettings;
  /** Undefined after a success. */
  #last: number | undefined;

  constructor(settings: SyncBackoffSettings) {
    this.#settings = settings;
  }

  /** Until the next look, in ms. */
  afterSuccess(): number {
    this.#last = undefined;
    return this.#settings.resync;
  }

  /** The same, longer after each failure in a row. */
  afterFailure(): number {
    const { initialRetry, maxBackoff } = this.#settings;
    this.#last = this.#last === undefined ? initialRetry : Math.min(2 * this.#last, maxBackoff);
    return this.#last;
  }
}
