// The durations of leader election, and which of them can be safe together.
import { KubernetesError } from './kubernetes-error.ts';

/** All in ms. */
export interface LeaseTimings {
  /** Nobody else leads so long after the holder's last renewal was seen. A whole number of seconds. */
  readonly leaseDuration: number;
  /** A leader that could not renew for so long gives up. */
  readonly renewDeadline: number;
  /** Between attempts, plus up to a fifth for those who wait. */
  readonly retryPeriod: number;
}

export const defaultLeaseTimings: LeaseTimings = {
  leaseDuration: 15_000,
  renewDeadline: 10_000,
  retryPeriod: 2000,
};

/** How much longer a wait may be than the retry period, at random. */
export const jitterFactor = 1.2;

/** Throws LEASE_TIMINGS_INVALID, naming the durations that don't go together. */
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
