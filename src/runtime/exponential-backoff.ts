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
 * The wait after that many failures, random in the upper half of its range, so that operations that fail together do not
 * retry together. Without `random` it has its full length.
 */
export function randomWait(policy: BackoffPolicy, failures: number, random: Random | undefined): number {
  const share = random === undefined ? 1 : 0.5 + random.next() / 2;
  return exponentialWait(policy, failures) * share;
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
