// The IPv6 addresses and /80 prefixes of one subnet: which are held and which come next. A /64 is so large
// that only held ones are stored.
import type { Random } from '../../runtime/random.ts';
import { containsIpv6, formatIpv6Block, type Ipv6Block } from './ipv6.ts';

/** Length of a delegated prefix. */
export const ipv6PrefixLength = 80;

const hostBits = 48n;
/** /80 prefixes in a /64; the first one contains the cloud's own addresses and the single addresses. */
const prefixes = 2 ** (ipv6PrefixLength - 64);
/** Random attempts at a free prefix before all are looked through. */
const attempts = 64;

export class Ipv6Space {
  readonly #block: Ipv6Block;
  readonly #random: Random;
  readonly #heldPrefixes = new Set<bigint>();
  readonly #heldAddresses = new Set<bigint>();
  /** Blocks that only a request that names them may take, as text. */
  readonly #explicit = new Map<string, Ipv6Block>();

  constructor(block: Ipv6Block, random: Random) {
    this.#block = block;
    this.#random = random;
  }

  /** Takes any free /80; returns its first address, or undefined if all are held or reserved for explicit use. */
  takePrefix(): bigint | undefined {
    if (this.#reserves(this.#block.first, this.#block.length)) return undefined;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const first = this.#prefixAt(this.#random.integer(prefixes - 1));
      if (this.#isFree(first)) return this.#hold(this.#heldPrefixes, first);
    }
    for (let index = 0; index < prefixes - 1; index++) {
      const first = this.#prefixAt(index);
      if (this.#isFree(first)) return this.#hold(this.#heldPrefixes, first);
    }
    return undefined;
  }

  /** Keeps a block for requests that name its addresses or prefixes. What is held in it stays held. */
  reserveExplicitly(block: Ipv6Block): void {
    this.#explicit.set(formatIpv6Block(block), block);
  }

  /** Ends a reservation. */
  open(block: Ipv6Block): void {
    this.#explicit.delete(formatIpv6Block(block));
  }

  /** Takes any free address outside the delegable prefixes. */
  takeAddress(): bigint {
    for (;;) {
      const address = this.#block.first + 0x10n + BigInt(`0x${this.#random.hex(11)}`);
      if (!this.#heldAddresses.has(address)) return this.#hold(this.#heldAddresses, address);
    }
  }

  /** Holds a given /80; false if it is outside the subnet, unaligned or held. */
  holdPrefix(prefix: Ipv6Block): boolean {
    const free = prefix.length === ipv6PrefixLength && containsIpv6(this.#block, prefix.first);
    if (!free || this.#heldPrefixes.has(prefix.first)) return false;
    this.#hold(this.#heldPrefixes, prefix.first);
    return true;
  }

  /** Holds a given address; false if it is outside the subnet or held. */
  holdAddress(address: bigint): boolean {
    const prefix = (address >> hostBits) << hostBits;
    const held = this.#heldAddresses.has(address) || this.#heldPrefixes.has(prefix);
    if (held || !containsIpv6(this.#block, address)) return false;
    this.#hold(this.#heldAddresses, address);
    return true;
  }

  releasePrefix(first: bigint): void {
    this.#heldPrefixes.delete(first);
  }

  releaseAddress(address: bigint): void {
    this.#heldAddresses.delete(address);
  }

  #prefixAt(index: number): bigint {
    return this.#block.first + (BigInt(1 + index) << hostBits);
  }

  #isFree(prefix: bigint): boolean {
    return !this.#heldPrefixes.has(prefix) && !this.#reserves(prefix, ipv6PrefixLength);
  }

  #reserves(first: bigint, length: number): boolean {
    for (const block of this.#explicit.values())
      if (block.length <= length && containsIpv6(block, first)) return true;
    return false;
  }

  #hold(set: Set<bigint>, member: bigint): bigint {
    set.add(member);
    return member;
  }
}
