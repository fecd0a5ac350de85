// What of an instance may be gone already: it stays where it is shown, so that no pod loses an address to an answer that was
// too early, and it is shown nowhere anew.
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import { memberOf } from '../kubernetes/json.ts';
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import { addressesOf } from '../providers/ipv4.ts';

/** Addresses that must not be added there. */
export interface Unaddable {
  readonly status: ReadonlySet<string>;
  readonly pool: ReadonlySet<string>;
}

const none: Unaddable = { status: new Set(), pool: new Set() };

export function unaddable(
  { doubted, id }: InstanceView,
  node: CiliumNode,
  { statusKey, recall }: Pick<AllocationImplementation, 'statusKey' | 'recall'>,
): Unaddable {
  if (doubted.size === 0) return none;
  const shown = recall(id, memberOf(node.base.status, statusKey)).interfaces;
  const inStatus = new Set(
    shown.flatMap(({ addresses, prefixes }) => [...addresses, ...prefixes.flatMap(addressesOf)]),
  );
  const all = [...doubted].flatMap((each) => (each.includes('/') ? addressesOf(each) : [each]));
  const missing = all.filter((address) => !node.ipam.pool.has(address));
  return {
    pool: new Set(missing),
    status: new Set(missing.filter((address) => !inStatus.has(address))),
  };
}
