// Decides what stays shown of an interface or primary address that pods must not have: what its agent was
// offered before, and what the agent uses. Use outranks every exclusion, because a pod keeps its address
// whatever the options say. Nothing else of it is offered. Pure.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import type { Holding } from '../demand/holdings.ts';
import { placeOf, primaryOn, unfitOn } from '../demand/holdings.ts';
import { exclusionOf, type NodeRequirements, whySpared } from '../demand/node-requirements.ts';
import { usageOf } from './prepare-ip-release.ts';

/** Addresses of one interface that the agent uses, although pods must not have them. */
export interface RetiredUse {
  readonly interfaceId: string;
  /** Why pods must not have it. */
  readonly why: string;
  readonly addresses: number;
}

const none: readonly Holding[] = [];

/**
 * The unfit holdings that stay offered. Either the pool has one of their addresses under their own interface,
 * or the agent uses one that is not a primary address. A prefix stays whole. Returns the same empty list in
 * nearly all cases.
 */
export function retiredHoldings(
  node: CiliumNode,
  view: InstanceView,
  requirements: NodeRequirements,
): readonly Holding[] {
  const unfit = view.interfaces.flatMap((item) => unfitOn(item, requirements));
  if (unfit.length === 0) return none;
  const { pool } = node.ipam;
  const isUsed = usageOf(node);
  // A new interface may carry, as its primary address, an address that a pod lost. Headwater never offered it there.
  const primaries = new Set(view.interfaces.map((item) => placeOf(primaryOn(item))));
  const retired = unfit.filter((holding) =>
    holding.addresses.some(
      (address) =>
        pool.get(address)?.resource === holding.interfaceId ||
        (isUsed(address) && !primaries.has(placeOf(holding))),
    ),
  );
  return retired.length === 0 ? none : retired;
}

/**
 * IPv6 prefixes of excluded interfaces that stay shown: an agent that was shown one may use any address of it, and does not say
 * which.
 */
export function retiredIpv6Prefixes(
  { status }: Pick<CiliumNode, 'status'>,
  { interfaces }: InstanceView,
  requirements: NodeRequirements,
): ReadonlySet<string> {
  const kept = interfaces.flatMap((item) => {
    const shown = item.ipv6Prefixes && status.interfaces.get(item.id)?.ipv6Prefixes;
    return shown === undefined || exclusionOf(item, requirements) === undefined
      ? []
      : (item.ipv6Prefixes ?? []).filter((prefix) => shown.includes(prefix));
  });
  return kept.length === 0 ? noPrefixes : new Set(kept);
}

const noPrefixes: ReadonlySet<string> = new Set();

/**
 * How many of the addresses the agent may use. A multi-pool agent reports more than it uses; its demand
 * bounds the count.
 */
export function retiredInUse(
  node: CiliumNode,
  retired: readonly Holding[],
  { used, outgoing }: { readonly used: number; readonly outgoing: ReadonlySet<string> },
): number {
  if (retired.length === 0) return 0;
  const isUsed = usageOf(node);
  const addresses = retired.flatMap((holding) => holding.addresses);
  return Math.min(used, addresses.filter((address) => isUsed(address) && !outgoing.has(address)).length);
}

/** By interface, in the order of the view, without interfaces that have nothing in use. */
export function retiredUses(
  node: CiliumNode,
  view: InstanceView,
  requirements: NodeRequirements,
): readonly RetiredUse[] {
  const retired = retiredHoldings(node, view, requirements);
  if (retired.length === 0) return [];
  const isUsed = usageOf(node);
  return view.interfaces.flatMap((item) => {
    const own = retired.filter(({ interfaceId }) => interfaceId === item.id);
    const reasons = Map.groupBy(own, (holding) => whyRetired(holding, item, requirements));
    return [...reasons].flatMap(([why, holdings]) => {
      const addresses = holdings.flatMap((holding) => holding.addresses).filter(isUsed).length;
      return addresses === 0 ? [] : [{ interfaceId: item.id, why, addresses }];
    });
  });
}

function whyRetired({ id }: Holding, item: NetworkInterface, requirements: NodeRequirements): string {
  const ofPrimary = 'use-primary-address is off, and this is its primary address';
  return exclusionOf(item, requirements) ?? (id === item.primaryAddress ? ofPrimary : whySpared);
}
