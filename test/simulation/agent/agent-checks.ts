// What must hold on a node whose pods get addresses of the product agent, judged by what pods and clients hold in the
// simulation's own records.
import { type Family, parseAddress, parseCidr, widthOf } from '../../../src/blocks/set/cidr.ts';

/** Who uses addresses, from the answer that gave them until it ends. */
export interface Holder {
  readonly name: string;
  readonly addresses: readonly string[];
}

/** What somebody asked for. */
export interface Wanted {
  readonly families: readonly Family[];
  /** Undefined: any. */
  readonly pool?: string | undefined;
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
  /** Addresses and who has them. */
  #shownInUse = new Set<string>();
  readonly #supplies: (address: string, pool?: string) => boolean;

  /** `supplies`: whether pods of this node may use the address now, as one of this pool, or of any. */
  constructor(supplies: (address: string, pool?: string) => boolean) {
    this.#supplies = supplies;
  }

  get holders(): Iterable<Holder> {
    return this.#holders.values();
  }

  /** An answer gives addresses to somebody who uses them from now on. */
  begin(name: string, addresses: readonly string[], wanted: Wanted): void {
    for (const other of this.#holders.values())
      for (const address of other.name === name ? [] : addresses)
        if (other.addresses.includes(address))
          this.violations.add(`${address} is given to ${name} while ${other.name} uses it`);
    this.#checkGiven(name, addresses, wanted);
    const earlier = this.#holders.get(name);
    if (earlier !== undefined && earlier.addresses.join() !== addresses.join())
      this.violations.add(`${name} has ${earlier.addresses.join()} and gets ${addresses.join()}`);
    this.#holders.set(name, { name, addresses });
  }

  #checkGiven(name: string, addresses: readonly string[], { families, pool }: Wanted): void {
    const given = new Set(addresses.map((address) => parseAddress(address)?.family));
    if (addresses.length !== families.length || !families.every((family) => given.has(family)))
      this.violations.add(`${name} wants ${families.join()} and gets ${addresses.join() || 'nothing'}`);
    for (const address of addresses)
      if (!this.#supplies(address, pool))
        this.violations.add(`${address} is no address for ${name}${pool === undefined ? '' : ` of ${pool}`}`);
  }

  end(name: string): void {
    this.#holders.delete(name);
  }

  /** All of these clients end, and say nothing. */
  endClients(): void {
    for (const name of this.#holders.keys()) if (name.startsWith('rest-')) this.#holders.delete(name);
  }

  /** The machine rebooted. */
  endAll(): void {
    this.#holders.clear();
  }

  /** Whatever the agent says: what is in use is still an address of this node. */
  lookAtSupply(): void {
    for (const { name, addresses } of this.#holders.values())
      for (const address of addresses)
        if (!this.#supplies(address))
          this.violations.add(`${address} is no longer of this node while ${name} uses it`);
  }

  /** What the CiliumNode showed in use stays in use as long as the same holder has it. */
  lookAtUse(shown: readonly string[]): void {
    const earlier = this.#shownInUse;
    this.#shownInUse = new Set();
    for (const { name, addresses } of this.#holders.values())
      for (const address of addresses) {
        const key = `${address} of ${name}`;
        if (shown.includes(address)) this.#shownInUse.add(key);
        else if (earlier.has(key)) this.violations.add(`${key} is no longer shown in use`);
      }
  }

  look(shown: Shown): void {
    for (const { name, addresses } of this.#holders.values())
      for (const address of addresses)
        if (shown.addresses[address] === undefined)
          this.violations.add(`${address} is not held while ${name} uses it`);
  }

  /** Everything that used an address has ended, and said so; `isForgotten`: a container of which nobody will say it. */
  lookAtRest({ addresses }: Shown, isForgotten: (container: string) => boolean): void {
    for (const [address, { owner, attachment }] of Object.entries(addresses))
      if (attachment === undefined || !isForgotten(attachment.container))
        this.violations.add(`${address} is held at rest for ${attachment?.container ?? owner}`);
  }

  /** With one block of each family: nothing of it is lost. */
  checkAllFree({ addresses, pools }: Shown): void {
    if (Object.keys(addresses).length > 0) return;
    for (const { cidrs, available } of pools) {
      const usable = usableIn(cidrs[0] ?? '');
      if (BigInt(available) !== usable)
        this.violations.add(
          `${available} of ${usable} addresses of ${cidrs[0]} are free when nothing is held`,
        );
    }
  }
}

/** All but the ends and the router. */
function usableIn(block: string): bigint {
  const reading = parseCidr(block);
  if (reading.kind === 'invalid') return -1n;
  return (1n << BigInt(widthOf[reading.cidr.family] - reading.cidr.length)) - 3n;
}
