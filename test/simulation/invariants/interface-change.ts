// What a change of an interface means: pure functions of its states before and after.
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import { prefixOf } from './assignments.ts';

/** Addresses and prefixes that an interface has now and had not before. */
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

/** The interface as long as it does not leave its instance. */
export function staying(item: NetworkInterface | undefined): NetworkInterface | undefined {
  return item?.attachment === undefined || item.attachment.status === 'detaching' ? undefined : item;
}

/** Pod addresses that an instance gains with a change of an interface. */
export function growthOf(
  before: NetworkInterface | undefined,
  after: NetworkInterface | undefined,
): { instanceId: string; gained: number } {
  if (after?.instanceId === undefined) return { instanceId: '', gained: 0 };
  const { instanceId } = after;
  const had = before?.instanceId === instanceId ? podAddressesOf(before) : 0;
  return { instanceId, gained: podAddressesOf(after) - had };
}

/** Its secondary addresses, and all of its prefixes. */
function podAddressesOf({ addresses, prefixes }: NetworkInterface): number {
  return addresses.length - 1 + prefixes.length * 16;
}

export function carriesTheSame(a: NetworkInterface, b: NetworkInterface): boolean {
  return a.addresses === b.addresses && a.prefixes === b.prefixes;
}

export function carries(item: NetworkInterface | undefined, address: string): boolean {
  if (item === undefined) return false;
  return item.addresses.includes(address) || item.prefixes.includes(prefixOf(address));
}
