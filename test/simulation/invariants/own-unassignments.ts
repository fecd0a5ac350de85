// What each controller unassigned by its own calls. It knows that these are gone without a read.
import { textsAt, type JsonObject } from '../../../src/simulator/workload/json.ts';
import { addressesOf } from './assignments.ts';

export class OwnUnassignments {
  /** Addresses by controller: a single one may return in a prefix, and the other way round. */
  readonly #by = new Map<string, Set<string>>();

  /** A call of a controller unassigned these, answered or not. */
  unassigned(identity: string, holdings: readonly string[]): void {
    const own = this.#by.get(identity) ?? new Set();
    for (const address of addressesOf(holdings)) own.add(address);
    this.#by.set(identity, own);
  }

  /** A call of a controller was answered: what no interface has is gone, even if it was gone before. */
  onAnswer(identity: string, input: JsonObject, isAssigned: (holding: string) => boolean): void {
    const named = ['PrivateIpAddresses', 'Ipv4Prefixes'].flatMap((name) => textsAt(input, name));
    this.unassigned(
      identity,
      named.filter((holding) => !isAssigned(holding)),
    );
  }

  /** These were assigned to interfaces. */
  forget(holdings: readonly string[]): void {
    const addresses = addressesOf(holdings);
    for (const own of this.#by.values()) for (const address of addresses) own.delete(address);
  }

  /** Whether the controller unassigned the address, alone or in a prefix, and no interface got it since. */
  has(identity: string, address: string): boolean {
    return this.#by.get(identity)?.has(address) === true;
  }
}
