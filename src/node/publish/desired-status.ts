// Decides what a node's agent may see: the cloud's section of the status and the address pool. Addresses that must not be
// newly offered stay where they are already shown, so no pod loses an address.
import {
  type InstanceLimits,
  type InstanceView,
  unusableIn,
  primaryInterface,
} from '../../providers/contract/facts.ts';
import type { CiliumNodeSection } from '../../providers/contract/cilium-node-section.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { ServedSchema } from '../../kubernetes/cilium-node/served-schema.ts';
import { type Json, memberOf } from '../../runtime/json.ts';
import { expandBlock } from '../../providers/contract/ipv4.ts';
import { expandHolding, allAssignments } from '../../providers/contract/network-interface.ts';
import { isShownOn } from '../../providers/contract/shown-interfaces.ts';
import type { Holding } from '../demand/holdings.ts';
import { podAddresses, reachablePreAllocate } from '../demand/capacity.ts';
import { exclusionOf, type NodeRequirements, sparedOn } from '../demand/node-requirements.ts';
import type { Offer } from './next-write.ts';

const nothingNamed: ReadonlyMap<string, string> = new Map();

export interface OfferFacts {
  readonly view: InstanceView;
  readonly requirements: NodeRequirements;
  readonly limits: InstanceLimits | undefined;
  /** Holdings that stay published although pods must not use them. */
  readonly retired: readonly Holding[];
  /** IPv6 prefixes of interfaces that pods must not use, which the CiliumNode shows: pods may use addresses of them. */
  readonly retiredIpv6: ReadonlySet<string>;
  /** By address, interfaces that cannot be shown but are named by the CiliumNode's pool. */
  readonly named: ReadonlyMap<string, string>;
  readonly place: OfferPlace;
}

/** Where an offer is written, and what of the network it names. */
export interface OfferPlace {
  readonly infrastructure: Infrastructure;
  readonly section: Pick<CiliumNodeSection, 'key' | 'status' | 'isShowable' | 'layout'>;
  readonly schema: Pick<ServedSchema, 'prune'>;
}

/** The view without interfaces of which not all is known that agents need to set them up. */
export function showable(
  view: InstanceView,
  { infrastructure, section }: Pick<OfferPlace, 'infrastructure' | 'section'>,
): InstanceView {
  const interfaces = view.interfaces.filter((item) => section.isShowable(item, infrastructure));
  return interfaces.length === view.interfaces.length ? view : { ...view, interfaces };
}

/**
 * Pool addresses on attached interfaces that cannot be shown, with the interface id. Pods may use them, so
 * they stay until they are known to be gone.
 */
export function namedIn(
  { ipam }: CiliumNode,
  view: InstanceView,
  shown: InstanceView,
): ReadonlyMap<string, string> {
  if (shown.interfaces.length === view.interfaces.length) return nothingNamed;
  const isShown = new Set(shown.interfaces.map(({ id }) => id));
  const hidden = view.interfaces.filter(({ id }) => !isShown.has(id));
  return new Map(
    hidden.flatMap((item) =>
      allAssignments(item)
        .flatMap(expandHolding)
        .filter((address) => ipam.pool.get(address)?.resource === item.id)
        .map((address) => [address, item.id] as const),
    ),
  );
}

export function offerOf(facts: OfferFacts, excluded: OfferExclusions): Offer {
  const { requirements, limits, place } = facts;
  const { infrastructure, section, schema } = place;
  const view = showable(facts.view, place);
  const { usePrimaryAddress } = requirements;
  const unfit = view.interfaces.filter((item) => exclusionOf(item, requirements) !== undefined);
  const retired = retiredAddresses(view, facts.retired);
  const spared = view.interfaces.flatMap((item) => sparedOn(item, requirements));
  const hidden = spared.filter((address) => !retired.has(address));
  const { key } = section;
  const value = section.status(view, {
    infrastructure,
    usePrimaryAddress,
    unfit: new Set(unfit.map(({ id }) => id)),
    retired: new Set([...retired.keys(), ...facts.retiredIpv6]),
    excluded: hidden.length === 0 ? excluded.status : new Set([...excluded.status, ...hidden]),
  });
  const pool = new Map([...podAddresses(view, requirements), ...retired, ...facts.named]);
  for (const address of excluded.pool) pool.delete(address);
  return {
    provider: { key, layout: section.layout, value: schema.prune(value as Json, ['status', key]) ?? {} },
    interfaces: new Set([...view.interfaces.map(({ id }) => id), ...facts.named.values()]),
    pool,
    preAllocate: reachablePreAllocate(limits, requirements),
    staticIp: prunedStaticIp(staticIpOf(facts.view), schema),
  };
}

/** The offer that the object already shows of an instance that the cloud does not show, minus addresses known to be gone. */
export function keptOffer(
  node: CiliumNode,
  { withdrawn }: InstanceView,
  section: Pick<CiliumNodeSection, 'key' | 'without' | 'layout'>,
): Offer {
  const isGone = (id: string): boolean => withdrawn.has(id);
  const value = section.without(memberOf(node.base.status, section.key), isGone) as Json;
  const kept = [...node.ipam.pool].filter(([address, { resource }]) => !isGone(address) && !isGone(resource));
  return {
    provider: { key: section.key, layout: section.layout, value },
    interfaces: new Set(kept.map(([, { resource }]) => resource)),
    pool: new Map(kept.map(([address, { resource }]) => [address, resource])),
    preAllocate: 0,
    staticIp: undefined,
  };
}

/** Retired addresses with their interface, limited to interfaces in the view. */
export function retiredAddresses(
  { interfaces }: InstanceView,
  retired: readonly Holding[],
): ReadonlyMap<string, string> {
  const ids = new Set(retired.length === 0 ? [] : interfaces.map(({ id }) => id));
  const there = retired.filter(({ interfaceId }) => ids.has(interfaceId));
  return new Map(
    there.flatMap(({ addresses, interfaceId }) =>
      addresses.map((address) => [address, interfaceId] as const),
    ),
  );
}

/** An empty offer. It replaces what the object shows of another instance. */
export function emptyOffer(view: InstanceView, { section, infrastructure, schema }: OfferPlace): Offer {
  const nothing = new Set<string>();
  const shown = { usePrimaryAddress: false, unfit: nothing, retired: nothing, excluded: nothing };
  const value = section.status({ ...view, interfaces: [] }, { infrastructure, ...shown }) as Json;
  return {
    provider: { key: section.key, layout: section.layout, value },
    interfaces: new Set(),
    pool: new Map(),
    preAllocate: 0,
    staticIp: prunedStaticIp('', schema),
  };
}

/**
 * Includes an excluded primary interface. Undefined if the instance has a primary interface but its record is
 * unknown.
 */
function staticIpOf(view: InstanceView): string | undefined {
  const primary = primaryInterface(view);
  if (primary !== undefined) return primary.publicAddress ?? '';
  return view.interfaces.length + unusableIn(view).length === 0 ? '' : undefined;
}

function prunedStaticIp(staticIp: string | undefined, schema: OfferPlace['schema']): string | undefined {
  if (staticIp === undefined) return undefined;
  return schema.prune(staticIp, ['status', 'ipam', 'assigned-static-ip']) === undefined
    ? undefined
    : staticIp;
}

/** Addresses to leave out of the status or the pool, whether or not the cloud has them. */
export interface OfferExclusions {
  readonly status: ReadonlySet<string>;
  readonly pool: ReadonlySet<string>;
}

const nothingExcluded: OfferExclusions = { status: new Set(), pool: new Set() };

/** Addresses that the CiliumNode does not show yet: they must not be added. */
export function excludedUnlessShown(
  addresses: readonly string[],
  { ipam, status }: CiliumNode,
): OfferExclusions {
  if (addresses.length === 0) return nothingExcluded;
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
