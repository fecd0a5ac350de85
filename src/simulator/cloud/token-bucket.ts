// A token bucket: full at first, refilled all the time, empty when too much was asked of it.
import type { Clock } from '../../scheduling/clock.ts';

export interface BucketSize {
  readonly capacity: number;
  readonly refillPerSecond: number;
}

export class TokenBucket {
  readonly #clock: Clock;
  readonly #size: BucketSize;
  #tokens: number;
  #countedAt: number;

  constructor(clock: Clock, size: BucketSize) {
    this.#clock = clock;
    this.#size = size;
    this.#tokens = size.capacity;
    this.#countedAt = clock.monotonic();
  }

  /** Tokens there are now. */
  get level(): number {
    const now = this.#clock.monotonic();
    const refill = ((now - this.#countedAt) / 1000) * this.#size.refillPerSecond;
    this.#tokens = Math.min(this.#size.capacity, this.#tokens + refill);
    this.#countedAt = now;
    return this.#tokens;
  }

  /** Takes so many tokens, or none and says no. */
  take(count: number): boolean {
    if (this.level < count) return false;
    this.#tokens -= count;
    return true;
  }

  /** Takes as many of the tokens as there are, as somebody else would. */
  drain(count: number): void {
    this.#tokens = Math.max(0, this.level - count);
  }
}
