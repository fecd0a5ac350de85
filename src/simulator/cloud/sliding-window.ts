// A limit of so many requests in any span of a fixed length: stricter than windows that begin at fixed times.
import type { Clock } from '../../runtime/clock.ts';
import type { WindowSize } from './request-window.ts';

export class SlidingWindow {
  readonly #clock: Clock;
  readonly #size: WindowSize;
  /** When each request of the last span came, oldest first. */
  #taken: number[] = [];

  constructor(clock: Clock, size: WindowSize) {
    this.#clock = clock;
    this.#size = size;
  }

  /** How many requests fit now. */
  get level(): number {
    const horizon = this.#clock.monotonic() - this.#size.ms;
    const first = this.#taken.findIndex((time) => time > horizon);
    this.#taken = first === -1 ? [] : first === 0 ? this.#taken : this.#taken.slice(first);
    return Math.max(0, this.#size.max - this.#taken.length);
  }

  /** Takes this many requests, or none and returns false. */
  take(count: number): boolean {
    if (this.level < count) return false;
    this.#add(count);
    return true;
  }

  /** Takes up to this many, as another caller would. */
  drain(count: number): void {
    this.#add(Math.min(count, this.level));
  }

  #add(count: number): void {
    const now = this.#clock.monotonic();
    for (let taken = 0; taken < count; taken++) this.#taken.push(now);
  }
}
