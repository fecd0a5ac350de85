// The order in which objects are served: the oldest first, and by name among those of one second.
import type { Cidr } from '../set/cidr.ts';
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

/** A CIDR of an object, and the name of another one that has a part of it. */
export interface BlockConflict {
  readonly cidr: Cidr;
  readonly other: string;
}

/** The first block of `holder` that an older object has, too. `othersOf`: the others that have a part of a CIDR. */
export function conflictOf<B extends { readonly cidr: Cidr }>(
  holder: Holder,
  blocks: readonly B[],
  othersOf: (cidr: Cidr) => readonly Holder[],
): (B & BlockConflict) | undefined {
  for (const block of blocks) {
    const older = othersOf(block.cidr).filter((other) => bySeniority(other, holder) < 0);
    const [oldest] = older.toSorted(bySeniority);
    if (oldest !== undefined) return { ...block, other: oldest.name };
  }
  return undefined;
}
