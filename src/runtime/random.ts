// Provides seeded randomness, the only source of chance. Each part forks it under its own name, so that draws of one
// part never change those of another.

export class Random {
  readonly #seed: string;
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  /** The same seed yields the same draws on every machine. */
  constructor(seed: string) {
    this.#seed = seed;
    this.#a = hash(seed, 0x9e3779b9);
    this.#b = hash(seed, 0x85ebca6b);
    this.#c = hash(seed, 0xc2b2ae35);
    this.#counter = hash(seed, 0x27d4eb2f) | 1;
    for (let round = 0; round < 12; round++) this.#word();
  }

  /** A source derived only from this seed and `name`, independent of earlier draws here. */
  fork(name: string): Random {
    return new Random(`${this.#seed}/${name}`);
  }

  /** A number in [0, 1). */
  next(): number {
    return this.#word() / 2 ** 32;
  }

  /** An integer in [0, below). */
  integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** One of `items`, which must not be empty. */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('cannot pick from an empty list');
    return items[this.integer(items.length)] as T;
  }

  /** True with probability `share`. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** A copy of `items` in random order. */
  shuffled<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let last = copy.length - 1; last > 0; last--) {
      const other = this.integer(last + 1);
      [copy[last], copy[other]] = [copy[other] as T, copy[last] as T];
    }
    return copy;
  }

  /** `digits` lower-case hexadecimal digits. */
  hex(digits: number): string {
    let text = '';
    while (text.length < digits) text += this.#word().toString(16).padStart(8, '0');
    return text.slice(0, digits);
  }

  /** A version 4 UUID. */
  uuid(): string {
    const hex = this.hex(32);
    const variant = '89ab'.charAt(this.integer(4));
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  /** The next 32 bits of Chris Doty-Humphrey's sfc32 (PractRand): small, fast and without known statistical flaws. */
  #word(): number {
    const sum = (this.#a + this.#b + this.#counter) >>> 0;
    this.#counter = (this.#counter + 1) >>> 0;
    this.#a = (this.#b ^ (this.#b >>> 9)) >>> 0;
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) >>> 0;
    return sum;
  }
}

/** Hashes a text to 32 bits: FNV-1a from `basis`, then MurmurHash3's finalizer. Four bases make a 128-bit seed. */
function hash(text: string, basis: number): number {
  let word = basis;
  for (let index = 0; index < text.length; index++) {
    word = Math.imul(word ^ text.charCodeAt(index), 0x01000193);
    word ^= word >>> 15;
  }
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}
