// Hands things on in order, each after a little while: what makes the view of a watcher older than the truth.
import type { Clock } from '../../scheduling/clock.ts';
import type { Random } from '../../scheduling/random.ts';

export class DelayedDelivery {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #longest: number;
  readonly #signal: AbortSignal;
  readonly #held: (() => void)[] = [];
  #latest = 0;

  /** Each delivery takes up to `longest` ms; none takes place once `signal` is aborted. */
  constructor(clock: Clock, random: Random, longest: number, signal: AbortSignal) {
    this.#clock = clock;
    this.#random = random;
    this.#longest = longest;
    this.#signal = signal;
  }

  /** Calls `action` after what was handed over before; at once if nothing is to be delayed. */
  deliver(action: () => void): void {
    if (this.#longest === 0) {
      if (!this.#signal.aborted) action();
      return;
    }
    const now = this.#clock.monotonic();
    this.#latest = Math.max(this.#latest, now + this.#random.next() * this.#longest);
    this.#held.push(action);
    // Timers of a real clock that are due together fire in any order: each hands on whatever has waited longest.
    this.#clock.schedule(this.#latest - now, () => {
      const next = this.#held.shift();
      if (!this.#signal.aborted) next?.();
    });
  }
}
