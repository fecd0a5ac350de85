// Takes addresses and prefixes of a subnet for one interface, all or nothing, and releases them.
import type { AddressSpace, Obstacle } from './address-space.ts';
import type { CloudNetwork } from './cloud-network.ts';
import { type CloudProblem, refuse } from './cloud-refusal.ts';
import { contains, formatIpv4, formatIpv4Block, type Ipv4Block, parseIpv4, parseIpv4Block } from './ipv4.ts';

/** The request: a count of any, plus given ones. */
export interface Claim {
  readonly count: number;
  readonly addresses: readonly string[];
  readonly prefixCount: number;
  readonly prefixes: readonly string[];
}

/** The addresses that were taken, given ones first. */
export interface Claimed {
  readonly addresses: readonly string[];
  readonly prefixes: readonly string[];
}

/** An empty claim, as a base for others. */
export const nothing: Claim = { count: 0, addresses: [], prefixCount: 0, prefixes: [] };

/** Address slots that a claim fills: a prefix fills one, like an address. */
export function slotsOf(claim: Claim): number {
  return claim.count + claim.addresses.length + claim.prefixCount + claim.prefixes.length;
}

/** Takes what is requested, or refuses and takes nothing. */
export function claim(network: CloudNetwork, subnetId: string, wanted: Claim): Claimed {
  const space = network.space(subnetId);
  const addresses = wanted.addresses.map((text) => addressToHold(space, text));
  const prefixes = wanted.prefixes.map((text) => prefixToHold(space, text));
  refuseRepeated(addresses, prefixes);
  addresses.forEach((address) => space.holdAddress(address));
  prefixes.forEach((prefix) => space.holdPrefix(prefix.first));
  const shortage = space.shortage(wanted.count, wanted.prefixCount);
  if (shortage !== undefined) {
    addresses.forEach((address) => space.releaseAddress(address));
    prefixes.forEach((prefix) => space.releasePrefix(prefix.first));
    refuse(problemOfShortage[shortage](subnetId));
  }
  // Prefixes first: a random address could break the last whole block.
  const takenPrefixes = Array.from({ length: wanted.prefixCount }, () => space.takePrefix());
  const takenAddresses = Array.from({ length: wanted.count }, () => space.takeAddress());
  network.recount(subnetId);
  return {
    addresses: [...addresses, ...takenAddresses].map(formatIpv4),
    prefixes: [...prefixes.map((prefix) => prefix.first), ...takenPrefixes].map(
      (first) => `${formatIpv4(first)}/28`,
    ),
  };
}

/** Releases what was taken. */
export function release(network: CloudNetwork, subnetId: string, claimed: Claimed): void {
  const space = network.space(subnetId);
  for (const text of claimed.addresses) space.releaseAddress(readAddress(text));
  for (const text of claimed.prefixes) space.releasePrefix(readPrefix(text).first);
  network.recount(subnetId);
}

/** The address as a number; refuses malformed text. */
export function readAddress(text: string): number {
  return parseIpv4(text) ?? refuse({ kind: 'addressMalformed', address: text });
}

/** A prefix must be written aligned: host bits are not cleared here. */
export function readPrefix(text: string): Ipv4Block {
  const block = parseIpv4Block(text);
  if (block?.length !== 28 || formatIpv4Block(block) !== text) {
    return refuse({ kind: 'prefixMalformed', prefix: text });
  }
  return block;
}

function addressToHold(space: AddressSpace, text: string): number {
  const address = readAddress(text);
  const obstacle = space.obstacleTo(address);
  return obstacle === undefined ? address : refuse(problemOfAddress[obstacle](text));
}

function prefixToHold(space: AddressSpace, text: string): Ipv4Block {
  const prefix = readPrefix(text);
  const obstacle = space.obstacleToPrefix(prefix);
  return obstacle === undefined ? prefix : refuse(problemOfPrefix[obstacle](text));
}

function refuseRepeated(addresses: readonly number[], prefixes: readonly Ipv4Block[]): void {
  const seen = new Set<number>();
  for (const address of [...addresses, ...prefixes.map((prefix) => prefix.first)]) {
    const covered = prefixes.some((prefix) => prefix.first !== address && contains(prefix, address));
    if (seen.has(address) || covered) refuse({ kind: 'addressRepeated', address: formatIpv4(address) });
    seen.add(address);
  }
}

const problemOfShortage: Record<
  NonNullable<ReturnType<AddressSpace['shortage']>>,
  (id: string) => CloudProblem
> = {
  addresses: (subnetId) => ({ kind: 'noFreeAddress', subnetId }),
  prefixAddresses: (subnetId) => ({ kind: 'noFreePrefixAddresses', subnetId }),
  blocks: (subnetId) => ({ kind: 'noFreeBlock', subnetId }),
};

const problemOfAddress: Record<Obstacle, (address: string) => CloudProblem> = {
  outside: (address) => ({ kind: 'addressOutside', address }),
  reserved: (address) => ({ kind: 'addressReserved', address }),
  held: (address) => ({ kind: 'addressHeld', address }),
  misaligned: (address) => ({ kind: 'addressMalformed', address }),
};

const problemOfPrefix: Record<Obstacle, (prefix: string) => CloudProblem> = {
  outside: (address) => ({ kind: 'addressOutside', address }),
  reserved: (address) => ({ kind: 'addressReserved', address }),
  held: (prefix) => ({ kind: 'prefixHeld', prefix }),
  misaligned: (prefix) => ({ kind: 'prefixMalformed', prefix }),
};
