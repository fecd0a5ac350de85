// What of an instance must not be offered anew. It stays where it is shown, so that no pod loses an address by it.
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import { memberOf } from '../kubernetes/json.ts';
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import { addressesOf } from '../providers/ipv4.ts';
import { addressesIn } from '../providers/network-interface.ts';

/** Addresses that must not be added there. */
export interface Unaddable {
  readonly status: ReadonlySet<string>;
  readonly pool: ReadonlySet<string>;
}

const none: Unaddable = { status: new Set(), pool: new Set() };

/** Those of the addresses that a CiliumNode does not show yet. */
export function unaddable(
  addresses: readonly string[],
  node: CiliumNode,
  { statusKey, recall }: Pick<AllocationImplementation, 'statusKey' | 'recall'>,
): Unaddable {
  if (addresses.length === 0) return none;
  const shown = recall(node.instanceId ?? '', memberOf(node.base.status, statusKey)).interfaces;
  const inStatus = new Set(
    shown.flatMap((item) => [...item.addresses, ...item.prefixes.flatMap(addressesOf)]),
  );
  const missing = addresses.filter((address) => !node.ipam.pool.has(address));
  return {
    pool: new Set(missing),
    status: new Set(missing.filter((address) => !inStatus.has(address))),
  };
}

/** What may be gone already, because an answer was too early. */
export function doubtedOn({ doubted }: InstanceView): readonly string[] {
  return [...doubted].flatMap(addressesIn);
}

/**
 * All of each prefix that others offer a part of. An agent that goes by CIDRs would know the rest as single addresses, and
 * once the prefix is shown whole take those for lost, or give them out a second time (contract 1.6, protocol B, point 3).
 */
export function splitOn(
  { interfaces }: InstanceView,
  withheld: ReadonlyMap<string, unknown>,
): readonly string[] {
  if (withheld.size === 0) return [];
  const prefixes = interfaces.flatMap((item) => item.prefixes.map(addressesOf));
  return prefixes.filter((members) => members.some((address) => withheld.has(address))).flat();
}
