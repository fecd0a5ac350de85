// Counts the completely free /28 blocks of subnets; only these can become prefixes. The input is a listing of the
// network, so an interface missing from it makes the count too high.
import { parseBlock, parseAddress, sizeOf } from './ipv4.ts';
import { prefixSize } from './network-interface.ts';

export interface TakenAddresses {
  readonly subnetId: string;
  /** Addresses, and prefixes as `a.b.c.d/28`. */
  readonly holdings: readonly string[];
}

export class BlockCensus {
  /** Blocks of each subnet that contain an address, numbered over the whole address space. */
  readonly #touched = new Map<string, Set<number>>();

  take({ subnetId, holdings }: TakenAddresses): void {
    let touched = this.#touched.get(subnetId);
    if (touched === undefined) this.#touched.set(subnetId, (touched = new Set()));
    for (const holding of holdings) {
      const slash = holding.indexOf('/');
      const first = parseAddress(slash < 0 ? holding : holding.slice(0, slash));
      if (first !== undefined) touched.add(Math.floor(first / prefixSize));
    }
  }

  /**
   * Blocks of the subnet that may be whole. The first and the last never are: every cloud reserves addresses
   * at both ends.
   */
  wholeBlocks(subnetId: string, cidr: string): number {
    const block = parseBlock(cidr);
    if (block === undefined) return 0;
    const count = Math.floor(sizeOf(block) / prefixSize);
    const first = Math.floor(block.first / prefixSize);
    const isInside = (number: number): boolean => number > first && number < first + count - 1;
    const touched = [...(this.#touched.get(subnetId) ?? [])].filter(isInside).length;
    return Math.max(0, count - 2 - touched);
  }
}
