// Addresses that several instances claim: reads by id of all of them decide whose they are.
import type { Claimed } from '../node/demand/address-claims.ts';
import { hasAddress } from '../providers/contract/network-interface.ts';
import type { Inventory } from '../providers/inventory/inventory.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Fleet } from './fleet.ts';

export class AddressContests {
  readonly #fleet: Pick<Fleet, 'hasAddress' | 'reconcilerOf'>;
  readonly #inventory: Pick<Inventory, 'view' | 'contest'>;
  readonly #clock: Pick<Clock, 'monotonic'>;

  constructor(
    fleet: Pick<Fleet, 'hasAddress' | 'reconcilerOf'>,
    inventory: Pick<Inventory, 'view' | 'contest'>,
    clock: Pick<Clock, 'monotonic'>,
  ) {
    this.#fleet = fleet;
    this.#inventory = inventory;
    this.#clock = clock;
  }

  /** Requests the reads that decide, and wakes the other nodes. */
  open(instanceId: string, { excluded, shared }: Pick<Claimed, 'excluded' | 'shared'>): void {
    for (const [address, holders] of excluded) this.#decide(instanceId, address, holders);
    for (const [address, holders] of shared) {
      // A CiliumNode alone is no evidence against the addresses of this instance.
      const claimants = holders.filter((holder) => this.#fleet.hasAddress(holder, address));
      if (claimants.length > 0) this.#decide(instanceId, address, claimants);
    }
  }

  #decide(instanceId: string, address: string, holders: readonly string[]): void {
    const { interfaces = [] } = this.#inventory.view(instanceId) ?? {};
    const owner = interfaces.find((item) => hasAddress(item, address));
    if (owner === undefined) return;
    const { networkId } = owner;
    const others = holders.flatMap((holder) => this.#fleet.reconcilerOf(holder) ?? []);
    const instanceIds = [instanceId, ...others.map((reconciler) => reconciler.instanceId)];
    this.#inventory.contest({ address, networkId, instanceIds }, this.#clock.monotonic());
    for (const reconciler of others) reconciler.wake();
  }
}
