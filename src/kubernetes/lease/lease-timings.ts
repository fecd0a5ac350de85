// Defines the durations of leader election and checks that they are safe together.
import { KubernetesError } from '../transport/kubernetes-error.ts';

/**
 * The quiet period: how long a new leader takes nothing away, in ms, because calls of the previous leader may still be
 * in flight. Longer than a lease by default.
 */
export const leaderQuietPeriod = 20_000;

/** All in ms. */
export interface LeaseTimings {
  /** No other process leads for this long after it saw the holder's last renewal. Whole seconds. */
  readonly leaseDuration: number;
  /** A leader gives up after failing to renew for this long. */
  readonly renewDeadline: number;
  /** Between attempts; standbys add up to a fifth. */
  readonly retryPeriod: number;
}

export const defaultLeaseTimings: LeaseTimings = {
  leaseDuration: 15_000,
  renewDeadline: 10_000,
  retryPeriod: 2000,
};

/** Maximum random stretch of the retry period. */
export const jitterFactor = 1.2;

/** Throws LEASE_TIMINGS_INVALID and names the conflicting durations. */
export function checkedLeaseTimings(given: Partial<LeaseTimings>): LeaseTimings {
  const timings = { ...defaultLeaseTimings, ...given };
  const { leaseDuration, renewDeadline, retryPeriod } = timings;
  for (const [name, ms] of Object.entries(timings)) {
    if (!(ms >= 1000))
      throw invalid(`${words[name] ?? name} is ${ms} ms; it must be a second at least`, timings);
  }
  if (leaseDuration % 1000 !== 0) {
    throw invalid(`the lease duration is ${leaseDuration} ms; it must be a whole number of seconds`, timings);
  }
  if (leaseDuration <= renewDeadline) {
    throw invalid(
      `the lease duration (${leaseDuration} ms) must be longer than the renew deadline (${renewDeadline} ms), else a leader outlives its lease`,
      timings,
    );
  }
  if (renewDeadline <= retryPeriod * jitterFactor) {
    throw invalid(
      `the renew deadline (${renewDeadline} ms) must be longer than ${jitterFactor} times the retry period (${retryPeriod} ms), else one failed attempt loses the lease`,
      timings,
    );
  }
  return timings;
}

const words: Readonly<Record<string, string>> = {
  leaseDuration: 'the lease duration',
  renewDeadline: 'the renew deadline',
  retryPeriod: 'the retry period',
};

function invalid(message: string, timings: LeaseTimings): KubernetesError {
  return new KubernetesError('LEASE_TIMINGS_INVALID', message, { details: { ...timings } });
}
