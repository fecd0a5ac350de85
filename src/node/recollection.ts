// What a CiliumNode says of its instance's interfaces from before this process began: believed until the cloud twice
// says otherwise, so that a restart in front of a stale listing takes nothing away.
import type { CiliumNode, PoolEntry } from '../kubernetes/cilium-node.ts';
import { memberOf } from '../kubernetes/json.ts';
import type { AllocationImplementation, Recollection } from '../providers/allocation-implementation.ts';
import { addressesIn, type NetworkInterface } from '../providers/network-interface.ts';

export function recollection(
  node: CiliumNode,
  instanceId: string,
  implementation: Pick<AllocationImplementation, 'statusKey' | 'recall'>,
): Recollection {
  const recalled = implementation.recall(instanceId, memberOf(node.base.status, implementation.statusKey));
  const shown = new Set(
    recalled.interfaces.flatMap((item) => [
      item.primaryAddress,
      ...[...item.addresses, ...item.prefixes].flatMap(addressesIn),
    ]),
  );
  const pooled = [...node.ipam.pool].filter(([address]) => !shown.has(address));
  return { ...recalled, interfaces: recalled.interfaces.map((item) => withPooled(item, pooled)) };
}

/**
 * Whether a CiliumNode still shows the interfaces of another instance that it was of before. Where it shows none of those,
 * a leader before us, who knew of the change earlier, has written what it shows now.
 */
export function speaksOfAnother(
  node: CiliumNode,
  before: CiliumNode,
  implementation: Pick<AllocationImplementation, 'statusKey' | 'recall'>,
): boolean {
  if (node.instanceId === before.instanceId) return false;
  const idsOf = ({ base, instanceId = '' }: CiliumNode): readonly string[] =>
    implementation
      .recall(instanceId, memberOf(base.status, implementation.statusKey))
      .interfaces.map(({ id }) => id);
  const former = new Set(idsOf(before));
  return idsOf(node).some((id) => former.has(id));
}

/** Interfaces of a newer state, each with what `previous` did not show on it; none that shows nothing more. */
export function shownSince(
  previous: CiliumNode,
  node: CiliumNode,
  instanceId: string,
  implementation: Pick<AllocationImplementation, 'statusKey' | 'recall'>,
): readonly NetworkInterface[] {
  const before = recollection(previous, instanceId, implementation).interfaces;
  const known = new Map(before.map((item) => [item.id, new Set([...item.addresses, ...item.prefixes])]));
  return recollection(node, instanceId, implementation)
    .interfaces.map((item) => {
      const isNew = (holding: string): boolean => known.get(item.id)?.has(holding) !== true;
      return { ...item, addresses: item.addresses.filter(isNew), prefixes: item.prefixes.filter(isNew) };
    })
    .filter(({ id, addresses, prefixes }) => !known.has(id) || addresses.length + prefixes.length > 0);
}

/**
 * Addresses that the pool says are on an interface, and that no status shows, count as well. Where the status shows one on
 * another interface, the pool is the older part: an address enters it last.
 */
function withPooled(
  item: NetworkInterface,
  pooled: readonly (readonly [string, PoolEntry])[],
): NetworkInterface {
  const own = pooled.filter(([, { resource }]) => resource === item.id);
  if (own.length === 0) return item;
  return { ...item, addresses: [...item.addresses, ...own.map(([address]) => address)] };
}

/** Addresses that the agent gave up, and that the object may not show any more. */
export function mentionedIn({ status }: CiliumNode): ReadonlySet<string> {
  const agreed = [...status.releaseIps].filter(([, state]) => state === 'ready-for-release');
  return new Set(agreed.map(([address]) => address));
}
