// Checks that an answer shows only what was requested, each item once, and most items in EC2's form.
// Otherwise the whole answer proves nothing: neither what exists nor what is missing.
import type { Ec2Action, Ec2NetworkInterface } from './ec2-api.ts';
import { unreadable } from './ec2-client.ts';

/**
 * Share of malformed items above which the answer is rejected. A single malformed item among others is always
 * tolerated.
 */
const tolerated = 1 / 4;

export interface Spoiled {
  readonly id: string;
  readonly problem: string;
}

/** Throws a CloudError if so many items are malformed that the answer itself must be wrong. */
export function refuseSpoiled(action: Ec2Action, spoiled: readonly Spoiled[], all: number): void {
  const [first] = spoiled;
  const isWithinThings = spoiled.length < all && spoiled.length <= Math.max(1, all * tolerated);
  if (first !== undefined && !isWithinThings)
    throw unreadable(
      action,
      `cannot understand ${spoiled.length} of ${all}: of ${first.id}, ${first.problem}`,
    );
}

/** Throws a CloudError if one answer shows an item twice. */
export function refuseRepeated(action: Ec2Action, ids: readonly (string | undefined)[]): void {
  const met = new Set<string>();
  for (const id of ids) {
    if (id !== undefined && met.has(id)) throw unreadable(action, `${id} is shown twice`);
    if (id !== undefined) met.add(id);
  }
}

/** Throws a CloudError if interfaces of one subnet appear in several networks or zones. */
export function refuseScattered(shown: readonly Ec2NetworkInterface[]): void {
  const places = new Map<string, string>();
  for (const { SubnetId: id, VpcId, AvailabilityZone = '' } of shown) {
    if (id === undefined || VpcId === undefined) continue;
    const place = `${VpcId} ${AvailabilityZone}`;
    if ((places.get(id) ?? place) !== place)
      throw unreadable('DescribeNetworkInterfaces', `${id} is in ${places.get(id)} and in ${place}`);
    places.set(id, place);
  }
}

/** Throws a CloudError if an item belongs to none of the requested owners. */
export function refuseUnrequested(
  action: Ec2Action,
  asked: readonly string[],
  owners: readonly (string | undefined)[],
): void {
  const known = new Set(asked);
  const unrequested = owners.find((owner) => owner !== undefined && !known.has(owner));
  if (unrequested !== undefined) throw unreadable(action, `it shows ${unrequested}, which was not asked for`);
}
