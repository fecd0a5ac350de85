// A token bucket: starts full, refills continuously, and is empty after too many calls.
import type { Clock } from '../../runtime/clock.ts';

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

  /** The current number of tokens. */
  get level(): number {
    const now = this.#clock.monotonic();
    const refill = ((now - this.#countedAt) / 1000) * this.#size.refillPerSecond;
    this.#tokens = Math.min(this.#size.capacity, this.#tokens + refill);
    this.#countedAt = now;
    return this.#tokens;
  }

  /** Takes this many tokens, or none and returns false. */
  take(count: number): boolean {
    if (this.level < count) return false;
    this.#tokens -= count;
    return true;
  }

  /** Time until it has so many tokens, in ms. */
  wait(count: number): number {
    return (Math.max(0, count - this.level) / this.#size.refillPerSecond) * 1000;
  }

  /** Takes up to this many tokens, as another caller would. */
  drain(count: number): void {
    this.#tokens = Math.max(0, this.level - count);
  }
}
