// Hands out the addresses of one block of this node. Unless said otherwise, the first and the last address of the block are
// never used, except in a block of at most two, and the first usable one is its router. The next address is the first free one from
// a random place on, so that a released address is rarely used again at once.
import { type Cidr, cidrText, contains, type Family, only, widthOf } from '../../blocks/set/cidr.ts';
import type { Random } from '../../runtime/random.ts';
import { failed, ok, type Outcome } from '../ipam/ipam-error.ts';
import type { AddressDetails, Allocator, NextRequest, PodNetwork } from './allocator.ts';

/** Addresses of one word. */
const wordBits = 32n;
const fullWord = 0xffff_ffff;

/** Which addresses of a block are used, where it is not the network of its pods. */
export interface BlockEnds {
  readonly allowsFirst: boolean;
  readonly allowsLast: boolean;
}

/** A free address. */
export interface Ranked {
  readonly address: bigint;
  readonly rank: number;
}

export class HostScopeAllocator implements Allocator {
  readonly family: Family;
  readonly cidrs: readonly string[];
  readonly router: bigint | undefined;
  readonly #cidr: Cidr;
  readonly #random: Random;
  /** A bit for each taken offset; only words that have one. Memory follows use, whatever the size of the block. */
  readonly #words = new Map<bigint, number>();
  #taken = 0;
  /** Ranges of offsets from the base of the block. */
  readonly #excluded = new ExcludedRanges();
  #takenOfExcluded = 0;
  /** The offset of the first usable address. */
  readonly #min: bigint;
  readonly #max: bigint;

  /** A block with `ends` has no router. */
  constructor(cidr: Cidr, random: Random, ends?: BlockEnds, router?: bigint) {
    this.#cidr = cidr;
    this.#random = random;
    this.family = cidr.family;
    this.cidrs = [cidrText(cidr)];
    const size = 1n << BigInt(widthOf[cidr.family] - cidr.length);
    const { allowsFirst, allowsLast } = usedEnds(size, ends);
    this.#min = allowsFirst ? 0n : 1n;
    this.#max = allowsLast ? size - 1n : size - 2n;
    const hasRouter = ends === undefined && this.#max >= this.#min;
    this.router = hasRouter ? (router ?? cidr.base + this.#min) : undefined;
  }

  /** The number of usable addresses. An excluded address counts only while it is taken. */
  get capacity(): bigint {
    const usable = this.#max - this.#min + 1n;
    return usable > 0n ? usable - this.#excluded.size + BigInt(this.#takenOfExcluded) : 0n;
  }

  get taken(): number {
    return this.#taken;
  }

  covers(address: bigint): boolean {
    return contains(this.#cidr, only({ family: this.family, value: address }));
  }

  allocate(address: bigint): Outcome<bigint> {
    const offset = address - this.#cidr.base;
    if (offset < this.#min || offset > this.#max) {
      const range = cidrText(this.#cidr);
      return failed(
        'outOfRange',
        `provided IP is not in the valid range. The range of valid IPs is ${range}`,
      );
    }
    if (this.#isTaken(offset)) return failed('inUse', 'provided IP is already allocated');
    this.#take(offset);
    return ok(address);
  }

  allocateNext({ rank }: Pick<NextRequest, 'rank'>): Outcome<bigint> {
    const next = this.next(rank);
    return next === undefined ? failed('exhausted', 'range is full') : this.allocate(next.address);
  }

  /** Which address is given next; undefined if none is free. */
  next(rankOf: NextRequest['rank']): Ranked | undefined {
    if (BigInt(this.#taken) >= this.capacity) return undefined;
    const start = this.#min + this.#randomBelow(this.#max - this.#min + 1n);
    let lowest: Ranked | undefined;
    for (const [from, to] of [
      [start, this.#max],
      [this.#min, start - 1n],
    ] as const) {
      for (let offset = this.#firstFree(from, to); offset !== undefined; ) {
        const address = this.#cidr.base + offset;
        const rank = rankOf(address);
        if (rank === 0) return { address, rank };
        if (lowest === undefined || rank < lowest.rank) lowest = { address, rank };
        offset = this.#firstFree(offset + 1n, to);
      }
    }
    return lowest;
  }

  exclude({ family, base, length }: Cidr): void {
    if (family !== this.family) return;
    const first = base - this.#cidr.base;
    const last = first + (1n << BigInt(widthOf[family] - length)) - 1n;
    const [from, to] = [first > this.#min ? first : this.#min, last < this.#max ? last : this.#max];
    if (from > to) return;
    this.#excluded.add(from, to);
    this.#takenOfExcluded = this.#countExcluded();
  }

  restore(address: bigint): void {
    this.allocate(address);
  }

  details(): AddressDetails {
    return {};
  }

  /** The gateway is the router, else the first address if no pod gets it. */
  networkOf(): PodNetwork {
    const gateway = this.router ?? (this.#min > 0n ? this.#cidr.base : undefined);
    return { length: this.#cidr.length, gateway };
  }

  release(address: bigint): void {
    const offset = address - this.#cidr.base;
    if (!this.covers(address) || !this.#isTaken(offset)) return;
    const key = offset / wordBits;
    const word = ((this.#words.get(key) ?? 0) & ~bitOf(offset)) >>> 0;
    if (word === 0) this.#words.delete(key);
    else this.#words.set(key, word);
    this.#taken--;
    if (this.#excluded.has(offset)) this.#takenOfExcluded--;
  }

  status(): string {
    return `${this.#taken}/${this.capacity} allocated from ${cidrText(this.#cidr)}`;
  }

  #isTaken(offset: bigint): boolean {
    return ((this.#words.get(offset / wordBits) ?? 0) & bitOf(offset)) !== 0;
  }

  #take(offset: bigint): void {
    const key = offset / wordBits;
    this.#words.set(key, ((this.#words.get(key) ?? 0) | bitOf(offset)) >>> 0);
    this.#taken++;
    if (this.#excluded.has(offset)) this.#takenOfExcluded++;
  }

  #firstFree(from: bigint, to: bigint): bigint | undefined {
    let offset = from;
    while (offset <= to) {
      const word = this.#words.get(offset / wordBits) ?? 0;
      const next = this.#excluded.next(offset);
      if (next !== offset) offset = next;
      else if (word === fullWord) offset = (offset / wordBits + 1n) * wordBits;
      else if ((word & bitOf(offset)) !== 0) offset++;
      else return offset;
    }
    return undefined;
  }

  #countExcluded(): number {
    let count = 0;
    for (const [key, word] of this.#words)
      for (let bit = 0n; bit < wordBits; bit++)
        if ((word & bitOf(bit)) !== 0 && this.#excluded.has(key * wordBits + bit)) count++;
    return count;
  }

  #randomBelow(bound: bigint): bigint {
    return bound <= 0xffff_ffffn
      ? BigInt(this.#random.integer(Number(bound)))
      : BigInt(`0x${this.#random.hex(40)}`) % bound;
  }
}

function usedEnds(size: bigint, ends: BlockEnds | undefined): BlockEnds {
  if (size <= 2n) return { allowsFirst: true, allowsLast: true };
  return ends ?? { allowsFirst: false, allowsLast: false };
}

function bitOf(offset: bigint): number {
  return 1 << Number(offset % wordBits);
}

interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

/** Ranges of numbers that are left out, merged and in order. */
export class ExcludedRanges {
  #ranges: readonly Range[] = [];

  /** From the first to the last, both included. */
  add(from: bigint, to: bigint): void {
    const merged: Range[] = [];
    for (const range of [...this.#ranges, { from, to }].toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
      const last = merged.at(-1);
      if (last === undefined || range.from > last.to + 1n) merged.push(range);
      else if (range.to > last.to) merged[merged.length - 1] = { from: last.from, to: range.to };
    }
    this.#ranges = merged;
  }

  /** How many numbers. */
  get size(): bigint {
    return this.#ranges.reduce((sum, { from, to }) => sum + to - from + 1n, 0n);
  }

  has(value: bigint): boolean {
    return this.next(value) !== value;
  }

  /** The number itself, or the first one behind its range. */
  next(value: bigint): bigint {
    const range = this.#ranges.find(({ from, to }) => from <= value && value <= to);
    return range === undefined ? value : range.to + 1n;
  }
}
