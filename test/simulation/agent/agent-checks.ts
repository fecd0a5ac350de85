// What must hold on a node whose pods get addresses of the product agent, judged by what pods and clients hold in the
// simulation's own records.
import { type Cidr, type Family, parseAddress, parseCidr, widthOf } from '../../../src/cidr/set/cidr.ts';

/** Who uses addresses, from the answer that gave them until it ends. */
export interface Holder {
  readonly name: string;
  readonly addresses: readonly string[];
}

/** As `GET /v1/ipam` shows it. */
export interface Shown {
  readonly addresses: Readonly<
    Record<string, { readonly owner: string; readonly attachment?: { readonly container: string } }>
  >;
  readonly pools: readonly {
    readonly family: Family;
    readonly cidrs: readonly string[];
    readonly available: number;
  }[];
}

export class AgentChecks {
  readonly violations = new Set<string>();
  readonly #holders = new Map<string, Holder>();
  readonly #blocks: () => readonly string[];

  /** `blocks`: every block that the node has had. */
  constructor(blocks: () => readonly string[]) {
    this.#blocks = blocks;
  }

  get holders(): Iterable<Holder> {
    return this.#holders.values();
  }

  /** An answer gives addresses to somebody who uses them from now on. */
  begin(name: string, addresses: readonly string[], families: readonly Family[]): void {
    for (const other of this.#holders.values())
      for (const address of other.name === name ? [] : addresses)
        if (other.addresses.includes(address))
          this.violations.add(`${address} is given to ${name} while ${other.name} uses it`);
    this.#checkGiven(name, addresses, families);
    const earlier = this.#holders.get(name);
    if (earlier !== undefined && earlier.addresses.join() !== addresses.join())
      this.violations.add(`${name} has ${earlier.addresses.join()} and gets ${addresses.join()}`);
    this.#holders.set(name, { name, addresses });
  }

  #checkGiven(name: string, addresses: readonly string[], families: readonly Family[]): void {
    const given = new Set(addresses.map((address) => parseAddress(address)?.family));
    if (addresses.length !== families.length || !families.every((family) => given.has(family)))
      this.violations.add(`${name} wants ${families.join()} and gets ${addresses.join() || 'nothing'}`);
    for (const address of addresses)
      if (!this.#isUsable(address)) this.violations.add(`${address} is no address for ${name}`);
  }

  end(name: string): void {
    this.#holders.delete(name);
  }

  /** The machine rebooted. */
  endAll(): void {
    this.#holders.clear();
  }

  look(shown: Shown): void {
    for (const { name, addresses } of this.#holders.values())
      for (const address of addresses)
        if (shown.addresses[address] === undefined)
          this.violations.add(`${address} is not held while ${name} uses it`);
  }

  /** Everything that used an address has ended, and said so; `isForgotten`: a container of which nobody will say it. */
  lookAtRest({ addresses, pools }: Shown, isForgotten: (container: string) => boolean): void {
    for (const [address, { owner, attachment }] of Object.entries(addresses))
      if (attachment === undefined || !isForgotten(attachment.container))
        this.violations.add(`${address} is held at rest for ${attachment?.container ?? owner}`);
    if (Object.keys(addresses).length === 0) this.#checkAllFree(pools);
  }

  #checkAllFree(pools: Shown['pools']): void {
    for (const { cidrs, available } of pools) {
      const usable = usableIn(cidrs[0] ?? '');
      if (BigInt(available) !== usable)
        this.violations.add(
          `${available} of ${usable} addresses of ${cidrs[0]} are free when nothing is held`,
        );
    }
  }

  /** Not the first, which is the router, and not the ends. */
  #isUsable(text: string): boolean {
    const address = parseAddress(text);
    return this.#blocks().some((block) => {
      const reading = parseCidr(block);
      return (
        reading.kind === 'cidr' &&
        address?.family === reading.cidr.family &&
        isInside(reading.cidr, address.value)
      );
    });
  }
}

function isInside({ base, length, family }: Cidr, value: bigint): boolean {
  const offset = value - base;
  return offset >= 2n && offset < (1n << BigInt(widthOf[family] - length)) - 1n;
}

/** All but the ends and the router. */
function usableIn(block: string): bigint {
  const reading = parseCidr(block);
  if (reading.kind === 'invalid') return -1n;
  return (1n << BigInt(widthOf[reading.cidr.family] - reading.cidr.length)) - 3n;
}
