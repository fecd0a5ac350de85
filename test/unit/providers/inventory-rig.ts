// An inventory with a consistency window of 30 (ms), and short ways to apply reads and answers.
import type { InstanceView, Instance, Observation } from '../../../src/providers/contract/facts.ts';
import type { Answer } from '../../../src/providers/contract/operations.ts';
import { Inventory, type Listing } from '../../../src/providers/inventory/inventory.ts';
import type { NetworkInterface } from '../../../src/providers/contract/network-interface.ts';
import type { WithdrawalGate } from '../../../src/providers/inventory/withdrawals.ts';
import { attachment, networkInterface } from './interfaces.ts';

export const window = 30;

export interface InventoryRig {
  readonly inventory: Inventory;
  /** Applies a refresh of `i-1` that started then and showed exactly this; returns whether it changed anything. */
  readonly refresh: (startedAt: number, ...shown: (NetworkInterface | Observation)[]) => boolean;
  /** The same for an answer that left out an item of nobody knows whom. */
  readonly refreshPartly: (startedAt: number, ...shown: (NetworkInterface | Observation)[]) => boolean;
  /** Applies a listing of one page that started then and showed exactly this; returns whether it changed `i-1`. */
  readonly list: (startedAt: number, ...shown: (NetworkInterface | Observation)[]) => boolean;
  readonly answer: (endedAt: number, answer: Answer) => boolean;
  readonly view: () => InstanceView;
  /** Addresses and prefixes of `eni-1`; undefined if it is unknown. */
  readonly holdings: () => readonly string[] | undefined;
}

/** `restoredAt`: when `restored` was restored; without it, reads count at once. */
export function inventoryRig(
  restored: readonly NetworkInterface[] = [],
  restoredAt?: number,
  gate?: WithdrawalGate,
): InventoryRig {
  const inventory = new Inventory({ consistencyWindow: window, ...(gate && { gate }) });
  if (restoredAt === undefined) inventory.track('i-1', restored);
  else inventory.track('i-1', restored, restoredAt, { pendingRelease: new Set() });
  const observed = (shown: NetworkInterface | Observation): Observation =>
    'kind' in shown ? shown : { kind: 'interface', interface: shown };
  const view = (): InstanceView => {
    const found = inventory.view('i-1');
    if (found === undefined) throw new Error('i-1 is not tracked');
    return found;
  };
  const applied = (
    startedAt: number,
    shown: readonly (NetworkInterface | Observation)[],
    partly: readonly string[],
  ): boolean =>
    inventory
      .applyRefresh({
        startedAt,
        endedAt: startedAt,
        instanceIds: ['i-1'],
        observations: shown.map(observed),
        partly: new Set(partly),
      })
      .has('i-1');
  return {
    inventory,
    refresh: (startedAt, ...shown) => applied(startedAt, shown, []),
    refreshPartly: (startedAt, ...shown) => applied(startedAt, shown, ['i-1']),
    list: (startedAt, ...shown) => {
      const listing = inventory.beginListing(startedAt);
      listing.apply(shown.map(observed), startedAt);
      return ended(listing).has('i-1');
    },
    answer: (endedAt, answer) => inventory.applyAnswer(answer, endedAt).has('i-1'),
    view,
    holdings: () => {
      const found = view().interfaces.find(({ id }) => id === 'eni-1');
      return found && [...found.addresses, ...found.prefixes];
    },
  };
}

/** Ends the listing without a pause; returns the changed instances. */
export function ended(listing: Listing): ReadonlySet<string> {
  const end = listing.end();
  for (;;) {
    const { done, value } = end.next();
    if (done === true) return value;
  }
}

/** `eni-1` with these secondary addresses. */
export function eni(...addresses: string[]): NetworkInterface {
  return networkInterface({ addresses });
}

/** Another interface of `i-1`. */
export function further(deviceIndex: number, change: Partial<NetworkInterface> = {}): NetworkInterface {
  return networkInterface({
    id: `eni-${deviceIndex + 1}`,
    primaryAddress: `10.0.0.${deviceIndex + 4}`,
    attachment: attachment({ id: `attach-${deviceIndex + 1}`, deviceIndex }),
    ...change,
  });
}

/** Our own call attached `eni-2` to `i-1`. */
export const attached: Answer = {
  kind: 'attached',
  interfaceId: 'eni-2',
  instanceId: 'i-1',
  deviceIndex: 1,
  attachmentId: 'attach-2',
};

export function instance(change: Partial<Instance> = {}): Observation {
  return { kind: 'instance', instance: { id: 'i-1', state: 'running', managed: true, ...change } };
}

/** An EFA without IP. */
export function addressless(id: string, networkCard: number): Observation {
  return { kind: 'addresslessInterface', interface: { id, instanceId: 'i-1', deviceIndex: 1, networkCard } };
}

export function unreadable(id = 'eni-9', problem = 'MacAddress is missing', deviceIndex = 5): Observation {
  return {
    kind: 'unreadableInterface',
    interface: { id, instanceId: 'i-1', deviceIndex, networkCard: 0, problem },
  };
}
