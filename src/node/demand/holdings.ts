// Splits an interface's pod addresses into units that can be released, and says which units pods must not use. Pure.
import type { InstanceView } from '../../providers/contract/facts.ts';
import { expandBlock } from '../../providers/contract/ipv4.ts';
import { isByName, type NetworkInterface } from '../../providers/contract/network-interface.ts';
import { exclusionOf, type NodeRequirements, sparedOn } from './node-requirements.ts';

/** A unit that is released as a whole: an address, or a prefix with all its addresses. */
export interface Holding {
  /** The address, or the prefix as `a.b.c.d/28`. */
  readonly id: string;
  readonly interfaceId: string;
  readonly addresses: readonly string[];
}

const none: readonly Holding[] = [];

/** Holdings that can be unassigned from an interface: secondary addresses and prefixes, never the primary address. */
export function secondaryHoldings(item: NetworkInterface): readonly Holding[] {
  const single = item.addresses
    .filter((address) => address !== item.primaryAddress)
    .map((address) => ({ id: address, interfaceId: item.id, addresses: [address] }));
  const blocks = item.prefixes.map((id) => ({ id, interfaceId: item.id, addresses: expandBlock(id) }));
  return [...single, ...blocks];
}

/** The primary address. No call can unassign it; only pods can lose it. */
export function primaryOn({ id, primaryAddress }: NetworkInterface): Holding {
  return { id: primaryAddress, interfaceId: id, addresses: [primaryAddress] };
}

/** Holdings of the interface that pods must not use: all of it, its primary address, what is spared, or nothing. */
export function unfitOn(item: NetworkInterface, requirements: NodeRequirements): readonly Holding[] {
  if (exclusionOf(item, requirements) !== undefined) return [...secondaryHoldings(item), primaryOn(item)];
  const primary = requirements.usePrimaryAddress || isByName(item) ? none : [primaryOn(item)];
  const spared = sparedOn(item, requirements);
  if (spared.length === 0) return primary;
  return [...secondaryHoldings(item).filter(({ id }) => spared.includes(id)), ...primary];
}

/** Holdings that a release of the instance can concern: those that can be unassigned, and those that pods must not use. */
export function holdingsIn(view: InstanceView, requirements: NodeRequirements): readonly Holding[] {
  return view.interfaces.flatMap((item) => [...secondaryHoldings(item), ...unfitOn(item, requirements)]);
}

/** Returns a test for holdings of the instance that pods must not use. */
export function isUnfit(view: InstanceView, requirements: NodeRequirements): (holding: Holding) => boolean {
  const places = new Set(view.interfaces.flatMap((item) => unfitOn(item, requirements)).map(placeOf));
  return (holding) => places.has(placeOf(holding));
}

/** A key for a holding on its interface. */
export function placeOf({ interfaceId, id }: Pick<Holding, 'interfaceId' | 'id'>): string {
  return `${interfaceId} ${id}`;
}
