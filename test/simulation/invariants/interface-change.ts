// What a change of an interface means: pure functions of its states before and after.
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import { prefixOf, singleAddressesOf } from './assignments.ts';

export function idOf(before: NetworkInterface | undefined, after: NetworkInterface | undefined): string {
  return (after ?? before)?.id ?? '';
}

/** Addresses and prefixes that the change adds. */
export function addedBy(
  before: NetworkInterface | undefined,
  after: NetworkInterface | undefined,
): readonly string[] {
  if (after === undefined) return [];
  return [
    ...after.addresses.filter((address) => before?.addresses.includes(address) !== true),
    ...after.prefixes.filter((prefix) => before?.prefixes.includes(prefix) !== true),
  ];
}

/** The interface, unless it is detached or detaching. */
export function unlessDetaching(item: NetworkInterface | undefined): NetworkInterface | undefined {
  return item?.attachment === undefined || item.attachment.status === 'detaching' ? undefined : item;
}

/** Pod addresses that an instance gains by a change of an interface. */
export function growthOf(
  before: NetworkInterface | undefined,
  after: NetworkInterface | undefined,
  usesPrimaries = false,
): { instanceId: string; gained: number } {
  if (after?.instanceId === undefined) return { instanceId: '', gained: 0 };
  const { instanceId } = after;
  const had = before?.instanceId === instanceId ? podAddressesOf(before, usesPrimaries) : 0;
  return { instanceId, gained: podAddressesOf(after, usesPrimaries) - had };
}

/** Its addresses for pods, and all addresses of its prefixes. */
function podAddressesOf(item: NetworkInterface, usesPrimaries: boolean): number {
  return singleAddressesOf(item, usesPrimaries).length + item.prefixes.length * 16;
}

export function hasSameAddresses(a: NetworkInterface, b: NetworkInterface): boolean {
  return a.addresses === b.addresses && a.prefixes === b.prefixes;
}

export function hasAddress(item: NetworkInterface | undefined, address: string): boolean {
  if (item === undefined) return false;
  return item.addresses.includes(address) || item.prefixes.includes(prefixOf(address));
}
