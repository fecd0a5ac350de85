// Decides whether an orphaned interface of this cluster may be adopted or deleted. Pure: time is an argument.
import type { NetworkInterface } from '../contract/network-interface.ts';

/** A detached interface, as reads show it. */
export interface Orphan {
  readonly interface: NetworkInterface;
  /** When the first of an unbroken series of reads that show it was answered, in monotonic ms. */
  readonly firstAt: number;
  /** When the newest read that showed it began, in monotonic ms. */
  readonly lastAt: number;
  /** When our own call last changed it, in monotonic ms. Until a consistency window later, reads may be stale. */
  readonly changedAt: number;
  /** An instance was believed to hold it at the time of the read: pods may use its addresses. */
  readonly held: boolean;
  /** This process is attaching, detaching or deleting it. */
  readonly claimed: boolean;
  /** Whether the interface could not be attached for a reason of its own. */
  readonly unfit: boolean;
  /** State of the creation that its tags name. */
  readonly operation: 'inFlight' | 'ended' | 'unknown';
}

/**
 * Whether a node that needs an interface may adopt it. Another process may be about to attach an interface that it made.
 * Such an interface is `unclear` until a second read, one consistency window later, still shows it detached. Our own
 * creation that has ended needs no second read. If we released addresses from it while it was already detached, it is
 * `unclear` until a read is certain to reflect that.
 */
export function fitnessOf(orphan: Orphan, consistencyWindow: number): 'fit' | 'unclear' | 'unfit' {
  if (isBusy(orphan) || orphan.unfit) return 'unfit';
  if (orphan.lastAt < orphan.changedAt + consistencyWindow) return 'unclear';
  if (orphan.operation === 'ended') return 'fit';
  return orphan.lastAt - orphan.firstAt >= consistencyWindow ? 'fit' : 'unclear';
}

export interface CollectionLimits {
  /** Minimum time that it must have been seen detached, in ms. */
  readonly interval: number;
  readonly max: number;
  /** Whether there is evidence that the interface belongs to this cluster. */
  readonly isOurs: (item: NetworkInterface) => boolean;
}

/** Minimum time that an interface is seen detached before deletion, whatever the interval, in ms. */
export const minDetachedTime = 60_000;

/**
 * The orphaned interfaces to delete now: at most `max`, longest detached first. EC2 does not report when an interface
 * was created or detached, so only `interval` ms seen detached by this process count. Others create and attach in two
 * calls, and between them an interface looks orphaned; hence the minimum time.
 */
export function dueForCollection(
  orphans: Iterable<Orphan>,
  { interval, max, isOurs }: CollectionLimits,
): readonly Orphan[] {
  const minSeenTime = Math.max(interval, minDetachedTime);
  return [...orphans]
    .filter((orphan) => !isBusy(orphan) && orphan.lastAt - orphan.firstAt >= minSeenTime)
    .filter((orphan) => isOurs(orphan.interface))
    .sort((a, b) => a.firstAt - b.firstAt || (a.interface.id < b.interface.id ? -1 : 1))
    .slice(0, max);
}

/**
 * Interfaces of cloud services and of kinds we never create are not orphaned. Neither is one that was detached
 * externally while its addresses are still offered.
 */
function isBusy({ claimed, held, operation, interface: item }: Orphan): boolean {
  return claimed || held || operation === 'inFlight' || item.reservedFor !== undefined;
}
