// Judges blocks by what pods use: no two machines may use the same part of a network, and no machine's block may change.
import type { BlockMachine } from '../workload/block-machine.ts';

interface Range {
  readonly first: bigint;
  readonly last: bigint;
}

/** The addresses of a CIDR; those of IPv6 lie above those of IPv4. */
function rangeOf(cidr: string): Range {
  const [address = '', length = '0'] = cidr.split('/');
  const isIpv6 = address.includes(':');
  const base = isIpv6 ? (1n << 128n) | ipv6Of(address) : ipv4Of(address);
  const hostBits = BigInt((isIpv6 ? 128 : 32) - Number(length));
  const first = (base >> hostBits) << hostBits;
  return { first, last: first + (1n << hostBits) - 1n };
}

function ipv4Of(address: string): bigint {
  return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

function ipv6Of(address: string): bigint {
  const [head = '', tail = ''] = address.split('::');
  const [before, after] = [head, tail].map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - (before?.length ?? 0) - (after?.length ?? 0) }, () => '0');
  const groups = [...(before ?? []), ...zeros, ...(after ?? [])];
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

/** Two holders that use a part of a network at once. */
export interface SharedBlock {
  readonly names: readonly [string, string];
  readonly cidrs: readonly [string, string];
  /** One sentence. */
  readonly text: string;
}

/** Every overlap of what pods of two machines use. */
export function sharedBlocks(
  machines: Iterable<Pick<BlockMachine, 'inUse' | 'name'>>,
): readonly SharedBlock[] {
  const used = [...machines]
    .flatMap(({ name, inUse }) => inUse.map((cidr) => ({ name, cidr, ...rangeOf(cidr) })))
    .toSorted((a, b) => (a.first < b.first ? -1 : 1));
  return used.flatMap((one, index) => {
    const shared: SharedBlock[] = [];
    for (let next = index + 1; next < used.length; next++) {
      const other = used[next];
      if (other === undefined || other.first > one.last) break;
      const text = `pods of ${one.name} and ${other.name} use ${one.cidr} and ${other.cidr}`;
      if (other.name !== one.name)
        shared.push({ names: [one.name, other.name], cidrs: [one.cidr, other.cidr], text });
    }
    return shared;
  });
}
