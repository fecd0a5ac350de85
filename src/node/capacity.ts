// How many pod addresses a node's instance can hold, by the limits of its type.
import type { InstanceLimits } from '../providers/allocation-implementation.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import { addressesOf } from '../providers/ipv4.ts';
import { type NetworkInterface, prefixSize } from '../providers/network-interface.ts';
import { exclusionOf, type NodeRequirements } from './node-requirements.ts';

/** The pre-allocate of a node whose spec has none. */
export const defaultPreAllocate = 8;

type Asked = Pick<NodeRequirements, 'firstInterfaceIndex' | 'usePrimaryAddress' | 'prefixDelegation'>;

/** Whether the node gets prefixes: it is to have them, and its instance can carry them (contract 6.6, per interface). */
export function delegatesPrefixes(limits: InstanceLimits, asked: Pick<Asked, 'prefixDelegation'>): boolean {
  return asked.prefixDelegation && limits.prefixes;
}

/** Pod addresses that one interface can have. */
export function addressesPerInterface(limits: InstanceLimits, asked: Asked): number {
  const primary = asked.usePrimaryAddress ? Math.min(1, limits.addressesPerInterface) : 0;
  return slotsPerInterface(limits) * addressesPerSlot(limits, asked) + primary;
}

/** The most that the node can ever have; 0, "no limit", when that cannot be known. */
export function maximumAllocatable(limits: InstanceLimits | undefined, asked: Asked): number {
  const { firstInterfaceIndex: first } = asked;
  if (limits === undefined || limits.interfaces < first) return 0;
  return (limits.interfaces - first) * addressesPerInterface(limits, asked);
}

/** The same for a node as its interfaces are now: prefixes that it has count whether or not it would get more. */
export function mostAllocatable(
  limits: InstanceLimits,
  view: InstanceView,
  requirements: NodeRequirements,
): number {
  const most = maximumAllocatable(limits, requirements);
  if (most === 0 || delegatesPrefixes(limits, requirements)) return most;
  return most + deviation(limits, view, requirements);
}

/** The pre-allocate to write for a node that has none: the default, or less where the instance cannot reach it. */
export function reachablePreAllocate(limits: InstanceLimits | undefined, asked: Asked): number {
  const { firstInterfaceIndex: first } = asked;
  if (limits === undefined) return defaultPreAllocate;
  const interfaces = Math.max(0, limits.interfaces - first);
  return Math.min(defaultPreAllocate, interfaces * slotsPerInterface(limits));
}

/**
 * Pod addresses that the instance can hold as its interfaces are now, excluded ones left out. A primary address that
 * pods may have counts as much as any other slot, as in cilium-operator's figure of this name (contract 6.6).
 */
export function nodeCapacity(
  limits: InstanceLimits,
  view: InstanceView,
  requirements: NodeRequirements,
): number {
  const primary = requirements.usePrimaryAddress ? Math.min(1, limits.addressesPerInterface) : 0;
  const each = (slotsPerInterface(limits) + primary) * addressesPerSlot(limits, requirements);
  const excluded = view.interfaces.filter((item) => exclusionOf(item, requirements) !== undefined);
  const unusable = excluded.filter(isOnDefaultCard).length + unreadableSlots(view);
  return Math.max(0, limits.interfaces - unusable) * each + deviation(limits, view, requirements);
}

/** Interfaces that take up a slot of the default network card, usable or not. */
export function occupiedSlots(view: InstanceView): number {
  return view.interfaces.filter(isOnDefaultCard).length + unreadableSlots(view);
}

/** Slots that an interface has free: each takes a single address or a prefix. */
export function roomOn(item: NetworkInterface, limits: InstanceLimits): number {
  return Math.max(0, slotsPerInterface(limits) - item.addresses.length - item.prefixes.length);
}

/** Every address that pods of the node may have, with the interface it is on. */
export function podAddresses(view: InstanceView, requirements: NodeRequirements): Map<string, string> {
  const found = new Map<string, string>();
  for (const item of view.interfaces) {
    if (exclusionOf(item, requirements) !== undefined) continue;
    if (requirements.usePrimaryAddress) found.set(item.primaryAddress, item.id);
    for (const address of item.addresses) found.set(address, item.id);
    for (const prefix of item.prefixes)
      for (const address of addressesOf(prefix)) found.set(address, item.id);
  }
  return found;
}

/** Slots of one interface beside that of its primary address. */
function slotsPerInterface(limits: InstanceLimits): number {
  return Math.max(0, limits.addressesPerInterface - 1);
}

function addressesPerSlot(limits: InstanceLimits, asked: Pick<Asked, 'prefixDelegation'>): number {
  return delegatesPrefixes(limits, asked) ? prefixSize : 1;
}

/** What slots hold beyond, or short of, what the node's slots are counted as: a node may have both kinds. */
function deviation(limits: InstanceLimits, view: InstanceView, requirements: NodeRequirements): number {
  const usable = view.interfaces.filter((item) => exclusionOf(item, requirements) === undefined);
  const delegates = delegatesPrefixes(limits, requirements);
  const differing = usable.reduce(
    (sum, { addresses, prefixes }) => sum + (delegates ? -addresses.length : prefixes.length),
    0,
  );
  return differing * (prefixSize - 1);
}

function unreadableSlots(view: InstanceView): number {
  return view.unreadable.filter((item) => item.networkCard === 0).length;
}

function isOnDefaultCard(item: NetworkInterface): boolean {
  return (item.attachment?.networkCard ?? 0) === 0;
}

/** Addresses that are not confirmed yet, those of prefixes included. */
export function unconfirmedIn(view: InstanceView): number {
  const holdings = [...view.unconfirmed.values()].flat();
  return holdings.reduce((sum, holding) => sum + (holding.includes('/') ? prefixSize : 1), 0);
}
