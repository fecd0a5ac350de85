// The blocks of one CIDR, one bit each, taken or free. Their order is that of the peers: the next block is the first free
// one after the last that was given out, so that a freed block rests for a whole lap.
import { type Cidr, contains, widthOf } from './cidr.ts';

/** Blocks by index, both ends included. */
export interface BlockRange {
  readonly first: number;
  readonly last: number;
}

export type BlockShape =
  | { readonly kind: 'shape'; readonly capacity: number }
  /** `why` is worded to follow "because". */
  | { readonly kind: 'invalid'; readonly why: string };

/** Bits of the index of a block. */
const maxIndexBits = { ipv4: 24, ipv6: 16 } as const;

/** Whether `cidr` can be divided into blocks of prefix length `maskSize`. */
export function blockShape(cidr: Cidr, maskSize: number): BlockShape {
  if (maskSize > widthOf[cidr.family])
    return { kind: 'invalid', why: `the mask size is greater than ${widthOf[cidr.family]}` };
  const bits = maskSize - cidr.length;
  if (bits < 0)
    return { kind: 'invalid', why: `its prefix length is greater than the mask size, which is ${maskSize}` };
  const max = maxIndexBits[cidr.family];
  if (bits > max)
    return {
      kind: 'invalid',
      why: `its prefix length is more than ${max} less than the mask size, which is ${maskSize}`,
    };
  return { kind: 'shape', capacity: 2 ** bits };
}

export interface Allocation {
  readonly index: number;
  /** Taken blocks that were passed over. */
  readonly passed: number;
}

const full = 0xffff_ffff;

export class BlockSet {
  readonly cidr: Cidr;
  /** Prefix length of a block. */
  readonly maskSize: number;
  readonly capacity: number;
  /** A bit for each block: taken. */
  readonly #taken: Uint32Array;
  /** A bit for each word above: no block in it is free. */
  readonly #fullWords: Uint32Array;
  #count = 0;
  #next = 0;

  /** Throws if `blockShape` refuses. */
  constructor(cidr: Cidr, maskSize: number) {
    const shape = blockShape(cidr, maskSize);
    if (shape.kind === 'invalid') throw new RangeError(shape.why);
    this.cidr = cidr;
    this.maskSize = maskSize;
    this.capacity = shape.capacity;
    this.#taken = new Uint32Array(Math.ceil(shape.capacity / 32));
    this.#fullWords = new Uint32Array(Math.ceil(this.#taken.length / 32));
    // Bits beyond the capacity are never free.
    if (shape.capacity < 32) this.#taken[0] = full << shape.capacity;
    const spareWords = this.#taken.length % 32;
    if (spareWords > 0) this.#fullWords[this.#fullWords.length - 1] = full << spareWords;
  }

  /** Taken blocks. */
  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count === this.capacity;
  }

  isTaken(index: number): boolean {
    return (((this.#taken[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
  }

  /** Takes the next free block; undefined if all are taken. */
  allocate(): Allocation | undefined {
    if (this.isFull) return undefined;
    const start = this.#next;
    const ahead = this.#firstFree(start);
    const index = ahead < this.capacity ? ahead : this.#firstFree(0);
    this.take(index);
    this.#next = (index + 1) % this.capacity;
    return { index, passed: index >= start ? index - start : this.capacity - start + index };
  }

  /** Takes one block; does nothing if it is taken. */
  take(index: number): void {
    if (this.isTaken(index)) return;
    const word = index >>> 5;
    const bits = ((this.#taken[word] ?? 0) | (1 << (index & 31))) >>> 0;
    this.#taken[word] = bits;
    if (bits === full) this.#fullWords[word >>> 5] = (this.#fullWords[word >>> 5] ?? 0) | (1 << (word & 31));
    this.#count++;
  }

  /** Frees one block; does nothing if it is free. */
  free(index: number): void {
    if (!this.isTaken(index)) return;
    const word = index >>> 5;
    this.#taken[word] = (this.#taken[word] ?? 0) & ~(1 << (index & 31));
    this.#fullWords[word >>> 5] = (this.#fullWords[word >>> 5] ?? 0) & ~(1 << (word & 31));
    this.#count--;
  }

  /** The blocks of which `other` holds any part; undefined if it is outside. */
  rangeOf(other: Cidr): BlockRange | undefined {
    if (contains(other, this.cidr)) return { first: 0, last: this.capacity - 1 };
    if (!contains(this.cidr, other)) return undefined;
    const blockBits = BigInt(widthOf[this.cidr.family] - this.maskSize);
    const first = Number((other.base - this.cidr.base) >> blockBits);
    return { first, last: first + 2 ** Math.max(0, this.maskSize - other.length) - 1 };
  }

  blockAt(index: number): Cidr {
    const { family, base } = this.cidr;
    const blockBits = BigInt(widthOf[family] - this.maskSize);
    return { family, base: base + (BigInt(index) << blockBits), length: this.maskSize };
  }

  /** The first free block at `from` or later; at least the capacity if there is none. */
  #firstFree(from: number): number {
    let word = from >>> 5;
    const rest = (~(this.#taken[word] ?? full) & (full << (from & 31))) >>> 0;
    if (rest !== 0) return word * 32 + lowest(rest);
    word = this.#firstWordWithRoom(word + 1);
    const bits = ~(this.#taken[word] ?? full) >>> 0;
    return bits === 0 ? this.capacity : word * 32 + lowest(bits);
  }

  #firstWordWithRoom(from: number): number {
    let group = from >>> 5;
    const rest = (~(this.#fullWords[group] ?? full) & (full << (from & 31))) >>> 0;
    if (rest !== 0) return group * 32 + lowest(rest);
    for (group++; group < this.#fullWords.length; group++) {
      const bits = ~(this.#fullWords[group] ?? full) >>> 0;
      if (bits !== 0) return group * 32 + lowest(bits);
    }
    return this.#taken.length;
  }
}

/** The lowest set bit. */
function lowest(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
