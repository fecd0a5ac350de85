// Networks of which no two overlap, found by what they share with a CIDR without a look at the others.
import { type Cidr, contains, type Family, overlaps } from './cidr.ts';

interface Entry<T> {
  readonly cidr: Cidr;
  readonly item: T;
}

export class NetworkIndex<T> {
  /** By base. */
  readonly #networks: Readonly<Record<Family, Entry<T>[]>> = { ipv4: [], ipv6: [] };

  /** `cidr` must not overlap another network. */
  add(cidr: Cidr, item: T): void {
    this.#networks[cidr.family].splice(this.#placeOf(cidr), 0, { cidr, item });
  }

  /** Deletes the network that begins where `cidr` does. */
  delete(cidr: Cidr): void {
    const place = this.#placeOf(cidr);
    const networks = this.#networks[cidr.family];
    if (networks[place]?.cidr.base === cidr.base) networks.splice(place, 1);
  }

  /** The network that holds all of `cidr`. */
  holding(cidr: Cidr): T | undefined {
    const networks = this.#networks[cidr.family];
    const place = this.#placeOf(cidr);
    const near = [networks[place], networks[place - 1]];
    return near.find((each) => each !== undefined && contains(each.cidr, cidr))?.item;
  }

  /** Networks that share an address with `cidr`, in order. */
  *sharing(cidr: Cidr): Generator<T> {
    const networks = this.#networks[cidr.family];
    const place = this.#placeOf(cidr);
    const before = networks[place - 1];
    if (before !== undefined && contains(before.cidr, cidr)) yield before.item;
    for (let index = place; index < networks.length; index++) {
      const each = networks[index];
      if (each === undefined || !overlaps(each.cidr, cidr)) return;
      yield each.item;
    }
  }

  /** The first place whose network begins with `cidr` or after it. */
  #placeOf({ family, base }: Cidr): number {
    const networks = this.#networks[family];
    let [low, high] = [0, networks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = networks[middle];
      if (entry !== undefined && entry.cidr.base < base) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
