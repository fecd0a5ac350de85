// How many pod addresses a node's instance can hold, by the limits of its type.
import type { InstanceLimits } from '../providers/allocation-implementation.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import { addressesOf } from '../providers/ipv4.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';
import { exclusionOf, type NodeRequirements } from './node-requirements.ts';

/** The pre-allocate of a node whose spec has none. */
export const defaultPreAllocate = 8;

type Asked = Pick<NodeRequirements, 'firstInterfaceIndex' | 'usePrimaryAddress'>;

/** Pod addresses that one interface can have. */
export function addressesPerInterface(limits: InstanceLimits, { usePrimaryAddress }: Asked): number {
  return Math.max(0, limits.addressesPerInterface - (usePrimaryAddress ? 0 : 1));
}

/** The most that the node can ever have; 0, "no limit", when that cannot be known. */
export function maximumAllocatable(limits: InstanceLimits | undefined, asked: Asked): number {
  const { firstInterfaceIndex: first } = asked;
  if (limits === undefined || limits.interfaces < first) return 0;
  return (limits.interfaces - first) * addressesPerInterface(limits, asked);
}

/** The pre-allocate to write for a node that has none: the default, or less where the instance cannot reach it. */
export function reachablePreAllocate(limits: InstanceLimits | undefined, asked: Asked): number {
  const { firstInterfaceIndex: first } = asked;
  if (limits === undefined) return defaultPreAllocate;
  const interfaces = Math.max(0, limits.interfaces - first);
  return Math.min(defaultPreAllocate, interfaces * Math.max(0, limits.addressesPerInterface - 1));
}

/** Pod addresses that the instance can hold as its interfaces are now, excluded ones left out. */
export function nodeCapacity(
  limits: InstanceLimits,
  view: InstanceView,
  requirements: NodeRequirements,
): number {
  const each = addressesPerInterface(limits, requirements);
  const excluded = view.interfaces.filter((item) => exclusionOf(item, requirements) !== undefined);
  const unusable = excluded.filter(isOnDefaultCard).length + unreadableSlots(view);
  const leftover = view.interfaces
    .filter((item) => exclusionOf(item, requirements) === undefined)
    .reduce((sum, item) => sum + item.prefixes.length * 15, 0);
  return Math.max(0, limits.interfaces - unusable) * each + leftover;
}

/** Interfaces that take up a slot of the default network card, usable or not. */
export function occupiedSlots(view: InstanceView): number {
  return view.interfaces.filter(isOnDefaultCard).length + unreadableSlots(view);
}

/** Pod addresses that can still be added to an interface. */
export function roomOn(item: NetworkInterface, limits: InstanceLimits): number {
  // A prefix takes one of the interface's address slots, as a single address does.
  return Math.max(0, limits.addressesPerInterface - 1 - item.addresses.length - item.prefixes.length);
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

function unreadableSlots(view: InstanceView): number {
  return view.unreadable.filter((item) => item.networkCard === 0).length;
}

function isOnDefaultCard(item: NetworkInterface): boolean {
  return (item.attachment?.networkCard ?? 0) === 0;
}
