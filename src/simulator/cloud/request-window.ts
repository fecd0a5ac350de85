// A limit of so many requests in each window of fixed length, such as five minutes.
import type { Clock } from '../../runtime/clock.ts';

export interface WindowSize {
  readonly max: number;
  readonly ms: number;
}

export class RequestWindow {
  readonly #clock: Clock;
  readonly #size: WindowSize;
  #start: number;
  #used = 0;

  constructor(clock: Clock, size: WindowSize) {
    this.#clock = clock;
    this.#size = size;
    this.#start = clock.monotonic();
  }

  /** How many requests this window still takes. */
  get level(): number {
    const passed = Math.floor((this.#clock.monotonic() - this.#start) / this.#size.ms);
    if (passed > 0) {
      this.#start += passed * this.#size.ms;
      this.#used = 0;
    }
    return this.#size.max - this.#used;
  }

  /** Takes this many requests, or none and returns false. */
  take(count: number): boolean {
    if (this.level < count) return false;
    this.#used += count;
    return true;
  }

  /** Takes up to this many, as another caller would. */
  drain(count: number): void {
    this.#used += Math.min(count, this.level);
  }

  /** Time until it takes so many, in ms. */
  wait(count: number): number {
    return this.level >= count ? 0 : this.#start + this.#size.ms - this.#clock.monotonic();
  }
}
