// Decides whether this process may send a call that takes something away. No cloud accepts a fencing token.
// So such a call must end before our own lease does, and none starts in the quiet period: a call of the previous
// leader may still be in flight. None starts while a watch is silent: what it said last may be out of date.
import type { LeaseEnd } from '../kubernetes/lease/lease-record.ts';
import { leaderQuietPeriod } from '../kubernetes/lease/lease-timings.ts';
import type { Clock } from '../runtime/clock.ts';

export interface FenceOptions {
  readonly clock: Clock;
  /** When this process started to lead, in monotonic ms; undefined if it does not lead. */
  readonly leadingSince: () => number | undefined;
  /** The end of our own lease; undefined without one; `unlimited` without leader election. */
  readonly leaseEnd: () => LeaseEnd | 'unlimited' | undefined;
  /** Whether a watch is silent. */
  readonly isDeaf: () => boolean;
}

/** Returns a test: may a call that takes something away and may last `ms` be sent now? */
export function fence({ clock, leadingSince, leaseEnd, isDeaf }: FenceOptions): (ms: number) => boolean {
  return (ms) => {
    const since = leadingSince();
    const end = leaseEnd();
    if (since === undefined || end === undefined || clock.monotonic() < since + leaderQuietPeriod)
      return false;
    if (isDeaf()) return false;
    if (end === 'unlimited') return true;
    return clock.monotonic() + ms < end.monotonic && clock.wall() + ms < end.wall;
  };
}
