// Whether this process may take anything away in the cloud right now. No cloud accepts a fencing token, so the only
// safe time is one that ends, at the latest, before our own lease does, and begins when no earlier leader's calls can
// still be under way.
import type { LeaseEnd } from '../kubernetes/leader-election.ts';
import type { Clock } from '../scheduling/clock.ts';

/** A new leader takes nothing away for so long, in ms: longer than a lease, so that calls of the one before are over. */
const quietStart = 20_000;

export interface FenceOptions {
  readonly clock: Clock;
  /** Since when we lead, in monotonic ms; undefined when we don't. */
  readonly leadingSince: () => number | undefined;
  /** The end of our own lease; undefined when we hold none; `unlimited` when there is no election. */
  readonly leaseEnd: () => LeaseEnd | 'unlimited' | undefined;
}

/** A function that says whether a call that takes something away and may last `ms` can be sent now. */
export function fence({ clock, leadingSince, leaseEnd }: FenceOptions): (ms: number) => boolean {
  return (ms) => {
    const since = leadingSince();
    const end = leaseEnd();
    if (since === undefined || end === undefined || clock.monotonic() < since + quietStart) return false;
    if (end === 'unlimited') return true;
    return clock.monotonic() + ms < end.monotonic && clock.wall() + ms < end.wall;
  };
}
