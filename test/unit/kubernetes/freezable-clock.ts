// The clock of one process among several. It can be frozen, as the clock of a paused process is, and its wall clock can be
// set. Time goes on while it is frozen; what became due meanwhile runs when the process resumes.
import type { Clock } from '../../../src/runtime/clock.ts';

export class FreezableClock implements Clock {
  readonly #clock: Clock;
  readonly #due: (() => void)[] = [];
  #frozen = false;
  #skew = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  wall(): number {
    return this.#clock.wall() + this.#skew;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  schedule(ms: number, action: () => void): () => void {
    let isCancelled = false;
    const run = (): void => {
      if (!isCancelled) action();
    };
    const cancel = this.#clock.schedule(ms, () => this.whenAwake(run));
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Runs `action` now, or as soon as the process runs again. */
  whenAwake(action: () => void): void {
    if (this.#frozen) this.#due.push(action);
    else action();
  }

  freeze(ms: number): void {
    if (this.#frozen) return;
    this.#frozen = true;
    this.#clock.schedule(ms, () => {
      this.#frozen = false;
      for (const action of this.#due.splice(0)) this.whenAwake(action);
    });
  }

  setWall(ms: number): void {
    this.#skew += ms;
  }
}
