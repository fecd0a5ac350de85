// Assigns addresses and prefixes to an interface and unassigns them.
import { claim, type Claim, type Claimed, readAddress, readPrefix, release, slotsOf } from './claims.ts';
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import { refuseBeyondIpv6, refuseBeyondSlots, refusePrefixesOnXen } from './interface-limits.ts';
import { contains, formatIpv4 } from './ipv4.ts';
import { claimIpv6, type Ipv6Claim, ipv6SlotsOf, releaseIpv6 } from './ipv6-claims.ts';
import { dissociate } from './network-interfaces.ts';
import type { NetworkInterface } from './records.ts';

type Ipv6Held = Pick<NetworkInterface, 'ipv6Addresses' | 'ipv6Prefixes'>;

/**
 * Assigns what is requested and returns what the interface now has of it. A given secondary address of
 * another interface moves if `reassign` allows it. An address already on the interface stays.
 */
export function assign(network: CloudNetwork, id: string, wanted: Claim, reassign: boolean): Claimed {
  const record = network.find('interfaces', id);
  refuseManaged(record);
  if (wanted.prefixCount + wanted.prefixes.length > 0) refusePrefixesOnXen(network, record);
  const asked = [...new Set(wanted.addresses)].map((text) => formatIpv4(readAddress(text)));
  const present = asked.filter((address) => record.addresses.includes(address));
  const missing = asked.filter((address) => !present.includes(address));
  const moves = movesOf(network, record, missing);
  if (moves.length > 0 && !reassign) {
    refuse({ kind: 'moveNotAllowed', addresses: moves.map(({ address }) => address) });
  }
  const moved = moves.map(({ address }) => address);
  const fresh = { ...wanted, addresses: missing.filter((address) => !moved.includes(address)) };
  refuseBeyondSlots(network, record, slotsOf(fresh) + moved.length);
  const claimed = claim(network, record.subnetId, fresh);
  for (const move of moves) takeFrom(network, move, id);
  network.put('interfaces', {
    ...record,
    addresses: [...record.addresses, ...moved, ...claimed.addresses],
    prefixes: [...record.prefixes, ...claimed.prefixes],
  });
  return { addresses: [...present, ...moved, ...claimed.addresses], prefixes: claimed.prefixes };
}

/** Unassigns secondary addresses and prefixes, all or none. */
export function unassign(network: CloudNetwork, id: string, unwanted: Claimed): void {
  const record = network.find('interfaces', id);
  refuseManaged(record);
  const addresses = [...new Set(unwanted.addresses)].map((text) => formatIpv4(readAddress(text)));
  const prefixes = [...new Set(unwanted.prefixes)];
  prefixes.forEach(readPrefix);
  if (addresses.includes(record.primaryAddress)) {
    refuse({ kind: 'primaryNotReleasable', address: record.primaryAddress });
  }
  const known =
    addresses.every((address) => record.addresses.includes(address)) &&
    prefixes.every((prefix) => record.prefixes.includes(prefix));
  if (!known) refuse({ kind: 'notAssigned', interfaceId: id });
  release(network, record.subnetId, { addresses, prefixes });
  dissociate(network, id, addresses);
  network.put('interfaces', {
    ...record,
    addresses: record.addresses.filter((address) => !addresses.includes(address)),
    prefixes: record.prefixes.filter((prefix) => !prefixes.includes(prefix)),
  });
}

/** Assigns IPv6 addresses and prefixes; returns the new ones. Refuses more than the type's limit. */
export function assignIpv6(network: CloudNetwork, id: string, wanted: Ipv6Claim): Ipv6Held {
  const record = network.find('interfaces', id);
  refuseManaged(record);
  if (wanted.prefixCount + wanted.prefixes.length > 0) refusePrefixesOnXen(network, record);
  refuseBeyondIpv6(network, record, ipv6SlotsOf(wanted));
  const claimed = claimIpv6(network, record.subnetId, wanted);
  network.put('interfaces', {
    ...record,
    ipv6Addresses: [...record.ipv6Addresses, ...claimed.ipv6Addresses],
    ipv6Prefixes: [...record.ipv6Prefixes, ...claimed.ipv6Prefixes],
  });
  return claimed;
}

/** Unassigns IPv6 addresses and prefixes, all or none. */
export function unassignIpv6(network: CloudNetwork, id: string, unwanted: Ipv6Held): void {
  const record = network.find('interfaces', id);
  refuseManaged(record);
  const { ipv6Addresses, ipv6Prefixes } = unwanted;
  const known =
    ipv6Addresses.every((address) => record.ipv6Addresses.includes(address)) &&
    ipv6Prefixes.every((prefix) => record.ipv6Prefixes.includes(prefix));
  if (!known) refuse({ kind: 'notAssigned', interfaceId: id });
  releaseIpv6(network, record.subnetId, unwanted);
  network.put('interfaces', {
    ...record,
    ipv6Addresses: record.ipv6Addresses.filter((address) => !ipv6Addresses.includes(address)),
    ipv6Prefixes: record.ipv6Prefixes.filter((prefix) => !ipv6Prefixes.includes(prefix)),
  });
}

interface Move {
  readonly address: string;
  readonly holder: string;
}

/** The addresses that other interfaces of the subnet hold; refuses those that cannot move. */
function movesOf(
  network: CloudNetwork,
  target: NetworkInterface,
  addresses: readonly string[],
): readonly Move[] {
  const held = addresses.filter(
    (address) => network.space(target.subnetId).obstacleTo(readAddress(address)) === 'held',
  );
  if (held.length === 0) return [];
  const neighbours = [...network.interfaces.values()].filter((other) => other.subnetId === target.subnetId);
  return held.map((address) => {
    const holder = neighbours.find((other) => holds(other, address));
    if (holder?.primaryAddress === address) refuse({ kind: 'moveOfPrimary', address });
    if (holder?.addresses.includes(address) !== true) return refuse({ kind: 'addressHeld', address });
    refuseManaged(holder);
    return { address, holder: holder.id };
  });
}

function holds(record: NetworkInterface, address: string): boolean {
  const inPrefix = (): boolean =>
    record.prefixes.some((prefix) => contains(readPrefix(prefix), readAddress(address)));
  return record.addresses.includes(address) || inPrefix();
}

/** Removes the address from its holder; an associated public address moves with it. */
function takeFrom(network: CloudNetwork, { address, holder: holderId }: Move, interfaceId: string): void {
  const holder = network.interfaces.get(holderId);
  if (holder === undefined) return;
  for (const record of network.all('publicAddresses').values()) {
    const { association } = record;
    if (association?.interfaceId !== holderId || association.privateAddress !== address) continue;
    network.put('publicAddresses', { ...record, association: { ...association, interfaceId } });
  }
  const addresses = holder.addresses.filter((other) => other !== address);
  network.put('interfaces', { ...holder, addresses });
}

function refuseManaged(record: NetworkInterface): void {
  if (record.requesterManaged) refuse({ kind: 'managedInterface', interfaceId: record.id });
}
