// The interfaces that a published status shows. An agent may use every address that it is shown, so whatever asks
// whether an address is hidden asks here.
import { type Block, blockAround, contains, formatAddress, parseAddress, sizeOf } from './ipv4.ts';
import { prefixSize } from './network-interface.ts';

export interface ShownInterface {
  /** IPv4. */
  readonly addresses: readonly string[];
  /** IPv4 blocks. An agent may use each address in them, listed or not. */
  readonly prefixes: readonly string[];
  /** IPv6 blocks, which agents know as a whole; absent if there are none. */
  readonly ipv6Prefixes?: readonly string[];
}

/** By interface id. */
export type ShownInterfaces = ReadonlyMap<string, ShownInterface>;

/** Whether any of the interfaces shows an address, by itself or within a prefix, or an IPv6 prefix. */
export function isShownOn(interfaces: ShownInterfaces): (address: string) => boolean {
  const single = new Set([
    ...[...interfaces.values()].flatMap(({ addresses }) => addresses),
    ...ipv6PrefixesOn(interfaces),
  ]);
  const blocks = blocksOn(interfaces);
  if (blocks.length === 0) return (address) => single.has(address);
  return (address) =>
    single.has(address) || blocks.some((block) => contains(block, parseAddress(address) ?? -1));
}

/**
 * Every address that the interfaces show. Members of a block larger than any that a cloud delegates are left out:
 * whoever writes into a CiliumNode could name the whole network by it.
 */
export function addressesOn(interfaces: ShownInterfaces): readonly string[] {
  const listed = [...interfaces.values()].flatMap(({ addresses }) => addresses);
  const members = blocksOn(interfaces)
    .filter((block) => sizeOf(block) <= prefixSize)
    .flatMap(addressesIn);
  return members.length === 0 ? listed : [...new Set([...listed, ...members])];
}

/** IPv6 prefixes that the interfaces show. */
export function ipv6PrefixesOn(interfaces: ShownInterfaces): readonly string[] {
  return [...interfaces.values()].flatMap(({ ipv6Prefixes = [] }) => ipv6Prefixes);
}

function blocksOn(interfaces: ShownInterfaces): readonly Block[] {
  return [...interfaces.values()].flatMap(({ prefixes }) =>
    prefixes.flatMap((prefix) => blockAround(prefix) ?? []),
  );
}

function addressesIn(block: Block): readonly string[] {
  return Array.from({ length: sizeOf(block) }, (_, offset) => formatAddress(block.first + offset));
}
