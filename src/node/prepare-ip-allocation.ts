// The plan for a node that lacks addresses: first the interfaces that have room, then as many new interfaces as the rest
// needs, each filled as it is created. Pure: the same facts give the same plan.
import type { InstanceLimits } from '../providers/allocation-implementation.ts';
import type { Infrastructure } from '../providers/infrastructure.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';
import type { InstanceOrphans } from '../providers/orphans.ts';
import { adoptableFor, podAddressesOf } from './adoption.ts';
import { addressesPerInterface, occupiedSlots, roomOn } from './capacity.ts';
import { exclusionOf, type NodeRequirements } from './node-requirements.ts';
import { chooseSecurityGroups } from './security-group-choice.ts';
import { chooseSubnet } from './subnet-choice.ts';

export interface AllocationFacts {
  readonly view: InstanceView;
  readonly limits: InstanceLimits;
  readonly requirements: NodeRequirements;
  readonly infrastructure: Infrastructure;
  /** Addresses of a subnet that may still be asked for. */
  readonly free: (subnetId: string) => number;
  /** Addresses to gain, counted from what the view shows; what is under way is not taken off. */
  readonly wanted: number;
  /** Steps that were begun and whose end the view does not show yet. */
  readonly underway: readonly PlannedStep[];
  /** Interfaces not to be touched for the time being. */
  readonly frozen: ReadonlySet<string>;
  /** Addresses that may be gained at all, whatever is wanted; what is under way is not taken off. */
  readonly most: number;
  /** Interfaces that were made for the instance and are attached to nothing. */
  readonly orphans: InstanceOrphans;
}

export type PlannedStep =
  | {
      readonly kind: 'allocateIPs';
      readonly interfaceId: string;
      readonly subnetId: string;
      readonly count: number;
    }
  | {
      readonly kind: 'adoptInterface';
      readonly interfaceId: string;
      readonly subnetId: string;
      readonly deviceIndex: number;
      /** Pod addresses that it has. */
      readonly count: number;
      /** Slots for more addresses that it has: they are filled once it is attached. */
      readonly room: number;
    }
  | {
      readonly kind: 'createInterface';
      readonly subnetId: string;
      readonly securityGroupIds: readonly string[];
      readonly deviceIndex: number;
      /** Secondary addresses that it starts with. */
      readonly count: number;
    };

export interface AllocationPlan {
  readonly steps: readonly PlannedStep[];
  /** Addresses that are wanted and that no step brings. */
  readonly shortfall: number;
  /** What stands in the way of the rest. */
  readonly obstacle: Obstacle | undefined;
}

export type Obstacle =
  | { readonly kind: 'noInterfaceSlots'; readonly interfaces: number }
  | { readonly kind: 'subnetsExhausted'; readonly subnetIds: readonly string[] }
  | { readonly kind: 'noSubnetMatches'; readonly wanted: string }
  | { readonly kind: 'noSecurityGroupMatches'; readonly wanted: string }
  | { readonly kind: 'securityGroupsUnknown' };

export function prepareIPAllocation(facts: AllocationFacts): AllocationPlan {
  const draft = new Draft(facts);
  draft.fillInterfaces();
  draft.adoptInterfaces();
  draft.createInterfaces();
  return draft.plan();
}

/** Pod addresses that a step brings when it succeeds. */
export function yieldOf(step: PlannedStep, { usePrimaryAddress }: NodeRequirements): number {
  return step.kind === 'createInterface' && usePrimaryAddress ? step.count + 1 : step.count;
}

/** Addresses that a step takes from its subnet. */
export function takenBy(step: PlannedStep): number {
  if (step.kind === 'adoptInterface') return 0;
  return step.kind === 'createInterface' ? step.count + 1 : step.count;
}

/** Where a step puts a new interface; undefined for a step that brings none. */
export function deviceIndexOf(step: PlannedStep): number | undefined {
  return step.kind === 'allocateIPs' ? undefined : step.deviceIndex;
}

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
  #obstacle: Obstacle | undefined;
  /** An interface could serve the rest, only not at this moment. */
  #isPassing = false;

  constructor(facts: AllocationFacts) {
    this.#facts = facts;
    const coming = facts.underway.reduce((sum, step) => sum + yieldOf(step, facts.requirements), 0);
    this.#missing = Math.max(0, facts.wanted - coming);
    this.#deferred = facts.underway.reduce((sum, step) => sum + deferredBy(step), 0);
  }

  fillInterfaces(): void {
    const { view, frozen } = this.#facts;
    for (const item of view.interfaces) {
      if (this.#missing === 0) return;
      const room = this.#roomOn(item);
      if (room <= 0) continue;
      if (frozen.has(item.id) || item.attachment?.state !== 'attached') {
        this.#isPassing = true;
        continue;
      }
      const lacking = Math.min(this.#missing, room);
      const count = Math.min(lacking, this.#free(item.subnetId));
      if (count > 0) this.#add({ kind: 'allocateIPs', interfaceId: item.id, subnetId: item.subnetId, count });
      if (count < lacking) this.#exhausted.add(item.subnetId);
    }
  }

  /** What was made for the instance and left over comes before anything new. */
  adoptInterfaces(): void {
    const { orphans, view, requirements, infrastructure, limits, underway, most } = this.#facts;
    const known = new Set([...view.interfaces, ...view.unreadable].map(({ id }) => id));
    const isAdoptable = (item: NetworkInterface): boolean =>
      !known.has(item.id) && adoptableFor(item, requirements, infrastructure);
    let left = most - underway.reduce((sum, step) => sum + yieldOf(step, requirements), 0);
    for (const item of orphans.fit.filter(isAdoptable)) {
      const deviceIndex = this.#freeDeviceIndex();
      if (this.#missing <= this.#deferred || deviceIndex === undefined) return;
      const count = podAddressesOf(item, requirements);
      if (count > left - this.#gained()) continue;
      const { id: interfaceId, subnetId } = item;
      const room = Math.min(roomOn(item, limits), this.#free(subnetId));
      const step = { kind: 'adoptInterface', interfaceId, subnetId, deviceIndex, count, room } as const;
      this.#add(step);
      this.#deferred += deferredBy(step);
    }
    for (const item of orphans.unclear.filter(isAdoptable)) {
      left -= podAddressesOf(item, requirements);
      if (left >= this.#gained()) this.#deferred += podAddressesOf(item, requirements) + roomOn(item, limits);
    }
    if (!orphans.read) this.#deferred = Infinity;
  }

  createInterfaces(): void {
    while (this.#missing > this.#deferred) {
      const step = this.#nextInterface();
      if (step === undefined) return;
      this.#add(step);
    }
  }

  plan(): AllocationPlan {
    const stuck = this.#missing > this.#deferred && !this.#isPassing;
    return { steps: this.#steps, shortfall: this.#missing, obstacle: stuck ? this.#obstacle : undefined };
  }

  #nextInterface(): PlannedStep | undefined {
    const { limits, requirements, infrastructure, view } = this.#facts;
    const deviceIndex = this.#freeDeviceIndex();
    if (deviceIndex === undefined || addressesPerInterface(limits, requirements) === 0) {
      if (this.#exhausted.size === 0) {
        return this.#blocked({ kind: 'noInterfaceSlots', interfaces: limits.interfaces });
      }
      return this.#blocked({ kind: 'subnetsExhausted', subnetIds: [...this.#exhausted].sort() });
    }
    const groups = chooseSecurityGroups(requirements, infrastructure, view);
    if (groups.kind === 'noneMatches')
      return this.#blocked({ kind: 'noSecurityGroupMatches', wanted: groups.wanted });
    if (groups.kind === 'unknown') return this.#blocked({ kind: 'securityGroupsUnknown' });
    const free = (subnetId: string): number => this.#free(subnetId);
    const choice = chooseSubnet(requirements, {
      infrastructure,
      free,
      fullInterface: limits.addressesPerInterface,
    });
    if (choice.kind === 'noneMatches')
      return this.#blocked({ kind: 'noSubnetMatches', wanted: choice.wanted });
    if (choice.kind === 'exhausted') {
      return this.#blocked({ kind: 'subnetsExhausted', subnetIds: choice.subnetIds });
    }
    const fromPrimary = requirements.usePrimaryAddress ? 1 : 0;
    const count = Math.min(
      this.#missing - fromPrimary,
      limits.addressesPerInterface - 1,
      this.#free(choice.subnet.id) - 1,
    );
    return {
      kind: 'createInterface',
      subnetId: choice.subnet.id,
      securityGroupIds: groups.ids,
      deviceIndex,
      count,
    };
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

  /** Addresses that the plan may add to an interface, now or once it may be touched again. */
  #roomOn(item: NetworkInterface): number {
    const { limits, requirements, underway } = this.#facts;
    if (exclusionOf(item, requirements) !== undefined || !this.#isEligible(item.subnetId)) return 0;
    const coming = underway.reduce((sum, step) => sum + (isOn(step, item.id) ? step.count : 0), 0);
    return roomOn(item, limits) - coming;
  }

  /** What the plan brings so far. */
  #gained(): number {
    return this.#steps.reduce((sum, step) => sum + yieldOf(step, this.#facts.requirements), 0);
  }

  #blocked(obstacle: Obstacle): undefined {
    this.#obstacle = obstacle;
    return undefined;
  }

  #free(subnetId: string): number {
    if (!this.#isEligible(subnetId)) return 0;
    return Math.max(0, this.#facts.free(subnetId) - (this.#taken.get(subnetId) ?? 0));
  }

  #isEligible(subnetId: string): boolean {
    return this.#facts.infrastructure.subnets.get(subnetId)?.eligible === true;
  }

  #add(step: PlannedStep): void {
    this.#steps.push(step);
    this.#taken.set(step.subnetId, (this.#taken.get(step.subnetId) ?? 0) + takenBy(step));
    this.#missing = Math.max(0, this.#missing - yieldOf(step, this.#facts.requirements));
  }
}

/** Once it is attached, the next plan sees what the rest of it takes: that is a matter of seconds. */
function deferredBy(step: PlannedStep): number {
  return step.kind === 'adoptInterface' && step.room > 0 ? Infinity : 0;
}

function isOn(step: PlannedStep, interfaceId: string): boolean {
  return step.kind === 'allocateIPs' && step.interfaceId === interfaceId;
}
