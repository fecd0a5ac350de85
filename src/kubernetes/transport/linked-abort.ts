// An abort signal that follows a parent and can also abort alone. It leaves no listener on a parent that lives as long
// as the process.

/** Created once: `abort` without a reason builds an error with a stack each time, which nothing reads. */
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

  /** Aborts the signal and detaches it from the parent. Idempotent. */
  abort(reason: Error = over): void {
    this.release();
    this.#controller.abort(reason);
  }

  /** Detaches the signal from the parent. */
  release(): void {
    this.#parent.removeEventListener('abort', this.#follow);
  }
}
