// The plan for a node that lacks addresses: first the interfaces that have room, then as many new interfaces as the rest
// needs, each filled as it is created. Where the node gets prefixes, both are done with prefixes first, then with as few
// at once as subnets still give that have refused more; single addresses are what is left when no subnet that suits has
// whole blocks, and when `most` leaves less room than a prefix takes. Pure: the same facts give the same plan.
import type { InstanceLimits } from '../providers/allocation-implementation.ts';
import type { Infrastructure } from '../providers/infrastructure.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';
import { prefixSize } from '../providers/network-interface.ts';
import type { InstanceOrphans } from '../providers/orphans.ts';
import { adoptableFor, podAddressesOf } from './adoption.ts';
import { addressesPerInterface, delegatesPrefixes, occupiedSlots, roomOn } from './capacity.ts';
import { exclusionOf, type NodeRequirements } from './node-requirements.ts';
import { type Obstacle, withoutGroups, withoutSubnet } from './obstacle.ts';
import { deviceIndexOf, type PlannedStep, slotsFilled, slotsLeft, takenBy, yieldOf } from './planned-step.ts';
import { chooseSecurityGroups } from './security-group-choice.ts';
import { chooseSubnet } from './subnet-choice.ts';

export interface AllocationFacts {
  readonly view: InstanceView;
  readonly limits: InstanceLimits;
  readonly requirements: NodeRequirements;
  readonly infrastructure: Infrastructure;
  /** Addresses of a subnet that may still be asked for. */
  readonly free: (subnetId: string) => number;
  /** Most prefixes to ask a subnet for at once; Infinity unless it refused some a short while ago. */
  readonly mostPrefixes: (subnetId: string) => number;
  /** Addresses to gain, counted from what the view shows; what is under way is not taken off. */
  readonly wanted: number;
  /** Addresses that may be gained at all, whatever is wanted, counted in the same way. */
  readonly most: number;
  /** Steps that were begun and whose end the view does not show yet. */
  readonly underway: readonly PlannedStep[];
  /** Interfaces not to be touched for the time being. */
  readonly frozen: ReadonlySet<string>;
  /** Interfaces that were made for the instance and are attached to nothing. */
  readonly orphans: InstanceOrphans;
  /** New interfaces come before those that have room: they are there sooner. */
  readonly preferNew: boolean;
}

export interface AllocationPlan {
  readonly steps: readonly PlannedStep[];
  /** Addresses that are wanted and that no step brings. */
  readonly shortfall: number;
  /** What stands in the way of the rest. */
  readonly obstacle: Obstacle | undefined;
}

export function prepareIPAllocation(facts: AllocationFacts): AllocationPlan {
  const draft = new Draft(facts);
  const units = delegatesPrefixes(facts.limits, facts.requirements)
    ? (['prefixes', 'fewerPrefixes', 'addresses'] as const)
    : (['addresses'] as const);
  for (const unit of units) {
    if (!facts.preferNew) draft.fillInterfaces(unit);
    // What was made for the instance and left over comes before anything new.
    if (unit === units[0]) draft.adoptInterfaces();
    draft.createInterfaces(unit);
    if (facts.preferNew) draft.fillInterfaces(unit);
  }
  return draft.plan();
}

/** What an interface's slots are filled with; fewer prefixes at once where a subnet refused more. */
type Unit = 'addresses' | 'prefixes' | 'fewerPrefixes';

/** Addresses in each. */
const sizeOf: Record<Unit, number> = { addresses: 1, prefixes: prefixSize, fewerPrefixes: prefixSize };

class Draft {
  readonly #facts: AllocationFacts;
  readonly #steps: PlannedStep[] = [];
  /** Addresses that the plan itself takes from each subnet. */
  readonly #taken = new Map<string, number>();
  /** Subnets that have too little for the room on the interfaces in them. */
  readonly #exhausted = new Set<string>();
  #missing: number;
  /** Of what is missing: what nothing new is made for, because interfaces that were left over may serve it. */
  #deferred: number;
  /** Addresses that may be gained beyond what is under way and planned. */
  #most: number;
  #obstacle: Obstacle | undefined;
  /** An interface could serve the rest, only not at this moment. */
  #isPassing = false;

  constructor(facts: AllocationFacts) {
    this.#facts = facts;
    const coming = facts.underway.reduce((sum, step) => sum + yieldOf(step, facts.requirements), 0);
    this.#most = Math.max(0, facts.most - coming);
    this.#missing = Math.max(0, Math.min(facts.wanted - coming, this.#most));
    this.#deferred = facts.underway.reduce((sum, step) => sum + deferredBy(step), 0);
  }

  fillInterfaces(unit: Unit): void {
    for (const item of this.#facts.view.interfaces) {
      if (this.#lacking(unit, this.#missing, this.#most) === 0) return;
      const room = this.#roomOn(item);
      if (room <= 0) continue;
      if (!this.#takesMore(item)) {
        this.#isPassing = true;
        continue;
      }
      this.#fill(item, unit);
      const isShort = this.#missing > 0 && this.#roomOn(item) > 0;
      if (isShort && unit === 'addresses') this.#exhausted.add(item.subnetId);
    }
  }

  #takesMore({ id, attachment }: NetworkInterface): boolean {
    const { view, frozen } = this.#facts;
    return !frozen.has(id) && !view.doubted.has(id) && attachment?.state === 'attached';
  }

  adoptInterfaces(): void {
    const { orphans, view, requirements, infrastructure, limits } = this.#facts;
    const known = new Set([...view.interfaces, ...view.unreadable].map(({ id }) => id));
    const isAdoptable = (item: NetworkInterface): boolean =>
      !known.has(item.id) && adoptableFor(item, requirements, infrastructure);
    for (const item of orphans.fit.filter(isAdoptable)) {
      const deviceIndex = this.#freeDeviceIndex();
      if (this.#missing <= this.#deferred || deviceIndex === undefined) return;
      const count = podAddressesOf(item, requirements);
      if (count > this.#most) continue;
      const { id: interfaceId, subnetId } = item;
      const room = Math.min(roomOn(item, limits), this.#free(subnetId, 'addresses'));
      const step = { kind: 'adoptInterface', interfaceId, subnetId, deviceIndex, count, room } as const;
      this.#add(step);
      this.#deferred += deferredBy(step);
    }
    let unclear = 0;
    for (const item of orphans.unclear.filter(isAdoptable)) {
      const count = podAddressesOf(item, requirements);
      unclear += count;
      if (unclear <= this.#most) this.#deferred += count + roomOn(item, limits);
    }
    if (!orphans.read) this.#deferred = Infinity;
  }

  createInterfaces(unit: Unit): void {
    while (this.#missing > this.#deferred) {
      const step = this.#nextInterface(unit);
      if (step === undefined) return;
      this.#add(step);
    }
  }

  plan(): AllocationPlan {
    const stuck = this.#missing > this.#deferred && !this.#isPassing;
    return { steps: this.#steps, shortfall: this.#missing, obstacle: stuck ? this.#obstacle : undefined };
  }

  /** In one call, or in as many as it takes where a subnet gives only so many prefixes at once. */
  #fill(item: NetworkInterface, unit: Unit): void {
    const { id: interfaceId, subnetId } = item;
    const kind = unit === 'addresses' ? 'allocateIPs' : 'allocatePrefixes';
    for (;;) {
      const count = Math.min(
        this.#lacking(unit, this.#missing, this.#most),
        this.#roomOn(item),
        Math.floor(this.#free(subnetId, unit) / sizeOf[unit]),
        this.#mostAtOnce(subnetId, unit),
      );
      if (count <= 0) return;
      this.#add({ kind, interfaceId, subnetId, count });
    }
  }

  #nextInterface(unit: Unit): PlannedStep | undefined {
    const { limits, requirements, infrastructure, view } = this.#facts;
    const deviceIndex = this.#freeDeviceIndex();
    if (deviceIndex === undefined || addressesPerInterface(limits, requirements) === 0)
      return this.#withoutSlot();
    const groups = chooseSecurityGroups(requirements, infrastructure, view);
    if (groups.kind !== 'chosen') return this.#blocked(withoutGroups(groups));
    const choice = chooseSubnet(requirements, {
      infrastructure,
      free: (subnetId) => this.#free(subnetId, unit),
      fullInterface: limits.addressesPerInterface,
      leastUseful: 1 + sizeOf[unit],
    });
    if (choice.kind !== 'chosen') return this.#blocked(withoutSubnet(choice));
    const subnetId = choice.subnet.id;
    const count = this.#contentOf(subnetId, unit);
    const made = { kind: 'createInterface', subnetId, securityGroupIds: groups.ids, deviceIndex } as const;
    if (unit === 'addresses') return { ...made, count, prefixCount: 0 };
    return count > 0 ? { ...made, count: 0, prefixCount: count } : undefined;
  }

  #withoutSlot(): undefined {
    if (this.#willHaveRoom()) this.#isPassing = true;
    if (this.#exhausted.size > 0)
      return this.#blocked({ kind: 'subnetsExhausted', subnetIds: [...this.#exhausted].sort() });
    return this.#blocked({ kind: 'noInterfaceSlots', interfaces: this.#facts.limits.interfaces });
  }

  /** How many secondary addresses or prefixes a new interface in this subnet begins with. */
  #contentOf(subnetId: string, unit: Unit): number {
    const { limits, requirements } = this.#facts;
    const fromPrimary = requirements.usePrimaryAddress ? 1 : 0;
    // An interface that is made for its primary address alone would take the place of one with prefixes.
    const missing = Math.max(unit === 'addresses' ? 0 : 1, this.#missing - fromPrimary);
    return Math.min(
      this.#lacking(unit, missing, this.#most - fromPrimary),
      limits.addressesPerInterface - 1,
      Math.floor((this.#free(subnetId, unit) - 1) / sizeOf[unit]),
      this.#mostAtOnce(subnetId, unit),
    );
  }

  /** How many single addresses or prefixes bring what is missing, without bringing more than `most`. */
  #lacking(unit: Unit, missing: number, most: number): number {
    const size = sizeOf[unit];
    return Math.min(Math.ceil(missing / size), Math.floor(most / size));
  }

  /** The lowest free index that pods may use; undefined when every slot of the instance is taken. */
  #freeDeviceIndex(): number | undefined {
    const { view, limits, requirements, underway } = this.#facts;
    const coming = [...underway, ...this.#steps].filter((step) => deviceIndexOf(step) !== undefined);
    if (occupiedSlots(view) + coming.length >= limits.interfaces) return undefined;
    const taken = new Set<number | undefined>([
      ...view.interfaces
        .filter((item) => (item.attachment?.networkCard ?? 0) === 0)
        .map((item) => item.attachment?.deviceIndex),
      ...view.unreadable.filter((item) => item.networkCard === 0).map((item) => item.deviceIndex),
      ...coming.map(deviceIndexOf),
    ]);
    let index = requirements.firstInterfaceIndex;
    while (taken.has(index)) index++;
    return index;
  }

  /** An interface is on its way that can take more than what it comes with. */
  #willHaveRoom(): boolean {
    const { limits, underway } = this.#facts;
    return underway.some((step) => slotsLeft(step, limits.addressesPerInterface - 1) > 0);
  }

  /** Slots of an interface that the plan may fill, now or once it may be touched again. */
  #roomOn(item: NetworkInterface): number {
    const { limits, requirements, underway } = this.#facts;
    if (exclusionOf(item, requirements) !== undefined || !this.#isEligible(item.subnetId)) return 0;
    const coming = [...underway, ...this.#steps].reduce((sum, step) => sum + slotsFilled(step, item.id), 0);
    const unconfirmed = this.#facts.view.unconfirmed.get(item.id)?.length ?? 0;
    return roomOn(item, limits) - coming - unconfirmed;
  }

  #blocked(obstacle: Obstacle): undefined {
    this.#obstacle = obstacle;
    return undefined;
  }

  /** Addresses of a subnet that the plan may still take for this. */
  #free(subnetId: string, unit: Unit): number {
    if (!this.#isEligible(subnetId)) return 0;
    if (this.#mostAtOnce(subnetId, unit) === 0) return 0;
    return Math.max(0, this.#facts.free(subnetId) - (this.#taken.get(subnetId) ?? 0));
  }

  #mostAtOnce(subnetId: string, unit: Unit): number {
    if (unit === 'addresses') return Infinity;
    const most = this.#facts.mostPrefixes(subnetId);
    // Subnets that refused nothing come first.
    return unit === 'prefixes' && most < Infinity ? 0 : most;
  }

  #isEligible(subnetId: string): boolean {
    return this.#facts.infrastructure.subnets.get(subnetId)?.eligible === true;
  }

  #add(step: PlannedStep): void {
    this.#steps.push(step);
    this.#taken.set(step.subnetId, (this.#taken.get(step.subnetId) ?? 0) + takenBy(step));
    const gained = yieldOf(step, this.#facts.requirements);
    this.#missing = Math.max(0, this.#missing - gained);
    this.#most -= gained;
  }
}

/** Once it is attached, the next plan sees what the rest of it takes: that is a matter of seconds. */
function deferredBy(step: PlannedStep): number {
  return step.kind === 'adoptInterface' && step.room > 0 ? Infinity : 0;
}
