// The addresses of one CIDR of either family, first and last included, and which of them are taken.
import type { Random } from '../../runtime/random.ts';
import { formatIpv6, type Ipv6Block, parseIpv6, parseIpv6Block } from '../cloud/ipv6.ts';
import { type Cidr, formatAddress, parseAddress, parseCidr, sizeOf } from './ipv4.ts';

/** A CIDR of IPv4, or one of IPv6. */
export type AnyCidr = Cidr | Ipv6Block;

export class AddressRange {
  readonly #cidr: AnyCidr;
  readonly #size: number;
  /** By their distance from the first address. */
  readonly #taken = new Set<number>();

  constructor(cidr: AnyCidr) {
    this.#cidr = cidr;
    this.#size = addressesIn(cidr);
  }

  get used(): number {
    return this.#taken.size;
  }

  get free(): number {
    return this.#size - this.#taken.size;
  }

  /** Takes the address; returns false if it is outside the range or taken. */
  take(address: string): boolean {
    const offset = offsetIn(this.#cidr, address);
    if (offset === undefined || this.#taken.has(offset)) return false;
    this.#taken.add(offset);
    return true;
  }

  /** Takes the first free address from a random start, wrapping around; undefined if all are taken. */
  takeAny(random: Random): string | undefined {
    if (this.free === 0) return undefined;
    let offset = random.integer(this.#size);
    while (this.#taken.has(offset)) offset = (offset + 1) % this.#size;
    this.#taken.add(offset);
    return addressAt(this.#cidr, offset);
  }

  release(address: string): void {
    this.#taken.delete(offsetIn(this.#cidr, address) ?? -1);
  }
}

/** Number of addresses, first and last included; exact up to that of a /76 of IPv6. */
export function addressesIn(cidr: AnyCidr): number {
  return 'bits' in cidr ? sizeOf(cidr) : 2 ** (128 - cidr.length);
}

/** Whether a CIDR contains an address; false for text that is neither. */
export function contains(cidr: string, address: string): boolean {
  const range = cidr.includes(':') ? parseIpv6Block(cidr) : parseCidr(cidr);
  return range !== undefined && offsetIn(range, address) !== undefined;
}

/** Undefined outside the CIDR. */
function offsetIn(cidr: AnyCidr, address: string): number | undefined {
  if ('bits' in cidr) {
    const offset = (parseAddress(address) ?? -1) - cidr.first;
    return offset >= 0 && offset < addressesIn(cidr) ? offset : undefined;
  }
  const offset = Number((parseIpv6(address) ?? -1n) - cidr.first);
  return offset >= 0 && offset < addressesIn(cidr) ? offset : undefined;
}

function addressAt(cidr: AnyCidr, offset: number): string {
  return 'bits' in cidr ? formatAddress(cidr.first + offset) : formatIpv6(cidr.first + BigInt(offset));
}
