// What may be done with an interface that belongs to this cluster and is attached to nothing. Pure: time comes in as a
// value.
import type { NetworkInterface } from './network-interface.ts';

/** A detached interface, as the readings show it. */
export interface Orphan {
  readonly interface: NetworkInterface;
  /** When the answer came that showed it first, without one since that did not, in monotonic ms. */
  readonly firstAt: number;
  /** When the newest reading that showed it was begun, in monotonic ms. */
  readonly lastAt: number;
  /** When a call of ours last changed it, in monotonic ms: a reading may show for a while what it had before. */
  readonly changedAt: number;
  /** When it was read, an instance still had it as far as was known: pods may go by its addresses. */
  readonly held: boolean;
  /** Something is under way with it: it is being attached, detached or deleted by this process. */
  readonly claimed: boolean;
  /** It could not be attached, for a reason of its own. */
  readonly unfit: boolean;
  /** What is known of the creation that its tags name. */
  readonly operation: 'underway' | 'ended' | 'unknown';
}

/**
 * Whether a node that needs an interface may take it. What somebody else made may be on its way to its instance: it is
 * `unclear` until a second reading, a consistency window later, shows it detached still. A creation of our own that
 * ended is known to be over. One that we took addresses from, not knowing that somebody had detached it, is `unclear`
 * until a reading is sure to show it without them.
 */
export function fitnessOf(orphan: Orphan, consistencyWindow: number): 'fit' | 'unclear' | 'unfit' {
  if (isBusy(orphan) || orphan.unfit) return 'unfit';
  if (orphan.lastAt < orphan.changedAt + consistencyWindow) return 'unclear';
  if (orphan.operation === 'ended') return 'fit';
  return orphan.lastAt - orphan.firstAt >= consistencyWindow ? 'fit' : 'unclear';
}

/**
 * Those to be deleted now: at most `most`, the longest known first. EC2 does not say since when an interface exists or
 * is detached, so that only what this process saw detached for `interval` ms counts.
 */
export function dueForCollection(
  orphans: Iterable<Orphan>,
  { interval, most }: { readonly interval: number; readonly most: number },
): readonly Orphan[] {
  return [...orphans]
    .filter((orphan) => !isBusy(orphan) && orphan.lastAt - orphan.firstAt >= interval)
    .sort((a, b) => a.firstAt - b.firstAt || (a.interface.id < b.interface.id ? -1 : 1))
    .slice(0, most);
}

/**
 * Interfaces of services of the cloud, and of kinds that we don't make, are nobody's orphans; nor is one that somebody
 * detached and whose addresses are still offered.
 */
function isBusy({ claimed, held, operation, interface: item }: Orphan): boolean {
  return claimed || held || operation === 'underway' || item.reservedFor !== undefined;
}
