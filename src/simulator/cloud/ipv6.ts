// IPv6 addresses and blocks, as far as /64 subnets and /80 prefixes need them.
import { isIPv6 } from 'node:net';

export interface Ipv6Block {
  /** The lowest address. */
  readonly first: bigint;
  /** Length of the network part in bits. */
  readonly length: number;
}

/** The address as a number; undefined for malformed text. Rejects zones and embedded IPv4. */
export function parseIpv6(text: string): bigint | undefined {
  if (!isIPv6(text) || /[.%]/.test(text)) return undefined;
  const [head = '', tail] = text.split('::');
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return groups.reduce((address, group) => (address << 16n) | BigInt(`0x${group}`), 0n);
}

/** The block that contains `text`, with host bits cleared. */
export function parseIpv6Block(text: string): Ipv6Block | undefined {
  const [address, bits, ...rest] = text.split('/');
  const base = parseIpv6(address ?? '');
  const length = Number(bits);
  if (base === undefined || rest.length > 0 || !/^\d{1,3}$/.test(bits ?? '') || length > 128)
    return undefined;
  const host = BigInt(128 - length);
  return { first: (base >> host) << host, length };
}

/** The shortest form (RFC 5952): the longest run of zero groups becomes `::`. */
export function formatIpv6(address: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((address >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  const run = longestZeroRun(groups);
  if (run.length < 2) return groups.join(':');
  return `${groups.slice(0, run.start).join(':')}::${groups.slice(run.start + run.length).join(':')}`;
}

export function formatIpv6Block(block: Ipv6Block): string {
  return `${formatIpv6(block.first)}/${block.length}`;
}

export function containsIpv6(block: Ipv6Block, address: bigint): boolean {
  return address >= block.first && address < block.first + (1n << BigInt(128 - block.length));
}

export function overlapIpv6(a: Ipv6Block, b: Ipv6Block): boolean {
  return containsIpv6(a, b.first) || containsIpv6(b, a.first);
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

function longestZeroRun(groups: readonly string[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  groups.forEach((group, index) => {
    if (group !== '0') start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  });
  return best;
}
