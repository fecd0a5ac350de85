// The part that a page of a listing adds to the sums of the whole listing.
import type { ObservedPage } from '../providers/contract/cloud.ts';
import type { TakenAddresses } from '../providers/contract/block-census.ts';
import { allAssignments } from '../providers/contract/network-interface.ts';

/** Addresses and prefixes that are taken, by whomever. */
export function takenIn({ observations, others = [] }: ObservedPage): readonly TakenAddresses[] {
  const own = observations.flatMap((observation) =>
    observation.kind === 'interface'
      ? [{ subnetId: observation.interface.subnetId, holdings: allAssignments(observation.interface) }]
      : [],
  );
  return [...own, ...others];
}

/** How many items could not be read and were skipped. */
export function unreadableIn({ observations, unclear }: ObservedPage): number {
  const unreadable = observations.filter(({ kind }) => kind === 'unreadableInterface');
  return unreadable.length + (unclear?.count ?? 0);
}
