// How many pod addresses an instance can hold, by the limits of its type.
import { type InstanceLimits, type InstanceView, unusableIn } from '../../providers/contract/facts.ts';
import { expandBlock } from '../../providers/contract/ipv4.ts';
import { isOfIpv6 } from '../../providers/contract/ipv6.ts';
import { isByName, type NetworkInterface, prefixSize } from '../../providers/contract/network-interface.ts';
import { exclusionOf, type NodeRequirements, sparedOn } from './node-requirements.ts';

/** The pre-allocate of a node whose spec sets none. */
export const defaultPreAllocate = 8;

/** An instance with the limits of its type, and what its node requires. */
export interface KnownInstance {
  readonly view: InstanceView;
  readonly limits: InstanceLimits;
  readonly requirements: NodeRequirements;
}

/** Requirements of a node that decide how many addresses it can hold. */
export type CapacityRequirements = Pick<
  NodeRequirements,
  'firstInterfaceIndex' | 'usePrimaryAddress' | 'prefixDelegation'
>;

/**
 * Whether the node gets prefixes: they are requested and its instance type supports them
 * (docs/ciliumnode-contract.md 4.2).
 */
export function delegatesPrefixes(
  limits: InstanceLimits,
  asked: Pick<CapacityRequirements, 'prefixDelegation'>,
): boolean {
  return asked.prefixDelegation && limits.prefixes;
}

/** Pod addresses that one interface can hold. */
export function addressesPerInterface(limits: InstanceLimits, asked: CapacityRequirements): number {
  const primary = asked.usePrimaryAddress ? Math.min(1, limits.addressesPerInterface) : 0;
  return slotsPerInterface(limits) * addressesPerSlot(limits, asked) + primary;
}

/** The most pod addresses the node can ever have; 0, "no limit", if unknown. */
export function maximumAllocatable(limits: InstanceLimits | undefined, asked: CapacityRequirements): number {
  if (limits === undefined) return 0;
  const { interfaces, addressesPerInstance = Infinity } = limits;
  const primaries = asked.usePrimaryAddress ? interfaces - asked.firstInterfaceIndex : 0;
  // Each interface takes a place for its primary address, whether or not pods may use that.
  const ofInstance = addressesPerInstance - interfaces + primaries;
  return Math.max(0, Math.min(maximumOfInterfaces(limits, asked), ofInstance));
}

function maximumOfInterfaces(limits: InstanceLimits, asked: CapacityRequirements): number {
  const { firstInterfaceIndex: first } = asked;
  if (limits.interfaces < first) return 0;
  return (limits.interfaces - first) * addressesPerInterface(limits, asked);
}

/** The same for the node's current interfaces. Prefixes it already has count, even if it would get no more. */
export function maxAllocatable(
  limits: InstanceLimits,
  view: InstanceView,
  requirements: NodeRequirements,
): number {
  const max = maximumOfInterfaces(limits, requirements);
  if (max === 0 || delegatesPrefixes(limits, requirements)) return max;
  const ofInterfaces = max + deviation(limits, view, requirements);
  if (limits.addressesPerInstance === undefined) return ofInterfaces;
  return Math.min(ofInterfaces, podAddresses(view, requirements).size + placesLeft(limits, view));
}

/** The pre-allocate to write for a node without one: the default, or less if the instance cannot reach it. */
export function reachablePreAllocate(
  limits: InstanceLimits | undefined,
  asked: CapacityRequirements,
): number {
  const { firstInterfaceIndex: first } = asked;
  if (limits === undefined) return defaultPreAllocate;
  const interfaces = Math.max(0, limits.interfaces - first);
  return Math.min(defaultPreAllocate, interfaces * slotsPerInterface(limits));
}

/**
 * Pod addresses that the instance can hold with its current interfaces, without excluded ones. A primary
 * address that pods may use counts as a full slot, as in cilium-operator's figure of this name
 * (docs/ciliumnode-contract.md 4.3).
 */
export function nodeCapacity(
  limits: InstanceLimits,
  view: InstanceView,
  requirements: NodeRequirements,
): number {
  const primary = requirements.usePrimaryAddress ? Math.min(1, limits.addressesPerInterface) : 0;
  const each = (slotsPerInterface(limits) + primary) * addressesPerSlot(limits, requirements);
  const excluded = view.interfaces.filter((item) => exclusionOf(item, requirements) !== undefined);
  const unusable = excluded.filter(isOnDefaultCard).length + unusableSlots(view);
  const ofInterfaces = Math.max(0, limits.interfaces - unusable) * each;
  const ofInstance = podAddresses(view, requirements).size + placesLeft(limits, view);
  return Math.min(ofInterfaces + deviation(limits, view, requirements), ofInstance);
}

/** Interfaces that occupy a slot of the default network card, usable or not. */
export function occupiedSlots(view: InstanceView): number {
  return view.interfaces.filter(isOnDefaultCard).length + unusableSlots(view);
}

/** Free slots of an interface. Each takes one address or one prefix. */
export function roomOn(item: NetworkInterface, limits: InstanceLimits): number {
  const { addresses, prefixes, placesTaken = 0 } = item;
  return Math.max(0, slotsPerInterface(limits) - addresses.length - prefixes.length - placesTaken);
}

/** Free places of all interfaces together; Infinity where the cloud limits only those of each. */
export function placesLeft(
  { addressesPerInstance: max = Infinity }: InstanceLimits,
  view: InstanceView,
): number {
  if (max === Infinity) return Infinity;
  // An interface that cannot be read has at least its primary address.
  const taken = view.interfaces.reduce((sum, item) => sum + placesOn(item), unusableIn(view).length);
  return Math.max(0, max - taken);
}

function placesOn({ addresses, prefixes, placesTaken = 0 }: NetworkInterface): number {
  return 1 + addresses.length + prefixes.length + placesTaken;
}

/**
 * The most addresses that changes under way bring, but for our own: no read shows them before such a change ends. A former
 * leader may have started one.
 */
export function maxOfChanges(
  { view, limits, requirements }: KnownInstance,
  isOurs: (interfaceId: string) => boolean,
): number {
  const changing = view.interfaces.filter(
    (item) =>
      item.condition === 'changing' && !isOurs(item.id) && exclusionOf(item, requirements) === undefined,
  );
  return changing.reduce((sum, item) => sum + roomOn(item, limits), 0);
}

/** All addresses that pods of the node may use, with their interface. */
export function podAddresses(view: InstanceView, requirements: NodeRequirements): Map<string, string> {
  const found = new Map<string, string>();
  for (const item of view.interfaces) {
    if (exclusionOf(item, requirements) !== undefined) continue;
    if (requirements.usePrimaryAddress && !isByName(item)) found.set(item.primaryAddress, item.id);
    const spared = sparedOn(item, requirements);
    for (const address of item.addresses) if (!spared.includes(address)) found.set(address, item.id);
    for (const prefix of item.prefixes)
      for (const address of expandBlock(prefix)) found.set(address, item.id);
  }
  return found;
}

/** Pod addresses that one interface has. */
export function podAddressCount(
  { addresses, prefixes }: NetworkInterface,
  { usePrimaryAddress }: Pick<NodeRequirements, 'usePrimaryAddress'>,
): number {
  return addresses.length + prefixes.length * prefixSize + (usePrimaryAddress ? 1 : 0);
}

/** Slots of one interface besides its primary address. */
function slotsPerInterface(limits: InstanceLimits): number {
  return Math.max(0, limits.addressesPerInterface - 1);
}

function addressesPerSlot(
  limits: InstanceLimits,
  asked: Pick<CapacityRequirements, 'prefixDelegation'>,
): number {
  return delegatesPrefixes(limits, asked) ? prefixSize : 1;
}

/**
 * Correction for a node that has both single addresses and prefixes: addresses above or below the regular
 * count per slot.
 */
function deviation(limits: InstanceLimits, view: InstanceView, requirements: NodeRequirements): number {
  const delegates = delegatesPrefixes(limits, requirements);
  let differing = 0;
  for (const item of view.interfaces) {
    if (exclusionOf(item, requirements) !== undefined) continue;
    differing += delegates ? -item.addresses.length : item.prefixes.length;
  }
  return differing * (prefixSize - 1);
}

function unusableSlots(view: InstanceView): number {
  return unusableIn(view).filter((item) => item.networkCard === 0).length;
}

/** Whether it occupies a slot there. */
export function isOnDefaultCard(item: NetworkInterface): boolean {
  return (item.attachment?.networkCard ?? 0) === 0;
}

/** Slots of an interface with what is unconfirmed. */
export function unconfirmedOn({ unconfirmed }: InstanceView, interfaceId: string): number {
  return unconfirmed.get(interfaceId)?.filter((holding) => !isOfIpv6(holding)).length ?? 0;
}

/** Unconfirmed addresses, those of prefixes included. */
export function unconfirmedIn(view: InstanceView): number {
  const holdings = [...view.unconfirmed.values()].flat().filter((holding) => !isOfIpv6(holding));
  return holdings.reduce((sum, holding) => sum + (holding.includes('/') ? prefixSize : 1), 0);
}
