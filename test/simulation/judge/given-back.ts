// What each controller took away by calls of its own: that it is gone it knows without any reading.
import { textsAt, type JsonObject } from '../../../src/simulator/workload/json.ts';

/** What became of a call that may have had its effect; every other result says that it had none. */
const effective: ReadonlySet<string> = new Set(['OK', 'AbortError', 'ECONNRESET', 'TimeoutError', 'Error']);

export class GivenBack {
  /** Addresses and prefixes by controller. */
  readonly #by = new Map<string, Set<string>>();

  /** A call of a controller has ended. */
  add(identity: string, action: string, input: JsonObject, result: string): void {
    if (action !== 'UnassignPrivateIpAddresses' || !effective.has(result)) return;
    const own = this.#by.get(identity) ?? new Set();
    for (const name of ['PrivateIpAddresses', 'Ipv4Prefixes'])
      for (const holding of textsAt(input, name)) own.add(holding);
    this.#by.set(identity, own);
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
