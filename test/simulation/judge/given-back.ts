// What each controller took away by calls of its own: that it is gone it knows without any reading.
import { textsAt, type JsonObject } from '../../../src/simulator/workload/json.ts';

export class GivenBack {
  /** Addresses and prefixes by controller. */
  readonly #by = new Map<string, Set<string>>();

  /** A call of a controller took these, whether it hears of it or not. */
  took(identity: string, holdings: readonly string[]): void {
    const own = this.#by.get(identity) ?? new Set();
    for (const holding of holdings) own.add(holding);
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
    for (const own of this.#by.values()) for (const holding of holdings) own.delete(holding);
  }

  /** Whether the controller took one of them away, and no interface was given it since. */
  has(identity: string, ...holdings: readonly string[]): boolean {
    const own = this.#by.get(identity);
    return own !== undefined && holdings.some((holding) => own.has(holding));
  }
}
