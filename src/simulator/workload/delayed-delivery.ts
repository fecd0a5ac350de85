// Delivers items in order, each with a delay, so that a watcher's view is stale.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';

export class DelayedDelivery {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #max: number;
  readonly #signal: AbortSignal;
  readonly #held: (() => void)[] = [];
  #latest = 0;

  /** Each delivery takes up to `max` ms; none happens once `signal` aborts. */
  constructor(clock: Clock, random: Random, max: number, signal: AbortSignal) {
    this.#clock = clock;
    this.#random = random;
    this.#max = max;
    this.#signal = signal;
  }

  /** Calls `action` after earlier deliveries; at once without a delay. */
  deliver(action: () => void): void {
    if (this.#max === 0) {
      if (!this.#signal.aborted) action();
      return;
    }
    const now = this.#clock.monotonic();
    this.#latest = Math.max(this.#latest, now + this.#random.next() * this.#max);
    this.#held.push(action);
    // Real timers due at the same time fire in any order, so each delivers the item that waited longest.
    this.#clock.schedule(this.#latest - now, () => {
      const next = this.#held.shift();
      if (!this.#signal.aborted) next?.();
    });
  }
}
