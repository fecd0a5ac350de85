// The IPv6 addresses and /80 prefixes of one subnet: which are held and which come next. A /64 is so large
// that only held ones are stored.
import type { Random } from '../../runtime/random.ts';
import { type Ipv6Block, containsIpv6 } from './ipv6.ts';

/** Length of a delegated prefix. */
export const ipv6PrefixLength = 80;

const hostBits = 48n;
/** /80 prefixes in a /64; the first one contains the cloud's own addresses and the single addresses. */
const prefixes = 2 ** (ipv6PrefixLength - 64);

export class Ipv6Space {
  readonly #block: Ipv6Block;
  readonly #random: Random;
  readonly #heldPrefixes = new Set<bigint>();
  readonly #heldAddresses = new Set<bigint>();

  constructor(block: Ipv6Block, random: Random) {
    this.#block = block;
    this.#random = random;
  }

  /** Takes any free /80; returns its first address, or undefined if all are held. */
  takePrefix(): bigint | undefined {
    if (this.#heldPrefixes.size >= prefixes - 1) return undefined;
    for (;;) {
      const index = 1 + this.#random.integer(prefixes - 1);
      const first = this.#block.first + (BigInt(index) << hostBits);
      if (!this.#heldPrefixes.has(first)) return this.#hold(this.#heldPrefixes, first);
    }
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

  #hold(set: Set<bigint>, member: bigint): bigint {
    set.add(member);
    return member;
  }
}
