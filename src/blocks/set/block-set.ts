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
  /** Blocks that were passed over: taken ones, or those that lie between aligned places. */
  readonly passed: number;
}

/** Blocks that are taken together: at most 2 to this power, side by side. */
export const maxTogetherBits = 4;

/** By bits: the places in a word where so many blocks may begin. */
const alignedPlaces = [0xffff_ffff, 0x5555_5555, 0x1111_1111, 0x0101_0101, 0x0001_0001] as const;

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

  /** Takes the next free block, or the next `2 ** bits` free ones that are aligned; undefined if there are none. */
  allocate(bits = 0): Allocation | undefined {
    const start = this.#next;
    const index = this.#nextFree(bits);
    if (index === undefined) return undefined;
    const size = 2 ** bits;
    for (let each = index; each < index + size; each++) this.take(each);
    this.#next = (index + size) % this.capacity;
    return { index, passed: index >= start ? index - start : this.capacity - start + index };
  }

  /** Whether `allocate` finds something. */
  hasFree(bits = 0): boolean {
    return bits === 0 ? !this.isFull : this.#nextFree(bits) !== undefined;
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

  #nextFree(bits: number): number | undefined {
    if (bits < 0 || bits > maxTogetherBits)
      throw new RangeError(`2 ** ${bits} blocks cannot be taken together`);
    return this.#firstFree(this.#next, bits) ?? this.#firstFree(0, bits);
  }

  /** The first place at `from` or later with so many free blocks; undefined if there is none. */
  #firstFree(from: number, bits: number): number | undefined {
    let [word, within] = [from >>> 5, full << (from & 31)];
    while (word < this.#taken.length) {
      const places = this.#placesIn(word, bits) & within;
      if (places !== 0) return word * 32 + lowest(places);
      word = this.#firstWordWithRoom(word + 1);
      within = full;
    }
    return undefined;
  }

  /** A bit for each place in a word where so many free blocks begin. */
  #placesIn(word: number, bits: number): number {
    let free = ~(this.#taken[word] ?? full);
    for (let step = 1; step < 2 ** bits; step *= 2) free &= free >>> step;
    return free & (alignedPlaces[bits] ?? 0);
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
