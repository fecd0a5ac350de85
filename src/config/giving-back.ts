// Whether the lease leaves time to take anything away: such a call is sent only if its answer can come before our own lease
// ends (src/controller/fencing.ts), and a lease never has more time left than right after a renewal. Pure.
import { fencedTimeoutOf } from '../providers/fenced-timeout.ts';
import { formatDuration } from './go-duration.ts';
import type { Options } from './option-table.ts';

export type GivingBack =
  /** At any time, as long as the lease is renewed. */
  | { readonly kind: 'free' }
  /** Only right after a renewal, or at no time. */
  | { readonly kind: 'seldom' | 'never'; readonly because: string; readonly remedy: string };

const second = 1000;

export function givingBackOf(
  options: Pick<
    Options,
    'leaderElection' | 'leaderElectionLeaseDuration' | 'leaderElectionRetryPeriod' | 'cloudCallTimeout'
  >,
): GivingBack {
  const { leaderElectionLeaseDuration: lease, leaderElectionRetryPeriod: retryPeriod } = options;
  const timeout = fencedTimeoutOf(options.cloudCallTimeout);
  if (!options.leaderElection || timeout + retryPeriod < lease) return { kind: 'free' };
  const isNever = timeout >= lease;
  const left = isNever
    ? `never has more than ${formatDuration(lease)} left`
    : `that is renewed every ${formatDuration(retryPeriod)} has less than that left part of the time`;
  return {
    kind: isNever ? 'never' : 'seldom',
    because: `the answer to such a call is waited for up to ${formatDuration(timeout)} and has to come before the lease ends; a lease of ${formatDuration(lease)} ${left}`,
    remedy: remedyFor(timeout, { lease, retryPeriod }),
  };
}

/** The second that it leaves is for the renewal itself, which takes time too. */
function remedyFor(timeout: number, { lease, retryPeriod }: { lease: number; retryPeriod: number }): string {
  const longEnough = Math.ceil((timeout + retryPeriod) / second + 1) * second;
  const raise = `set --leader-election-lease-duration to ${formatDuration(longEnough)} or more`;
  const shortEnough = Math.floor(lease - retryPeriod - second);
  if (shortEnough < second) return raise;
  return `${raise}, or --cloud-call-timeout to ${formatDuration(shortEnough)} or less`;
}
