// What each controller took away by calls of its own: that it is gone it knows without any reading.
import { textsAt, type JsonObject } from '../../../src/simulator/workload/json.ts';
import { membersOf } from './assignments.ts';

export class GivenBack {
  /** Addresses by controller. */
  readonly #by = new Map<string, Set<string>>();

  /** A call of a controller took these, whether it hears of it or not. */
  took(identity: string, holdings: readonly string[]): void {
    const own = this.#by.get(identity) ?? new Set();
    for (const address of addressesOf(holdings)) own.add(address);
    this.#by.set(identity, own);
  }

  /** A call of a controller was answered: what no interface has is gone, also where it was before. */
  answered(identity: string, input: JsonObject, isHeld: (holding: string) => boolean): void {
    const named = ['PrivateIpAddresses', 'Ipv4Prefixes'].flatMap((name) => textsAt(input, name));
    this.took(
      identity,
      named.filter((holding) => !isHeld(holding)),
    );
  }

  /** Interfaces were given these. */
  forget(holdings: readonly string[]): void {
    const addresses = addressesOf(holdings);
    for (const own of this.#by.values()) for (const address of addresses) own.delete(address);
  }

  /** Whether the controller took the address away, by itself or in a prefix, and no interface was given it since. */
  has(identity: string, address: string): boolean {
    return this.#by.get(identity)?.has(address) === true;
  }
}

/** An address that goes alone may come back in a prefix, and the other way round. */
function addressesOf(holdings: readonly string[]): readonly string[] {
  return holdings.flatMap((holding) => (holding.includes('/') ? membersOf(holding) : [holding]));
}
