// Subnet figures for reports: the free addresses that planning assumes now.
import type { Infrastructure, Subnet } from '../../providers/contract/infrastructure.ts';
import { parseBlock, sizeOf } from '../../providers/contract/ipv4.ts';
import { prefixSize } from '../../providers/contract/network-interface.ts';
import type { SubnetLedger } from '../../providers/catalog/subnet-ledger.ts';

export interface SubnetFigures {
  readonly id: string;
  readonly name?: string;
  readonly zone: string;
  readonly network: string;
  /** False if the options exclude it for pod addresses, or the cloud no longer shows it. */
  readonly eligible: boolean;
  readonly cidr: string;
  /** From which IPv6 prefixes come; absent if there is none. */
  readonly ipv6Cidr?: string;
  /** False if the subnet is known only from a CiliumNode, so its free addresses were never counted. */
  readonly counted: boolean;
  /** Addresses in its CIDR, and in its further ones. */
  readonly size: number;
  readonly free: number;
  readonly reserved: number;
  readonly exhausted: boolean;
  /** Whether the cloud recently reported too few whole blocks for prefixes in the subnet. */
  readonly fragmented: boolean;
  /** Upper bound of free whole /28 blocks; undefined until the network was listed. */
  readonly freeBlocks: number | undefined;
  /** Until no address is free, at the pace of the last day; absent while no more are taken than before. */
  readonly daysLeft?: number;
}

export interface SubnetSources {
  readonly infrastructure: Pick<Infrastructure, 'subnets'>;
  readonly wholeBlocks: ReadonlyMap<string, number>;
  readonly ledger: SubnetLedger;
  /** Days until each subnet is full, as far as known. */
  readonly daysLeft?: ReadonlyMap<string, number>;
}

/** Figures of every known subnet. `now` is monotonic. */
export function subnetFigures(
  { infrastructure, wholeBlocks, ledger, daysLeft }: SubnetSources,
  now: number,
): readonly SubnetFigures[] {
  const blocked = ledger.blocked(now);
  return [...infrastructure.subnets.values()].map((subnet) => {
    const { id, name, zone, networkId: network, eligible, cidr, otherCidrs = [], ipv6Cidr } = subnet;
    const free = ledger.free(id, now);
    const left = daysLeft?.get(id);
    return {
      id,
      ...(name !== undefined && { name }),
      zone,
      network,
      eligible,
      cidr,
      ...(ipv6Cidr !== undefined && { ipv6Cidr }),
      counted: ledger.hasCounted(id),
      size: subnetSize({ cidr, otherCidrs }),
      free,
      reserved: ledger.reserved(id),
      exhausted: blocked.has(id),
      fragmented: ledger.maxPrefixes(id, now) < Infinity,
      freeBlocks: freeBlocks({ listed: wholeBlocks.get(id), free, allowed: ledger.maxPrefixes(id, now) }),
      ...(left !== undefined && { daysLeft: left }),
    };
  });
}

/** Addresses in all blocks of a subnet. */
export function subnetSize({ cidr, otherCidrs = [] }: Pick<Subnet, 'cidr' | 'otherCidrs'>): number {
  const blocks = [cidr, ...otherCidrs].flatMap((each) => parseBlock(each) ?? []);
  return blocks.reduce((sum, block) => sum + sizeOf(block), 0);
}

/** Listed blocks minus those that must be used by now: free addresses bound the number of blocks. */
function freeBlocks(known: {
  readonly listed: number | undefined;
  readonly free: number;
  /** Prefixes that the subnet may be asked for; 0 after it refused a single one. */
  readonly allowed: number;
}): number | undefined {
  if (known.listed === undefined) return undefined;
  return known.allowed === 0 ? 0 : Math.min(known.listed, Math.floor(known.free / prefixSize));
}
