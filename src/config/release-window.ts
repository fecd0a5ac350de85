// Decides whether the lease leaves time for calls that remove something. Such a call is sent only if its answer can
// arrive before our lease ends (src/controller/fencing.ts). A lease has most time left right after a renewal. Pure.
import { fencedTimeoutOf } from '../providers/contract/operations.ts';
import { formatDuration } from './go-duration.ts';
import type { Options } from './option-table.ts';

export type ReleaseWindow =
  /** At any time, while the lease is renewed. */
  | { readonly kind: 'free' }
  /** Only right after a renewal, or never. */
  | { readonly kind: 'seldom' | 'never'; readonly because: string; readonly remedy: string };

const second = 1000;
const maxWrite = 5000;

/** Time limit of a write to Kubernetes, in ms: one that may outlast our own lease is not sent. */
export function writeTimeoutOf({
  leaderElectionLeaseDuration,
}: Pick<Options, 'leaderElectionLeaseDuration'>): number {
  return Math.min(maxWrite, leaderElectionLeaseDuration / 3);
}

export function releaseWindowOf(
  options: Pick<
    Options,
    'leaderElection' | 'leaderElectionLeaseDuration' | 'leaderElectionRetryPeriod' | 'cloudCallTimeout'
  >,
): ReleaseWindow {
  const { leaderElectionLeaseDuration: lease, leaderElectionRetryPeriod: retryPeriod } = options;
  const timeout = fencedTimeoutOf(options.cloudCallTimeout);
  if (!options.leaderElection || timeout + retryPeriod < lease) return { kind: 'free' };
  const isNever = timeout >= lease;
  const left = isNever
    ? `never has more than ${formatDuration(lease)} left`
    : `that is renewed every ${formatDuration(retryPeriod)} has less than that left part of the time`;
  return {
    kind: isNever ? 'never' : 'seldom',
    because: `such a call waits up to ${formatDuration(timeout)} for its answer, which must come before the lease ends; a lease of ${formatDuration(lease)} ${left}`,
    remedy: remedyFor(timeout, { lease, retryPeriod }),
  };
}

/** The extra second is for the renewal call. */
function remedyFor(timeout: number, { lease, retryPeriod }: { lease: number; retryPeriod: number }): string {
  const minLease = Math.ceil((timeout + retryPeriod) / second + 1) * second;
  const raise = `set --leader-election-lease-duration to ${formatDuration(minLease)} or more`;
  const maxTimeout = Math.floor(lease - retryPeriod - second);
  if (maxTimeout < second) return raise;
  return `${raise}, or --cloud-call-timeout to ${formatDuration(maxTimeout)} or less`;
}
