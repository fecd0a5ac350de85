// Decides which addresses of an instance must not be newly offered. They stay where they are already shown,
// so no pod loses an address.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import { expandBlock } from '../../providers/contract/ipv4.ts';
import { expandHolding } from '../../providers/contract/network-interface.ts';
import { isShownOn } from '../../providers/contract/shown-interfaces.ts';

/** Addresses to leave out of the status or the pool, whether or not the cloud has them. */
export interface OfferExclusions {
  readonly status: ReadonlySet<string>;
  readonly pool: ReadonlySet<string>;
}

const none: OfferExclusions = { status: new Set(), pool: new Set() };

/** Addresses that the CiliumNode does not show yet: they must not be added. */
export function excludedUnlessShown(
  addresses: readonly string[],
  { ipam, status }: CiliumNode,
): OfferExclusions {
  if (addresses.length === 0) return none;
  const isInStatus = isShownOn(status.interfaces);
  const missing = addresses.filter((address) => !ipam.pool.has(address));
  return {
    pool: new Set(missing),
    status: new Set(missing.filter((address) => !isInStatus(address))),
  };
}

/** Addresses that may be gone already, because an answer came too early. An interface goes with its primary address. */
export function addressesPossiblyGone({
  possiblyGone,
  interfaces,
}: Pick<InstanceView, 'possiblyGone' | 'interfaces'>): readonly string[] {
  if (possiblyGone.size === 0) return [];
  const primaries = interfaces.filter(({ id }) => possiblyGone.has(id)).map((item) => item.primaryAddress);
  return [...[...possiblyGone].flatMap(expandHolding), ...primaries];
}

/**
 * All addresses of each prefix that another node offers in part. A CIDR-based agent would learn the rest as
 * single addresses. Once the prefix is shown whole, it would treat those as lost or assign them twice
 * (docs/ciliumnode-contract.md 1.6, B 3).
 */
export function splitOn(
  { interfaces }: InstanceView,
  excluded: ReadonlyMap<string, unknown>,
): readonly string[] {
  if (excluded.size === 0) return [];
  const prefixes = interfaces.flatMap((item) => item.prefixes.map(expandBlock));
  return prefixes.filter((members) => members.some((address) => excluded.has(address))).flat();
}
