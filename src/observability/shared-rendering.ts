// Renders an expensive text for any number of readers: one rendering at a time, whose text all get who ask meanwhile. It
// rests after each one, so that readers take a fixed share of the process at most, however many they are.
import { type Clock, sleep } from '../runtime/clock.ts';

/** Rest after a rendering, as a multiple of the time it took, and at most, in ms. */
const rest = { factor: 3, max: 1000 };

const never = new AbortController().signal;

export class SharedRendering<T> {
  readonly #clock: Clock;
  readonly #render: () => T | Promise<T>;
  #current: Promise<T> | undefined;
  /** Monotonic ms. */
  #restsUntil = -Infinity;

  constructor(clock: Clock, render: () => T | Promise<T>) {
    this.#clock = clock;
    this.#render = render;
  }

  /** Rejects with what the rendering throws. */
  read(): Promise<T> {
    this.#current ??= this.#renderOnce().finally(() => {
      this.#current = undefined;
    });
    return this.#current;
  }

  async #renderOnce(): Promise<T> {
    const wait = this.#restsUntil - this.#clock.monotonic();
    if (wait > 0) await sleep(this.#clock, wait, never);
    // Requests that have arrived already share this rendering, and probes among them are answered before it.
    await new Promise((resolve) => setImmediate(resolve));
    const startedAt = this.#clock.monotonic();
    try {
      return await this.#render();
    } finally {
      const now = this.#clock.monotonic();
      this.#restsUntil = now + Math.min(rest.max, rest.factor * (now - startedAt));
    }
  }
}
