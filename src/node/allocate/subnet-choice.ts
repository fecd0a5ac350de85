// Chooses the subnet of a new interface, in the network and zone of the node. The first rule that matches any
// subnet applies alone:
//
// 1. the ids that the CiliumNode names
// 2. the tags that it names
// 3. the node's own subnet, while a full interface fits in it
// 4. that subnet and those with the same routes, if there are any
// 5. every subnet of the zone
//
// Where the cloud's agents mean it strictly, ids or tags that a node names are the last rule for it.
//
// Among the subnets of a rule the one with most free addresses wins; ties go to the lower id. Where an IPv6 prefix is wanted,
// those that offer one come first, and the third rule yields to the next ones if only they have such a subnet.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { Infrastructure, Subnet } from '../../providers/contract/infrastructure.ts';
import { carries } from '../../providers/contract/network-interface.ts';
import type { NodeRequirements } from '../demand/node-requirements.ts';
import type { ObstacleOf } from './allocation-plan.ts';

export type SubnetChoice =
  | { readonly kind: 'chosen'; readonly subnet: Subnet }
  /**
   * Unreadable: the node's own subnet has no room, and the alternatives cannot be read, which are subnets with the same
   * routes, or those of its network or zone.
   */
  | ObstacleOf<'subnetsExhausted' | 'noSubnetMatches' | 'networkUnreadable'>;

export interface SubnetFacts {
  readonly infrastructure: Infrastructure;
  /** Addresses of a subnet that may still be requested. */
  readonly free: (subnetId: string) => number;
  /** Addresses of a full interface, including its primary one. */
  readonly fullInterface: number;
  /** Addresses of the smallest interface that serves pods: its primary one, and one address or prefix. */
  readonly minUseful: number;
  /** Set if the interface is to have an IPv6 prefix, too: which subnets offer one. */
  readonly offersIpv6?: (subnetId: string) => boolean;
}

export function chooseSubnet(requirements: NodeRequirements, facts: SubnetFacts): SubnetChoice {
  const { infrastructure, minUseful } = facts;
  const { rule, candidates, unreadable } = subnetsByRule(requirements, facts);
  const ranked = candidates
    .map((subnet) => ({ subnet, free: facts.free(subnet.id) }))
    .sort((a, b) => b.free - a.free || (a.subnet.id < b.subnet.id ? -1 : 1));
  const [most] = ranked;
  if (most !== undefined && most.free >= minUseful) {
    const { subnet } = ranked.find((each) => mayServeBoth(each.subnet, facts)) ?? most;
    return { kind: 'chosen', subnet };
  }
  if (unreadable !== undefined) return { kind: 'networkUnreadable', failure: unreadable };
  if (most === undefined) return withoutCandidates(requirements, infrastructure);
  const untagged = untaggedBeside(candidates, requirements, infrastructure);
  const subnetIds = candidates.map((subnet) => subnet.id).sort();
  const selection = describeSelection(rule, requirements);
  return { kind: 'subnetsExhausted', subnetIds, selection, ...untagged };
}

/** Subnets without a tag may have tags that this account does not see: they are named where tags chose others. */
function untaggedBeside(
  candidates: readonly Subnet[],
  { networkId, zone, subnetTags }: NodeRequirements,
  { subnets }: Infrastructure,
): { readonly untagged?: readonly string[] } {
  const isByTags = Object.keys(subnetTags).length > 0;
  const untagged = [...subnets.values()].filter(
    (subnet) =>
      subnet.networkId === networkId &&
      subnet.zone === zone &&
      (isByTags || !subnet.eligible) &&
      Object.keys(subnet.tags).length === 0 &&
      !candidates.includes(subnet),
  );
  return untagged.length === 0 ? {} : { untagged: untagged.map(({ id }) => id).toSorted() };
}

/** Where something was not read, nothing says that no subnet matches. */
function withoutCandidates(requirements: NodeRequirements, infrastructure: Infrastructure): SubnetChoice {
  const { unreadNetworks, unreadZones } = infrastructure;
  const failure =
    unreadNetworks?.get(requirements.networkId) ??
    unreadZones?.get(requirements.zone) ??
    unreadTagsFor(requirements, infrastructure);
  if (failure !== undefined) return { kind: 'networkUnreadable', failure };
  const untagged = untaggedBeside([], requirements, infrastructure);
  return { kind: 'noSubnetMatches', wanted: describeWanted(requirements), ...untagged };
}

/** Why the tags of a subnet are not known that may be the one that tags choose; undefined if none is. */
function unreadTagsFor(
  { networkId, zone, subnetTags }: NodeRequirements,
  { subnets, unreadTags = new Map() }: Infrastructure,
): CloudFailure | undefined {
  const isByTags = Object.keys(subnetTags).length > 0;
  const meant = [...unreadTags].find(([id]) => {
    const subnet = subnets.get(id);
    return subnet?.networkId === networkId && subnet.zone === zone && (isByTags || !subnet.eligible);
  });
  return meant?.[1];
}

/** The rule that decides alone, and the subnets that it leaves. */
export interface RuledSubnets {
  readonly rule: 'ids' | 'tags' | 'ownSubnet' | 'routes' | 'zone';
  readonly candidates: readonly Subnet[];
  readonly unreadable?: CloudFailure;
}

export function subnetsByRule(requirements: NodeRequirements, facts: SubnetFacts): RuledSubnets {
  const { infrastructure, free, fullInterface, minUseful } = facts;
  const { networkId, zone, nodeSubnetId } = requirements;
  const local = [...infrastructure.subnets.values()].filter(
    (subnet) => subnet.eligible && subnet.networkId === networkId && subnet.zone === zone,
  );
  const wanted = wantedOf(requirements, local, infrastructure);
  if (wanted !== undefined) return wanted;
  const own = local.filter((subnet) => subnet.id === nodeSubnetId);
  const hasRoom = own.length > 0 && free(nodeSubnetId) >= Math.max(fullInterface, minUseful);
  const isEnough = facts.offersIpv6 === undefined || own.some((subnet) => mayServeBoth(subnet, facts));
  const ofOwn = { rule: 'ownSubnet', candidates: own } as const;
  if (hasRoom && isEnough) return ofOwn;
  const others = withoutOwnRule(requirements, facts, local);
  const isBetter = others.candidates.some((subnet) => mayServeBoth(subnet, facts));
  return hasRoom && !isBetter ? ofOwn : others;
}

function mayServeBoth({ id }: Subnet, { free, minUseful, offersIpv6 }: SubnetFacts): boolean {
  return offersIpv6?.(id) === true && free(id) >= minUseful;
}

/** The rules after that of the node's own subnet. */
function withoutOwnRule(
  { networkId, nodeSubnetId }: NodeRequirements,
  { infrastructure }: SubnetFacts,
  local: readonly Subnet[],
): RuledSubnets {
  const own = local.filter((subnet) => subnet.id === nodeSubnetId);
  const unreadable = infrastructure.denied?.routeTables?.get(networkId);
  if (unreadable !== undefined) return { rule: 'routes', candidates: own, unreadable };
  const routedAlike = new Set(
    infrastructure.routeTables
      .filter((table) => table.networkId === networkId && table.subnetIds.includes(nodeSubnetId))
      .flatMap((table) => table.subnetIds),
  );
  const peers = local.filter((subnet) => subnet.id !== nodeSubnetId && routedAlike.has(subnet.id));
  return peers.length > 0
    ? { rule: 'routes', candidates: [...own, ...peers] }
    : { rule: 'zone', candidates: local };
}

/**
 * The local subnets that the node names by id, else by tags; undefined if neither decides. Where tags choose none, and those of
 * a subnet are not known, nothing says that other subnets may serve the node.
 */
function wantedOf(
  requirements: NodeRequirements,
  local: readonly Subnet[],
  infrastructure: Infrastructure,
): RuledSubnets | undefined {
  const { subnetIds, subnetTags, strictSubnets: isStrict } = requirements;
  const named = local.filter((subnet) => subnetIds.includes(subnet.id));
  if (named.length > 0 || (isStrict && subnetIds.length > 0)) return { rule: 'ids', candidates: named };
  if (Object.keys(subnetTags).length === 0) return undefined;
  const tagged = local.filter((subnet) => carries(subnet.tags, subnetTags));
  if (tagged.length > 0 || isStrict) return { rule: 'tags', candidates: tagged };
  const unreadable = unreadTagsFor(requirements, infrastructure);
  return unreadable && { rule: 'tags', candidates: [], unreadable };
}

/** The property that the candidates of a rule share, worded to follow their ids. */
function describeSelection(
  rule: RuledSubnets['rule'],
  { zone, subnetIds, subnetTags }: NodeRequirements,
): string {
  const tags = Object.entries(subnetTags).map(([key, value]) => `${key}=${value}`);
  const common = {
    ids: ` among the ids ${subnetIds.join(', ')}`,
    tags: ` with the tags ${tags.join(', ')}`,
    ownSubnet: '',
    routes: " with the routes of the node's own subnet",
    zone: '',
  } as const satisfies Record<RuledSubnets['rule'], string>;
  return `all in ${zone}${common[rule]}`;
}

function describeWanted(requirements: NodeRequirements): string {
  const { networkId, zone, subnetIds, subnetTags, strictSubnets: isStrict } = requirements;
  const or = isStrict ? '' : ', or';
  const ids = subnetIds.length > 0 ? `${or} with one of the ids ${subnetIds.join(', ')}` : '';
  const tags = Object.entries(subnetTags).map(([key, value]) => `${key}=${value}`);
  const isTagged = tags.length > 0 && !(isStrict && ids !== '');
  return `a subnet of ${networkId} in ${zone}${ids}${isTagged ? `${or} with the tags ${tags.join(', ')}` : ''}`;
}
