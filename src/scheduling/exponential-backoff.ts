// How long to leave something alone after it failed, as a pure function: each failure in a row doubles the wait.
import type { Random } from './random.ts';

export interface BackoffPolicy {
  /** The wait after the first failure, in ms. */
  readonly base: number;
  /** No wait is longer, in ms. */
  readonly cap: number;
}

export interface Backoff {
  /** Failures in a row. */
  readonly failures: number;
  /** Not to be tried before, in monotonic ms. */
  readonly until: number;
}

/**
 * The state after one more failure at `now`. The wait is drawn from the upper half of its range, so that many things
 * that failed together do not return together.
 */
export function backOff(
  previous: Backoff | undefined,
  policy: BackoffPolicy,
  now: number,
  random: Random,
): Backoff {
  const failures = (previous?.failures ?? 0) + 1;
  const wait = Math.min(policy.cap, policy.base * 2 ** Math.min(failures - 1, 30));
  return { failures, until: now + wait * (0.5 + random.next() / 2) };
}
