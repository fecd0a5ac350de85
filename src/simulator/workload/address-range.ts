// The addresses of one CIDR, first and last included, and which of them are taken.
import type { Random } from '../../runtime/random.ts';
import { type Cidr, sizeOf } from './ipv4.ts';

export class AddressRange {
  readonly #first: number;
  readonly #size: number;
  readonly #taken = new Set<number>();

  constructor(cidr: Cidr) {
    this.#first = cidr.first;
    this.#size = sizeOf(cidr);
  }

  get used(): number {
    return this.#taken.size;
  }

  get free(): number {
    return this.#size - this.#taken.size;
  }

  covers(address: number): boolean {
    return address >= this.#first && address < this.#first + this.#size;
  }

  /** Takes the address; returns false if it is outside the range or taken. */
  take(address: number): boolean {
    if (!this.covers(address) || this.#taken.has(address)) return false;
    this.#taken.add(address);
    return true;
  }

  /** Takes the first free address from a random start, wrapping around; undefined if all are taken. */
  takeAny(random: Random): number | undefined {
    if (this.free === 0) return undefined;
    const start = random.integer(this.#size);
    for (let step = 0; step < this.#size; step++) {
      const address = this.#first + ((start + step) % this.#size);
      if (this.take(address)) return address;
    }
    return undefined;
  }

  release(address: number): void {
    this.#taken.delete(address);
  }
}
