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

  /** The rest of the pause, in ms. */
  get remaining(): number {
    return Math.max(0, this.until - this.#clock.monotonic());
  }

  /** Records a failure whose pause is at most `cap`. Returns the pause from now, in ms. */
  fail(cap = Infinity): number {
    const now = this.#clock.monotonic();
    const policy = { ...this.#policy, cap: Math.min(cap, this.#policy.cap) };
    this.#backoff = backOff(this.#backoff, policy, now, this.#random);
    return this.#backoff.until - now;
  }

  /** Pauses for `ms` from now, whatever the last failure said. */
  pauseFor(ms: number): void {
    this.#backoff = { failures: this.failures, until: this.#clock.monotonic() + ms };
  }

  /** Records a success. */
  forget(): void {
    this.#backoff = undefined;
  }
}
