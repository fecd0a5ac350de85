// An abort signal that follows another one and can also be aborted by itself, without leaving a listener behind on a
// signal that lives as long as the process.

/** Made once: `abort` without a reason makes an error with a stack each time, and nobody reads it. */
const over = new Error('it is over');

export class LinkedAbort {
  readonly #parent: AbortSignal;
  readonly #controller = new AbortController();
  readonly #follow = (): void => this.#controller.abort(this.#parent.reason);

  constructor(parent: AbortSignal) {
    this.#parent = parent;
    if (parent.aborted) this.#follow();
    else parent.addEventListener('abort', this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts the signal; the parent does not count any more. May be called twice. */
  abort(reason: Error = over): void {
    this.release();
    this.#controller.abort(reason);
  }

  /** The parent does not count any more. */
  release(): void {
    this.#parent.removeEventListener('abort', this.#follow);
  }
}
