// Checks that an answer shows only what was requested, each item once, and most items in the vendor's form. Otherwise the
// whole answer proves nothing: neither what exists nor what is missing.
import type { RpcAction } from './rpc-api.ts';
import { unreadable } from './rpc-client.ts';

/** Share of malformed items above which the answer is rejected. A single one among others is always tolerated. */
const tolerated = 1 / 4;

export interface Spoiled {
  readonly id: string;
  readonly problem: string;
}

/** Throws a CloudError if so many items are malformed that the answer itself must be wrong. */
export function refuseSpoiled(action: RpcAction, spoiled: readonly Spoiled[], all: number): void {
  const [first] = spoiled;
  const isWithinThings = spoiled.length < all && spoiled.length <= Math.max(1, all * tolerated);
  if (first !== undefined && !isWithinThings)
    throw unreadable(
      action,
      `cannot understand ${spoiled.length} of ${all}: of ${first.id}, ${first.problem}`,
    );
}

/** Throws a CloudError if one answer shows an item twice. */
export function refuseRepeated(action: RpcAction, ids: readonly (string | undefined)[]): void {
  const met = new Set<string>();
  for (const id of ids) {
    if (id !== undefined && met.has(id)) throw unreadable(action, `${id} is shown twice`);
    if (id !== undefined) met.add(id);
  }
}

/** Throws a CloudError if an item belongs to none of the requested owners. */
export function refuseUnrequested(
  action: RpcAction,
  asked: readonly string[],
  owners: readonly (string | undefined)[],
): void {
  const known = new Set(asked);
  const unrequested = owners.find((owner) => owner !== undefined && !known.has(owner));
  if (unrequested !== undefined) throw unreadable(action, `it shows ${unrequested}, which was not asked for`);
}
