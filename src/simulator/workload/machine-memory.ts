// What a machine remembers while its agent comes and goes: the endpoints, that is, which pod uses which address. This,
// not what an agent writes to Kubernetes, is the truth about addresses in use.
import type { AddressLedger } from './address-ledger.ts';
import type { NodeFacts } from './node-facts.ts';
import type { ViolationLog } from './violation-log.ts';

export class MachineMemory {
  readonly violations: ViolationLog;
  /** CIDRs that were attached when the agent last told which ones it holds, and that it did not name then. */
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

  /** Address to owner. */
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

  /** The address that `owner` had. */
  unbind(owner: string): string | undefined {
    const address = this.#addresses.get(owner);
    if (address === undefined) return undefined;
    this.#addresses.delete(owner);
    this.#owners.delete(address);
    this.#ledger.giveBack(this.#facts.vpcId, address, this.#facts.name);
    return address;
  }

  /** The machine is gone, and with it all that ran there. */
  clear(): void {
    for (const owner of this.#addresses.keys()) this.unbind(owner);
  }
}
