// Tracks consecutive failures of one operation and how long to back off from it.
import type { Clock } from './clock.ts';
import { type BackoffState, type BackoffPolicy, backOff } from './exponential-backoff.ts';
import type { Random } from './random.ts';

export interface BackoffDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: Random;
}

export class Backoff {
  readonly #policy: BackoffPolicy;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: Random;
  #backoff: BackoffState | undefined;

  constructor(policy: BackoffPolicy, { clock, random }: BackoffDeps) {
    this.#policy = policy;
    this.#clock = clock;
    this.#random = random;
  }

  /** Consecutive failures so far. */
  get failures(): number {
    return this.#backoff?.failures ?? 0;
  }

  /** Earliest next attempt, in monotonic ms; 0 without a failure. It may lie in the past. */
  get until(): number {
    return this.#backoff?.until ?? 0;
  }

  get isPausing(): boolean {
    return this.#clock.monotonic() < this.until;
  }

  /** Records a failure whose pause is at most `cap`. Returns the pause from now, in ms. */
  fail(cap = Infinity): number {
    const now = this.#clock.monotonic();
    const policy = { ...this.#policy, cap: Math.min(cap, this.#policy.cap) };
    this.#backoff = backOff(this.#backoff, policy, now, this.#random);
    return this.#backoff.until - now;
  }

  /** Records a success. */
  forget(): void {
    this.#backoff = undefined;
  }
}
