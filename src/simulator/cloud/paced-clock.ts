// A clock whose pace can change while actions wait on it: it speeds a running cloud up or slows it down.
import type { Clock } from '../../runtime/clock.ts';

interface Waiting {
  readonly due: number;
  readonly action: () => void;
  cancel: () => void;
}

export class PacedClock implements Clock {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  #pace = 1;
  #monotonicStart: number;
  #wallStart: number;
  /** Time of the inner clock at the last change of pace. */
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
    this.#monotonicStart = this.#since;
    this.#wallStart = clock.wall();
  }

  /** Seconds that pass here per second of the inner clock. */
  get pace(): number {
    return this.#pace;
  }

  /** Changes the pace for everything, including waiting actions. `pace` must be positive. */
  setPace(pace: number): void {
    if (!(pace > 0)) throw new RangeError(`a clock cannot run at ${pace}`);
    this.#monotonicStart = this.monotonic();
    this.#wallStart = this.wall();
    this.#since = this.#clock.monotonic();
    this.#pace = pace;
    for (const waiting of this.#waiting) {
      waiting.cancel();
      this.#arm(waiting);
    }
  }

  wall(): number {
    return this.#wallStart + this.#elapsed() * this.#pace;
  }

  monotonic(): number {
    return this.#monotonicStart + this.#elapsed() * this.#pace;
  }

  schedule(ms: number, action: () => void): () => void {
    const waiting: Waiting = { due: this.monotonic() + ms, action, cancel: () => undefined };
    this.#waiting.add(waiting);
    this.#arm(waiting);
    return () => {
      waiting.cancel();
      this.#waiting.delete(waiting);
    };
  }

  /** Cancels all waiting actions. Later ones still run. */
  stop(): void {
    for (const waiting of this.#waiting) waiting.cancel();
    this.#waiting.clear();
  }

  #elapsed(): number {
    return this.#clock.monotonic() - this.#since;
  }

  #arm(waiting: Waiting): void {
    const wait = Math.max(0, waiting.due - this.monotonic()) / this.#pace;
    waiting.cancel = this.#clock.schedule(wait, () => {
      this.#waiting.delete(waiting);
      waiting.action();
    });
  }
}
