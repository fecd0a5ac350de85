// The order in which objects are served: the oldest first, and by name among those of one second.
import type { Holder } from './block-holders.ts';

/** Negative if `a` goes before `b`. */
export function bySeniority(
  a: Pick<Holder, 'createdAt' | 'name'>,
  b: Pick<Holder, 'createdAt' | 'name'>,
): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return 0;
}

/** The oldest of `others` that is older than `holder`; undefined if none is. */
export function oldestBefore(holder: Holder, others: readonly Holder[]): Holder | undefined {
  return others.filter((other) => bySeniority(other, holder) < 0).toSorted(bySeniority)[0];
}
