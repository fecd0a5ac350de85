// Decides the content of a CiliumNode that no Node verifies: what its instance has, plus everything it
// already shows. Pure. Nothing is removed but what is known to be elsewhere, because it is unknown whose pods use the
// addresses.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { type Json, memberOf } from '../../runtime/json.ts';
import type { CiliumNodeSection } from '../../providers/contract/cilium-node-section.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import {
  allAssignments,
  expandHolding,
  type NetworkInterface,
  secondaryAssignments,
} from '../../providers/contract/network-interface.ts';
import type { Offer } from './next-write.ts';
import { unionOf } from './status-section.ts';

/**
 * `elsewhere`: addresses that are not where the CiliumNode shows them, but on another instance or interface. They stay
 * only where `offer` has them.
 */
export function unverifiedOffer(
  offer: Offer,
  node: CiliumNode,
  elsewhere: ReadonlySet<string>,
  { without }: Pick<CiliumNodeSection, 'without'>,
): Offer {
  const { key, layout, value } = offer.provider;
  const isElsewhere = (id: string): boolean => elsewhere.has(id);
  const kept = [...node.ipam.pool].filter(([address]) => !offer.pool.has(address) && !isElsewhere(address));
  const shown = without(memberOf(node.base.status, key), isElsewhere) as Json;
  return {
    ...offer,
    provider: { key, layout, value: unionOf(shown, value, layout) },
    interfaces: new Set([...offer.interfaces, ...kept.map(([, { resource }]) => resource)]),
    pool: new Map([...offer.pool, ...kept.map(([address, { resource }]) => [address, resource] as const)]),
    staticIp: offer.staticIp === '' ? undefined : offer.staticIp,
  };
}

/** Addresses of these interfaces, as the CiliumNode shows them, that another interface of the instance has by now. */
export function movedWithin(
  { interfaces }: Pick<InstanceView, 'interfaces'>,
  shown: readonly NetworkInterface[],
): readonly string[] {
  const addressesOf = new Map(
    interfaces.map((item) => [item.id, new Set(allAssignments(item).flatMap(expandHolding))]),
  );
  const isOnAny = (address: string): boolean =>
    [...addressesOf.values()].some((addresses) => addresses.has(address));
  return shown.flatMap((item) =>
    secondaryAssignments(item)
      .flatMap(expandHolding)
      .filter((address) => addressesOf.get(item.id)?.has(address) !== true && isOnAny(address)),
  );
}
