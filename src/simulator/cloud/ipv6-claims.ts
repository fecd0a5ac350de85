// Takes IPv6 addresses and prefixes of a subnet for one interface, all or nothing, and releases them.
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import { formatIpv6, formatIpv6Block, type Ipv6Block, parseIpv6, parseIpv6Block } from './ipv6.ts';
import { type Ipv6Space, ipv6PrefixLength } from './ipv6-space.ts';
import type { NetworkInterface } from './records.ts';

export interface Ipv6Claim {
  readonly count: number;
  readonly addresses: readonly string[];
  readonly prefixCount: number;
  readonly prefixes: readonly string[];
}

/** An empty claim, as a base for others. */
export const noIpv6: Ipv6Claim = { count: 0, addresses: [], prefixCount: 0, prefixes: [] };

type Ipv6Held = Pick<NetworkInterface, 'ipv6Addresses' | 'ipv6Prefixes'>;

/** IPv6 slots of an interface that a claim fills. */
export function ipv6SlotsOf(claim: Ipv6Claim): number {
  return claim.count + claim.addresses.length + claim.prefixCount + claim.prefixes.length;
}

/** Takes what is requested, or refuses and takes nothing. */
export function claimIpv6(network: CloudNetwork, subnetId: string, wanted: Ipv6Claim): Ipv6Held {
  if (ipv6SlotsOf(wanted) === 0) return { ipv6Addresses: [], ipv6Prefixes: [] };
  const space = network.ipv6Space(subnetId) ?? refuse({ kind: 'noIpv6', subnetId });
  const addresses = wanted.addresses.map(readIpv6);
  const prefixes = wanted.prefixes.map(readIpv6Prefix);
  const held: { addresses: bigint[]; prefixes: bigint[] } = { addresses: [], prefixes: [] };
  try {
    for (const address of addresses) {
      if (!space.holdAddress(address)) refuse({ kind: 'addressHeld', address: formatIpv6(address) });
      held.addresses.push(address);
    }
    for (const prefix of prefixes) {
      if (!space.holdPrefix(prefix)) refuse({ kind: 'prefixHeld', prefix: formatIpv6Block(prefix) });
      held.prefixes.push(prefix.first);
    }
    for (let taken = 0; taken < wanted.prefixCount; taken++) held.prefixes.push(takePrefix(space, subnetId));
  } catch (refusal) {
    held.addresses.forEach((address) => space.releaseAddress(address));
    held.prefixes.forEach((prefix) => space.releasePrefix(prefix));
    throw refusal;
  }
  for (let taken = 0; taken < wanted.count; taken++) held.addresses.push(space.takeAddress());
  return {
    ipv6Addresses: held.addresses.map(formatIpv6),
    ipv6Prefixes: held.prefixes.map((first) => formatIpv6Block({ first, length: ipv6PrefixLength })),
  };
}

/** Releases what was taken. */
export function releaseIpv6(network: CloudNetwork, subnetId: string, held: Ipv6Held): void {
  const space = network.ipv6Space(subnetId);
  for (const address of held.ipv6Addresses) space?.releaseAddress(readIpv6(address));
  for (const prefix of held.ipv6Prefixes) space?.releasePrefix(readIpv6Prefix(prefix).first);
}

/** The address as a number; refuses malformed text. */
export function readIpv6(text: string): bigint {
  return parseIpv6(text) ?? refuse({ kind: 'addressMalformed', address: text });
}

/** A /80 prefix; refuses anything else. */
export function readIpv6Prefix(text: string): Ipv6Block {
  const block = parseIpv6Block(text);
  if (block?.length !== ipv6PrefixLength) return refuse({ kind: 'prefixMalformed', prefix: text });
  return block;
}

function takePrefix(space: Ipv6Space, subnetId: string): bigint {
  return space.takePrefix() ?? refuse({ kind: 'noFreeBlock', subnetId });
}
