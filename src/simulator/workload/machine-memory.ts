// A machine's state that outlives its agent: the endpoints, which say which pod uses which address. This is
// the truth about addresses in use, not what an agent writes to Kubernetes.
import type { AddressLedger } from './address-ledger.ts';
import type { NodeFacts } from './node-facts.ts';
import type { ViolationLog } from './violation-log.ts';

export class MachineMemory {
  readonly violations: ViolationLog;
  /** CIDRs that were attached at the agent's last report of its CIDRs but not named in it. */
  leftOut: ReadonlySet<string> = new Set();
  /** The agent has lost what its pods use: it reports none of it as used, and gives all of it up when asked. */
  forgetsPods = false;
  /** Interfaces that are set up for packets of pods. */
  readonly devices = new Set<string>();
  readonly #facts: NodeFacts;
  readonly #ledger: AddressLedger;
  readonly #ipv4 = new Endpoints();
  readonly #ipv6 = new Endpoints();

  constructor(facts: NodeFacts, ledger: AddressLedger, violations: ViolationLog) {
    this.#facts = facts;
    this.#ledger = ledger;
    this.violations = violations;
  }

  /** Owner by IPv4 address. */
  get endpoints(): ReadonlyMap<string, string> {
    return this.#ipv4.owners;
  }

  /** Owner by IPv6 address. */
  get ipv6Endpoints(): ReadonlyMap<string, string> {
    return this.#ipv6.owners;
  }

  addressOf(owner: string): string | undefined {
    return this.#ipv4.addresses.get(owner);
  }

  ipv6AddressOf(owner: string): string | undefined {
    return this.#ipv6.addresses.get(owner);
  }

  bind(address: string, owner: string, interfaceId: string): void {
    const other = this.#ledger.take(this.#facts.vpcId, address, this.#facts.name);
    if (other !== undefined) {
      this.violations.add({ pod: owner, address, interfaceId, what: 'used-on-two-nodes' });
    }
    this.#familyOf(address).bind(address, owner);
  }

  /** Returns the addresses that `owner` had, that of IPv4 first. */
  unbind(owner: string): readonly string[] {
    const addresses = [this.#ipv4.unbind(owner), this.#ipv6.unbind(owner)].filter(
      (address) => address !== undefined,
    );
    for (const address of addresses) this.#ledger.release(this.#facts.vpcId, address, this.#facts.name);
    return addresses;
  }

  /** An agent without IPv6 started: pods have lost those addresses. */
  forgetIpv6(): void {
    for (const [address, owner] of this.#ipv6.owners) {
      this.#ipv6.unbind(owner);
      this.#ledger.release(this.#facts.vpcId, address, this.#facts.name);
    }
  }

  /** The machine is gone with everything on it. */
  clear(): void {
    for (const owner of this.#ipv4.addresses.keys()) this.unbind(owner);
  }

  #familyOf(address: string): Endpoints {
    return address.includes(':') ? this.#ipv6 : this.#ipv4;
  }
}

/** The addresses of one family and their owners. */
class Endpoints {
  readonly owners = new Map<string, string>();
  readonly addresses = new Map<string, string>();

  bind(address: string, owner: string): void {
    this.owners.set(address, owner);
    this.addresses.set(owner, address);
  }

  unbind(owner: string): string | undefined {
    const address = this.addresses.get(owner);
    this.addresses.delete(owner);
    if (address !== undefined) this.owners.delete(address);
    return address;
  }
}
