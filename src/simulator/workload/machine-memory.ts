// A machine's state that outlives its agent: the endpoints, which say which pod uses which address. This is
// the truth about addresses in use, not what an agent writes to Kubernetes.
import type { AddressLedger } from './address-ledger.ts';
import type { NodeFacts } from './node-facts.ts';
import type { ViolationLog } from './violation-log.ts';

export class MachineMemory {
  readonly violations: ViolationLog;
  /** CIDRs that were attached at the agent's last report of its CIDRs but not named in it. */
  leftOut: ReadonlySet<string> = new Set();
  readonly #facts: NodeFacts;
  readonly #ledger: AddressLedger;
  readonly #owners = new Map<string, string>();
  readonly #addresses = new Map<string, string>();

  constructor(facts: NodeFacts, ledger: AddressLedger, violations: ViolationLog) {
    this.#facts = facts;
    this.#ledger = ledger;
    this.violations = violations;
  }

  /** Owner by address. */
  get endpoints(): ReadonlyMap<string, string> {
    return this.#owners;
  }

  addressOf(owner: string): string | undefined {
    return this.#addresses.get(owner);
  }

  bind(address: string, owner: string, interfaceId: string): void {
    const other = this.#ledger.take(this.#facts.vpcId, address, this.#facts.name);
    if (other !== undefined) {
      this.violations.add({ pod: owner, address, interfaceId, what: 'used-on-two-nodes' });
    }
    this.#owners.set(address, owner);
    this.#addresses.set(owner, address);
  }

  /** Returns the address that `owner` had. */
  unbind(owner: string): string | undefined {
    const address = this.#addresses.get(owner);
    if (address === undefined) return undefined;
    this.#addresses.delete(owner);
    this.#owners.delete(address);
    this.#ledger.release(this.#facts.vpcId, address, this.#facts.name);
    return address;
  }

  /** The machine is gone with everything on it. */
  clear(): void {
    for (const owner of this.#addresses.keys()) this.unbind(owner);
  }
}
