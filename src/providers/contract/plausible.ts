// Checks that an answer shows only what was requested, each item once, and most items in the vendor's form. Otherwise the
// whole answer proves nothing: neither what exists nor what is missing.
import { unreadable } from './cloud-failure.ts';

/** Share of malformed items above which the answer is rejected. A single one among others is always tolerated. */
const tolerated = 1 / 4;

export interface Spoiled {
  readonly id: string;
  readonly problem: string;
}

/** Throws a CloudError if so many items are malformed that the answer itself must be wrong. */
export function refuseSpoiled(action: string, spoiled: readonly Spoiled[], all: number): void {
  const [first] = spoiled;
  const isWithinThings = spoiled.length < all && spoiled.length <= Math.max(1, all * tolerated);
  if (first !== undefined && !isWithinThings)
    throw unreadable(
      action,
      `cannot understand ${spoiled.length} of ${all}: of ${first.id}, ${first.problem}`,
    );
}

/** The first duplicate. */
export function repeated(items: readonly string[]): string | undefined {
  return new Set(items).size === items.length
    ? undefined
    : items.find((item, index) => items.indexOf(item) < index);
}

/** Throws a CloudError if one answer shows an item twice. */
export function refuseRepeated<T>(
  action: string,
  items: readonly T[],
  idOf: (item: T) => string | undefined,
): void {
  const twice = repeated(items.map(idOf).filter((id) => id !== undefined));
  if (twice !== undefined) throw unreadable(action, `${twice} is shown twice`);
}

/** Throws a CloudError if an item belongs to none of the requested owners. */
export function refuseUnrequested<T>(
  action: string,
  asked: readonly string[],
  items: readonly T[],
  ownerOf: (item: T) => string | undefined,
): void {
  const known = new Set(asked);
  const unrequested = items.map(ownerOf).find((owner) => owner !== undefined && !known.has(owner));
  if (unrequested !== undefined) throw unreadable(action, `it shows ${unrequested}, which was not asked for`);
}
