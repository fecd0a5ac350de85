// Computes exponential backoff: each consecutive failure doubles the wait. Pure.
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

/** The wait after that many consecutive failures, in ms. */
export function exponentialWait({ base, cap }: BackoffPolicy, failures: number): number {
  return Math.min(cap, base * 2 ** Math.min(failures - 1, 30));
}

/**
 * The state after one more failure at `now`. The wait is random in the upper half of its range, so that operations that
 * fail together do not retry together; without `random` it has its full length.
 */
export function backOff(
  previous: BackoffState | undefined,
  policy: BackoffPolicy,
  now: number,
  random: Random | undefined,
): BackoffState {
  const failures = (previous?.failures ?? 0) + 1;
  const wait = exponentialWait(policy, failures);
  const share = random === undefined ? 1 : 0.5 + random.next() / 2;
  return { failures, until: now + wait * share };
}
