// Plans how a node gets the one IPv6 prefix that its agent asks for. It comes with an interface that is created anyway; else with
// a call of its own for an interface that the node has; a new interface for it alone comes last. IPv4 waits for none of it: a
// plan without an IPv6 prefix is the same otherwise. Pure.
import type { InstanceLimits } from '../../providers/contract/facts.ts';
import { isOfSpace } from '../../providers/contract/failure-policy.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import { mayHaveIpv6 } from '../demand/ipv6.ts';
import { exclusionOf } from '../demand/node-requirements.ts';
import type { AllocationFacts } from './allocation-facts.ts';
import type { Ipv6Obstacle, Ipv6Unmet } from './allocation-plan.ts';
import type { ScopeRefusal } from './blocked-resources.ts';
import { type DeviceSlots, freeDeviceIndex, isLeaving } from './instance-room.ts';
import { bringsIpv6, deviceIndexOf, type PlannedStep } from './planned-step.ts';
import { allScopesOf, keyOf, type RefusedScope, type StepPlace } from './refused-scope.ts';
import { chooseSecurityGroups } from './security-group-choice.ts';
import { chooseSubnet } from './subnet-choice.ts';

type Ipv6Facts = Pick<
  AllocationFacts,
  'need' | 'limits' | 'network' | 'ongoing' | 'view' | 'requirements' | 'orphans'
>;

/** The plan so far. */
export interface Ipv6Draft {
  readonly steps: readonly PlannedStep[];
  readonly slots: DeviceSlots;
  readonly place: StepPlace;
  takesMore(item: NetworkInterface): boolean;
  /** Refusals of any of the scopes now. */
  against(scopes: readonly RefusedScope[]): readonly ScopeRefusal[];
  /** Refusals of a new interface in the subnet. */
  refusalsIn(subnetId: string): readonly ScopeRefusal[];
  /** IPv4 addresses of a subnet that the plan may still use. */
  free(subnetId: string): number;
}

/** The step that brings the prefix, if something still has to; undefined while it is not clear yet whether one can. */
export function planIpv6(
  facts: Ipv6Facts,
  draft: Ipv6Draft,
): Ipv6Unmet | { readonly kind: 'step'; readonly step: PlannedStep } | undefined {
  const candidates = candidatesIn(facts).filter((item) => !isLeaving(item, facts.ongoing.frozen));
  const refusals: ScopeRefusal[] = [];
  const planned = candidates
    .filter((item) => draft.takesMore(item))
    .map(({ id: interfaceId, subnetId }): PlannedStep => ({ ...ofOne, interfaceId, subnetId }))
    .find((step) => isAllowed(step, draft, refusals));
  if (planned !== undefined) return { kind: 'step', step: planned };
  if (mayTakeItSoon(candidates, draft) || isInterfaceComing(facts, draft)) return undefined;
  return refusals.every(isOfFullPlace) ? planInterface(facts, draft, refusals) : unmet(facts, refusals, []);
}

/** Whether another place may have what this one has not. One answer alone may pass, and an interface with a prefix stays. */
function isOfFullPlace({ scope, failure, failures }: ScopeRefusal): boolean {
  const isFull =
    scope.kind === 'ipv6In' ? isOfSpace(failure) : scope.kind === 'ipv6On' && failure.kind === 'limitReached';
  return isFull && failures > 1;
}

function unmet(facts: Ipv6Facts, all: readonly ScopeRefusal[], subnetIds: readonly string[]): Ipv6Unmet {
  const refusals = [...new Map(all.map((refusal) => [keyOf(refusal.scope), refusal])).values()];
  const obstacle = refusals.length > 0 ? undefined : obstacleOf(facts, subnetIds);
  return { kind: 'unmet', obstacle, refusals };
}

function mayTakeItSoon(candidates: readonly NetworkInterface[], draft: Ipv6Draft): boolean {
  return candidates.some((item) => !draft.takesMore(item));
}

/** Whether an interface that can take it is on its way. */
function isInterfaceComing({ ongoing, network }: Ipv6Facts, { steps }: Ipv6Draft): boolean {
  const { subnets } = network.infrastructure;
  return [...ongoing.steps, ...steps].some(
    (step) => deviceIndexOf(step) !== undefined && subnets.get(step.subnetId)?.ipv6Cidr !== undefined,
  );
}

const ofOne = { kind: 'allocateIpv6Prefix', count: 1 } as const;

/** `refusals` gets what prevents the step. */
function isAllowed(step: PlannedStep, draft: Ipv6Draft, refusals: ScopeRefusal[]): boolean {
  const found = draft.against(allScopesOf(step, draft.place));
  refusals.push(...found);
  return found.length === 0;
}

/**
 * A new interface for the prefix alone. Orphans may bring one, so it waits until they are known. `refused`: what keeps the
 * interfaces that are there from bringing it.
 */
function planInterface(
  facts: Ipv6Facts,
  draft: Ipv6Draft,
  refused: readonly ScopeRefusal[],
): ReturnType<typeof planIpv6> {
  const { limits, requirements, view, orphans } = facts;
  const { infrastructure } = facts.network;
  if (!orphans.read) return undefined;
  const offersIpv6 = (id: string): boolean => isIpv6Offered(facts, id, draft);
  const choice = chooseSubnet(requirements, {
    infrastructure,
    free: (id) => (offersIpv6(id) && draft.refusalsIn(id).length === 0 ? draft.free(id) : 0),
    fullInterface: limits.addressesPerInterface,
    minUseful: 1,
    offersIpv6,
  });
  if (choice.kind !== 'chosen') {
    const subnetIds = choice.kind === 'subnetsExhausted' ? choice.subnetIds : [];
    const others = subnetIds.flatMap((id) => [...draft.against([inSubnet(id)]), ...draft.refusalsIn(id)]);
    return unmet(facts, [...refused, ...others], subnetIds);
  }
  const { id: subnetId } = choice.subnet;
  const deviceIndex = freeDeviceIndex(draft.slots);
  const groups = chooseSecurityGroups(requirements, infrastructure, view);
  if (groups.kind !== 'chosen' || deviceIndex === undefined) return unmet(facts, refused, [subnetId]);
  const place = { kind: 'createInterface', subnetId, securityGroupIds: groups.ids, deviceIndex } as const;
  const step: PlannedStep = { ...place, count: 0, prefixCount: 0, ipv6Prefix: true };
  const refusals = [...refused];
  return isAllowed(step, draft, refusals) ? { kind: 'step', step } : unmet(facts, refusals, [subnetId]);
}

/** Whether something still has to bring it. */
export function isIpv6Open(
  facts: Pick<Ipv6Facts, 'need' | 'ongoing' | 'view' | 'requirements'>,
  steps: readonly PlannedStep[],
): boolean {
  return facts.need.ipv6 === 'wanted' && mayBringIpv6(facts, steps);
}

/** Whether something may bring one: a node gets no second one, also if nobody has asked for the first. */
export function mayBringIpv6(
  { need, ongoing, view, requirements }: Pick<Ipv6Facts, 'need' | 'ongoing' | 'view' | 'requirements'>,
  steps: readonly PlannedStep[],
): boolean {
  if (need.ipv6 === 'held' || (need.ipv6 === 'needless' && mayHaveIpv6(view, requirements))) return false;
  return ![...ongoing.steps, ...steps].some(bringsIpv6);
}

/** Whether an interface that is created in the subnet gets it. */
export function isIpv6Offered(
  { limits, network }: Pick<Ipv6Facts, 'limits' | 'network'>,
  subnetId: string,
  draft: Pick<Ipv6Draft, 'against'>,
): boolean {
  if (limits.ipv6PerInterface === undefined) return false;
  const subnet = network.infrastructure.subnets.get(subnetId);
  return (
    subnet?.eligible === true &&
    subnet.ipv6Cidr !== undefined &&
    draft.against([inSubnet(subnetId)]).length === 0
  );
}

function inSubnet(subnetId: string): RefusedScope {
  return { kind: 'ipv6In', subnetId };
}

/** Interfaces for pods with a free place, in a subnet from which it may come, in the order of the view. */
function candidatesIn({ view, limits, requirements, network }: Ipv6Facts): readonly NetworkInterface[] {
  const obscured = new Set(view.obscured.map(({ id }) => id));
  return view.interfaces.filter((item) => {
    const subnet = network.infrastructure.subnets.get(item.subnetId);
    const isServed = subnet?.eligible === true && subnet.ipv6Cidr !== undefined && !obscured.has(item.id);
    return isServed && hasIpv6Room(item, limits) && exclusionOf(item, requirements) === undefined;
  });
}

function hasIpv6Room(
  { ipv6Addresses = 0, ipv6Prefixes = [] }: NetworkInterface,
  { ipv6PerInterface = 0 }: InstanceLimits,
): boolean {
  return ipv6Addresses + ipv6Prefixes.length < ipv6PerInterface;
}

/** The obstacle that a person can remove, if nothing was refused. `subnetIds`: those that a new interface may be in. */
function obstacleOf(facts: Ipv6Facts, subnetIds: readonly string[]): Ipv6Obstacle {
  const { limits, network, view, requirements, ongoing } = facts;
  if (limits.ipv6PerInterface === undefined) return { kind: 'ipv6Unsupported' };
  const usable = view.interfaces.filter((item) => exclusionOf(item, requirements) === undefined);
  const all = [...new Set([...usable.map(({ subnetId }) => subnetId), ...subnetIds])].sort();
  const isServed = all.some((id) => network.infrastructure.subnets.get(id)?.ipv6Cidr !== undefined);
  if (!isServed) return { kind: 'noIpv6Subnet', subnetIds: all };
  const leaving = candidatesIn(facts).filter((item) => isLeaving(item, ongoing.frozen));
  return leaving.length === 0
    ? { kind: 'noIpv6Room' }
    : { kind: 'interfacesDetaching', interfaceIds: leaving.map(({ id }) => id) };
}
