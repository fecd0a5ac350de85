// Plans allocation for a node with a deficit. Pure. It first fills interfaces with room, then adds as many
// new, pre-filled interfaces as the rest needs. With prefix delegation it tries prefixes first, then smaller
// prefix counts on subnets that refused more, then one prefix where a count has none: no count shows space that
// is reserved for prefixes. Single addresses come last: without blocks, or if `max` leaves less room than a prefix.
import { unusableIn } from '../../providers/contract/facts.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import {
  addressesPerInterface,
  delegatesPrefixes,
  maxOfChanges,
  podAddressCount,
  roomOn,
} from '../demand/capacity.ts';
import { adoptableFor } from '../demand/node-requirements.ts';
import type { AllocationFacts } from './allocation-facts.ts';
import type { AllocationPlan, Ipv6Unmet, Obstacle } from './allocation-plan.ts';
import { type Ipv6Draft, isIpv6Offered, isIpv6Open, mayBringIpv6, planIpv6 } from './ipv6-plan.ts';
import {
  BrokenInterfaces,
  type DeviceSlots,
  deviceIndexFor,
  freeDeviceIndex,
  noSlots,
  roomFor,
  unreadRoom,
} from './instance-room.ts';
import {
  type PlannedStep,
  type Unit,
  deferredBy,
  sizeOf,
  slotsFilled,
  slotsLeft,
  subnetAddressesUsed,
  podAddressesGained,
  prefixesOf,
} from './planned-step.ts';
import { allScopesOf, keyOf, type StepPlace, type RefusedScope } from './refused-scope.ts';
import { chooseSecurityGroups } from './security-group-choice.ts';
import type { ScopeRefusal } from './blocked-resources.ts';
import { chooseSubnet, type SubnetChoice } from './subnet-choice.ts';

export function prepareIPAllocation(facts: AllocationFacts): AllocationPlan {
  const draft = new Draft(facts);
  const units = delegatesPrefixes(facts.limits, facts.requirements)
    ? (['prefixes', 'fewerPrefixes', 'uncountedPrefix', 'addresses'] as const)
    : (['addresses'] as const);
  if (facts.calls.traits.interfaces === 'given') {
    draft.fillInterfaces('addresses');
    return draft.plan();
  }
  for (const unit of units) {
    if (!facts.calls.preferNew) draft.fillInterfaces(unit);
    // Orphans of this instance come before anything new.
    if (unit === units[0]) draft.adoptInterfaces();
    draft.createInterfaces(unit);
    if (facts.calls.preferNew) draft.fillInterfaces(unit);
  }
  if (isIpv6Open(facts, draft.steps)) draft.bringIpv6();
  return draft.plan();
}

class Draft implements Ipv6Draft {
  readonly #facts: AllocationFacts;
  readonly place: StepPlace;
  readonly steps: PlannedStep[] = [];
  /** Addresses that the plan takes from each subnet. */
  readonly #taken = new Map<string, number>();
  /** Subnets without enough addresses for the room on their interfaces. */
  readonly #exhausted = new Set<string>();
  /** Refusals that a step had to avoid, by the key of the scope. */
  readonly #refusals = new Map<string, ScopeRefusal>();
  /** Keys of due scopes that a step of this plan tries. */
  readonly #tried = new Set<string>();
  #missing: number;
  /** Part of the deficit that gets no new interface, because orphans may serve it. */
  #deferred: number;
  /** Addresses that a later plan assigns to new interfaces that no single call could fill. */
  #room: number;
  /** Addresses that may be gained beyond those in flight and planned. */
  #max: number;
  #obstacle: Obstacle | undefined;
  /** An interface could serve the rest, but not right now. */
  #isPassing = false;
  readonly #broken: BrokenInterfaces;
  #ipv6: Ipv6Unmet | undefined;

  constructor(facts: AllocationFacts) {
    this.#facts = facts;
    this.#broken = new BrokenInterfaces(facts.view, facts.ongoing.frozen);
    const { need, requirements } = facts;
    this.place = { instanceId: facts.view.id, nodeSubnetId: requirements.nodeSubnetId };
    const { steps } = facts.ongoing;
    const coming = steps.reduce((sum, step) => sum + podAddressesGained(step, requirements), 0);
    const isOurs = (id: string): boolean => steps.some((step) => slotsFilled(step, id) > 0);
    this.#max = Math.max(0, need.max - coming - maxOfChanges(facts, isOurs));
    this.#missing = Math.max(0, Math.min(need.wanted - coming, this.#max));
    this.#deferred = steps.reduce((sum, step) => sum + deferredBy(step), 0);
    this.#room = steps.reduce((sum, step) => sum + this.#roomOf(step), 0);
  }

  fillInterfaces(unit: Unit): void {
    for (const item of this.#facts.view.interfaces) {
      if (this.#countFor(unit, this.#missing, this.#max) === 0) return;
      if (this.#roomOn(item) <= 0) continue;
      if (this.#broken.note(item)) continue;
      if (!this.takesMore(item)) {
        this.#isPassing = true;
        continue;
      }
      this.#fill(item, unit);
    }
  }

  takesMore({ id, attachment, condition }: NetworkInterface): boolean {
    const { view, ongoing, calls } = this.#facts;
    // The plan is made again when the change under way ends, and covers what came up meanwhile.
    const isWhole = calls.traits.change === 'perInstance';
    const isExcluded = isWhole && ongoing.steps.length + this.steps.length > 0;
    if (isExcluded || condition !== undefined) return false;
    return !ongoing.frozen.has(id) && !view.possiblyGone.has(id) && attachment?.state === 'attached';
  }

  adoptInterfaces(): void {
    const { orphans, requirements, limits } = this.#facts;
    const isAdoptable = this.#adoptable();
    for (const item of orphans.fit) {
      if (this.#missing <= this.#deferred) return;
      const step = isAdoptable(item) ? this.#adoptionOf(item) : undefined;
      if (step === undefined || this.#isHindered(step)) continue;
      this.#add(step);
      this.#deferred += deferredBy(step);
    }
    let unclear = 0;
    for (const item of orphans.unclear.filter(isAdoptable)) {
      const count = podAddressCount(item, requirements);
      unclear += count;
      if (unclear <= this.#max) this.#deferred += count + roomOn(item, limits);
    }
    if (!orphans.read) this.#deferred = Infinity;
  }

  #adoptionOf(item: NetworkInterface): PlannedStep | undefined {
    const { requirements, limits } = this.#facts;
    const { id: interfaceId, subnetId, ipv6Prefixes } = item;
    const deviceIndex = deviceIndexFor(item, this.slots);
    const count = podAddressCount(item, requirements);
    if (deviceIndex === undefined || count > this.#max) return undefined;
    const room = Math.min(roomOn(item, limits), this.free(subnetId));
    const step = { kind: 'adoptInterface', interfaceId, subnetId, deviceIndex, count, room } as const;
    return ipv6Prefixes === undefined ? step : { ...step, ipv6Prefix: true };
  }

  /** An interface that is leaving is not adopted back. */
  #adoptable(): (item: NetworkInterface) => boolean {
    const { view, requirements, network, ongoing } = this.#facts;
    const known = new Set([...view.interfaces, ...unusableIn(view)].map(({ id }) => id));
    return (item) =>
      !known.has(item.id) &&
      !ongoing.frozen.has(item.id) &&
      adoptableFor(item, requirements, network.infrastructure) &&
      (item.ipv6Prefixes === undefined || mayBringIpv6(this.#facts, this.steps));
  }

  /** Brings the IPv6 prefix, if no other step does. */
  bringIpv6(): void {
    const planned = planIpv6(this.#facts, this);
    if (planned?.kind === 'step') this.#add(planned.step);
    else this.#ipv6 = planned;
  }

  createInterfaces(unit: Unit): void {
    while (this.#missing > this.#deferred + this.#room) {
      const step = this.#nextInterface(unit);
      if (step === undefined) return;
      this.#add(step);
      this.#room += this.#roomOf(step);
    }
  }

  plan(): AllocationPlan {
    if (this.#facts.calls.traits.interfaces === 'given' && this.#missing > 0) this.#noteGiven();
    const isStuck = this.#missing > this.#deferred + this.#room && !this.#isPassing;
    const refusals = this.#missing > 0 ? [...this.#refusals.values()] : [];
    // Blocked scopes could have served the rest, so slots are not what is missing.
    const isForRefusals = refusals.length > 0 && this.#obstacle?.kind === 'noInterfaceSlots';
    const obstacle = isStuck && !isForRefusals ? this.#obstacle : undefined;
    const plan = { steps: this.steps, unmet: this.#missing, isStuck, obstacle, refusals };
    return this.#ipv6 === undefined ? plan : { ...plan, ipv6: this.#ipv6 };
  }

  /** Fills the interface in one call, or in several if a call brings only a few addresses or prefixes. */
  #fill(item: NetworkInterface, unit: Unit): void {
    const { id: interfaceId, subnetId } = item;
    const kind = unit === 'addresses' ? 'allocateIPs' : 'allocatePrefixes';
    for (;;) {
      const count = Math.min(
        this.#countFor(unit, this.#missing, this.#max),
        this.#roomOn(item),
        Math.floor(this.free(subnetId, unit) / sizeOf[unit]),
        this.#maxAtOnce(subnetId, unit),
        this.#facts.calls.maxFor(interfaceId),
      );
      if (count <= 0) {
        const isExhausted = unit === 'addresses' && this.#missing > 0 && this.#roomOn(item) > 0;
        if (isExhausted) this.#exhausted.add(subnetId);
        return;
      }
      const step = { kind, interfaceId, subnetId, count } as const;
      if (this.#isHindered(step)) return;
      this.#add(step);
      if (count < this.#facts.calls.maxFor(interfaceId)) continue;
      // The end of that step decides whether more fits.
      this.#isPassing = true;
      return;
    }
  }

  #nextInterface(unit: Unit): PlannedStep | undefined {
    const { limits, requirements, network, view } = this.#facts;
    const deviceIndex = freeDeviceIndex(this.slots);
    if (deviceIndex === undefined || addressesPerInterface(limits, requirements) === 0)
      return this.#withoutSlot();
    const groups = chooseSecurityGroups(requirements, network.infrastructure, view);
    if (groups.kind !== 'chosen') return this.#blocked(groups);
    const offersIpv6 = (id: string): boolean => isIpv6Offered(this.#facts, id, this);
    const choice = chooseSubnet(requirements, {
      infrastructure: network.infrastructure,
      free: (subnetId) => (this.refusalsIn(subnetId).length > 0 ? 0 : this.free(subnetId, unit, 1)),
      fullInterface: limits.addressesPerInterface,
      minUseful: 1 + sizeOf[unit],
      ...(isIpv6Open(this.#facts, this.steps) && { offersIpv6 }),
    });
    if (choice.kind !== 'chosen') return this.#withoutSubnet(choice);
    const subnetId = choice.subnet.id;
    const made = { kind: 'createInterface', subnetId, securityGroupIds: groups.ids, deviceIndex } as const;
    const content = this.#initialContent(subnetId, unit);
    if (content === undefined) return undefined;
    const isFirst = isIpv6Open(this.#facts, this.steps) && offersIpv6(subnetId);
    const step = { ...made, ...content, ...(isFirst && ({ ipv6Prefix: true } as const)) };
    return this.#isHindered(step) ? undefined : step;
  }

  /** Blocked subnets among the matching ones may have room. */
  #withoutSubnet(choice: Exclude<SubnetChoice, { kind: 'chosen' }>): undefined {
    const matching = choice.kind === 'subnetsExhausted' ? choice.subnetIds : [this.place.nodeSubnetId];
    const refused = matching.filter((id) => this.refusalsIn(id).length > 0);
    this.#note(refused.flatMap((id) => this.refusalsIn(id)));
    if (choice.kind !== 'subnetsExhausted') return this.#blocked(choice);
    const subnetIds = choice.subnetIds.filter((id) => !refused.includes(id));
    return subnetIds.length > 0 ? this.#blocked({ ...choice, subnetIds }) : undefined;
  }

  /** Refusals of a new interface in this subnet. */
  refusalsIn(subnetId: string): readonly ScopeRefusal[] {
    const { nodeSubnetId } = this.place;
    return this.against([
      { kind: 'subnet', subnetId },
      { kind: 'attachment', subnetId, nodeSubnetId },
    ]);
  }

  /** Whether anything that the step needs is blocked. The plan then omits the step and notes why. */
  #isHindered(step: PlannedStep): boolean {
    const refusals = this.against(allScopesOf(step, this.place));
    this.#note(refusals);
    return refusals.length > 0;
  }

  /** A single step may try a scope that is due. */
  against(scopes: readonly RefusedScope[]): readonly ScopeRefusal[] {
    return scopes.flatMap((scope) => {
      const refusal = this.#facts.calls.refusalOf(scope);
      if (refusal === undefined) return [];
      return refusal.isDue && !this.#tried.has(keyOf(scope)) ? [] : [refusal];
    });
  }

  #note(refusals: readonly ScopeRefusal[]): void {
    for (const refusal of refusals) this.#refusals.set(keyOf(refusal.scope), refusal);
  }

  #withoutSlot(): undefined {
    if (this.#willHaveRoom()) this.#isPassing = true;
    if (this.#exhausted.size > 0)
      return this.#blocked({ kind: 'subnetsExhausted', subnetIds: [...this.#exhausted].sort() });
    const unread = unreadRoom(this.#facts, this.slots.steps);
    return this.#blocked(this.#broken.obstacle ?? unread ?? noSlots(this.#facts));
  }

  /** Why interfaces that the instance was given serve no more. */
  #noteGiven(): void {
    const { view, network } = this.#facts;
    const unread = view.interfaces.flatMap(
      ({ subnetId }) => network.infrastructure.unreadSubnets?.get(subnetId) ?? [],
    );
    const { failed } = this.#broken;
    if (failed.length > 0) this.#blocked({ kind: 'interfacesFailed', interfaceIds: failed });
    else if (unread[0] !== undefined) this.#blocked({ kind: 'networkUnreadable', failure: unread[0] });
    else this.#withoutSlot();
  }

  /** The secondary addresses, or prefixes, that a new interface in this subnet starts with. */
  #initialContent(
    subnetId: string,
    unit: Unit,
  ): { readonly count: number; readonly prefixCount: number } | undefined {
    const { limits, requirements, calls } = this.#facts;
    const fromPrimary = requirements.usePrimaryAddress ? 1 : 0;
    // An interface created only for its primary address would take the slot of one with prefixes.
    const missing = Math.max(unit === 'addresses' ? 0 : 1, this.#missing - this.#room - fromPrimary);
    const count = Math.min(
      this.#countFor(unit, missing, this.#max - fromPrimary),
      limits.addressesPerInterface - 1,
      this.#facts.calls.maxFor('new'),
      Math.floor((this.free(subnetId, unit, 1) - 1) / sizeOf[unit]),
      unit === 'addresses' ? calls.traits.maxPerCall - 1 : this.#maxAtOnce(subnetId, unit),
    );
    if (unit === 'addresses') return { count, prefixCount: 0 };
    return count <= 0 ? undefined : { count: 0, prefixCount: count };
  }

  /** How many addresses or prefixes cover the deficit without exceeding `max`. */
  #countFor(unit: Unit, missing: number, max: number): number {
    const size = sizeOf[unit];
    return Math.min(Math.ceil(missing / size), Math.floor(max / size));
  }

  get slots(): DeviceSlots {
    return { ...this.#facts, steps: [...this.#facts.ongoing.steps, ...this.steps] };
  }

  /** Free slots of a new interface that its call could not fill, as far as its subnet has addresses. */
  #roomOf(step: PlannedStep): number {
    const { limits, calls, network } = this.#facts;
    if (step.kind !== 'createInterface' || step.prefixCount > 0) return 0;
    const isCut = step.count + 1 >= calls.traits.maxPerCall || step.count >= calls.maxFor('new');
    if (!isCut) return 0;
    const room = slotsLeft(step, limits.addressesPerInterface - 1);
    return Math.min(room, Math.max(0, network.free(step.subnetId) - subnetAddressesUsed(step)));
  }

  #willHaveRoom(): boolean {
    const { limits, ongoing } = this.#facts;
    return ongoing.steps.some((step) => slotsLeft(step, limits.addressesPerInterface - 1) > 0);
  }

  #roomOn(item: NetworkInterface): number {
    if (!this.#isEligible(item.subnetId)) return 0;
    return roomFor(item, this.#facts, [...this.#facts.ongoing.steps, ...this.steps]);
  }

  #blocked(obstacle: Obstacle): undefined {
    this.#obstacle = obstacle;
    return undefined;
  }

  /** Addresses of a subnet that the plan may still use for this unit. `singles`: single ones that it needs as well. */
  free(subnetId: string, unit: Unit = 'addresses', singles: 0 | 1 = 0): number {
    if (!this.#isEligible(subnetId)) return 0;
    if (this.#maxAtOnce(subnetId, unit) === 0) return 0;
    const counted = Math.max(0, this.#facts.network.free(subnetId) - (this.#taken.get(subnetId) ?? 0));
    if (unit !== 'uncountedPrefix') return counted;
    return counted < singles || this.#asksForPrefixes(subnetId) ? 0 : singles + sizeOf[unit];
  }

  /** Whether a step already asks for prefixes in the subnet. Its result decides whether another one follows. */
  #asksForPrefixes(subnetId: string): boolean {
    return this.slots.steps.some((step) => step.subnetId === subnetId && prefixesOf(step) > 0);
  }

  #maxAtOnce(subnetId: string, unit: Unit): number {
    if (unit === 'addresses') return this.#facts.calls.traits.maxPerCall;
    const max = this.#facts.network.maxPrefixes(subnetId);
    if (unit === 'uncountedPrefix') return Math.min(1, max);
    // Subnets without refusals come first.
    return unit === 'prefixes' && max < Infinity ? 0 : max;
  }

  #isEligible(subnetId: string): boolean {
    return this.#facts.network.infrastructure.subnets.get(subnetId)?.eligible === true;
  }

  #add(step: PlannedStep): void {
    this.steps.push(step);
    for (const scope of allScopesOf(step, this.place)) {
      if (this.#facts.calls.refusalOf(scope) !== undefined) this.#tried.add(keyOf(scope));
    }
    this.#taken.set(step.subnetId, (this.#taken.get(step.subnetId) ?? 0) + subnetAddressesUsed(step));
    const gained = podAddressesGained(step, this.#facts.requirements);
    this.#missing = Math.max(0, this.#missing - gained);
    this.#max -= gained;
  }
}
