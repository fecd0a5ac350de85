// Exponential backoff: each consecutive failure of an operation doubles the wait before its next attempt.
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export interface BackoffPolicy {
  /** The wait after the first failure, in ms. */
  readonly base: number;
  /** Maximum wait, in ms. */
  readonly cap: number;
}

export interface BackoffState {
  /** Consecutive failures. */
  readonly failures: number;
  /** Earliest next attempt, in monotonic ms. */
  readonly until: number;
}

/**
 * The wait after that many consecutive failures, in ms. It is random in the upper half of its range, so that operations
 * that fail together do not retry together. Without `random`, it has its full length.
 */
export function randomWait(
  { base, cap }: BackoffPolicy,
  failures: number,
  random: Random | undefined,
): number {
  const wait = Math.min(cap, base * 2 ** Math.min(failures - 1, 30));
  return random === undefined ? wait : wait * (0.5 + random.next() / 2);
}

/** Upper bound for what a server may ask for, in ms. */
const maxAsked = 300_000;

/**
 * The wait before the next attempt, in ms. A server that asks for a wait (`asked`) knows when it has room, so its word
 * replaces our own backoff, shorter or longer. It tells many the same, so up to a quarter of it is added. 0 says nothing.
 */
export function waitBeforeRetry(backoff: number, asked: number | undefined, random: Random): number {
  if (asked === undefined || asked <= 0) return backoff;
  return Math.min(asked, maxAsked) * (1 + random.next() / 4);
}

/** The state after one more failure at `now`. */
export function backOff(
  previous: BackoffState | undefined,
  policy: BackoffPolicy,
  now: number,
  random: Random | undefined,
): BackoffState {
  const failures = (previous?.failures ?? 0) + 1;
  return { failures, until: now + randomWait(policy, failures, random) };
}

export interface BackoffDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The source of jitter. Without it, every pause has its full length. */
  readonly random?: Random;
}

/** The backoff of one operation. */
export class Backoff {
  readonly #policy: BackoffPolicy;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: Random | undefined;
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

  /** The rest of the pause, in ms. */
  get remaining(): number {
    return Math.max(0, this.until - this.#clock.monotonic());
  }

  get isPausing(): boolean {
    return this.until > this.#clock.monotonic();
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
    this.pauseUntil(this.#clock.monotonic() + ms);
  }

  /** The same, until that time in monotonic ms. */
  pauseUntil(until: number): void {
    this.#backoff = { failures: this.failures, until };
  }

  /** Records a success. */
  forget(): void {
    this.#backoff = undefined;
  }
}
