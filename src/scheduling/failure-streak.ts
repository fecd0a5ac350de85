// Failures of one thing in a row, and how long it is left alone because of them.
import type { Clock } from './clock.ts';
import { type Backoff, type BackoffPolicy, backOff } from './exponential-backoff.ts';
import type { Random } from './random.ts';

export interface FailureStreakDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: Random;
}

export class FailureStreak {
  readonly #policy: BackoffPolicy;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: Random;
  #backoff: Backoff | undefined;

  constructor(policy: BackoffPolicy, { clock, random }: FailureStreakDeps) {
    this.#policy = policy;
    this.#clock = clock;
    this.#random = random;
  }

  /** In a row, up to now. */
  get failures(): number {
    return this.#backoff?.failures ?? 0;
  }

  /** Not to be tried before, in monotonic ms; 0 without a failure. It may be over. */
  get until(): number {
    return this.#backoff?.until ?? 0;
  }

  get isPausing(): boolean {
    return this.#clock.monotonic() < this.until;
  }

  /** It failed once more. Returns how long to leave it alone from now, in ms. */
  fail(): number {
    const now = this.#clock.monotonic();
    this.#backoff = backOff(this.#backoff, this.#policy, now, this.#random);
    return this.#backoff.until - now;
  }

  /** It succeeded. */
  forget(): void {
    this.#backoff = undefined;
  }
}
