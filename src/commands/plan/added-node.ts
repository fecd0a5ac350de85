// The growth of one node that does not exist yet, by the functions that plan for nodes: its agent starts, its pods come, and
// they run. Pure but for the subnets, from which it takes.
import type { NodeKind } from '../../controller/reporting/planning-report.ts';
import type { AllocationFacts, CallRules } from '../../node/allocate/allocation-facts.ts';
import type { AllocationPlan } from '../../node/allocate/allocation-plan.ts';
import type { PlannedStep } from '../../node/allocate/planned-step.ts';
import { bringsIpv6 } from '../../node/allocate/planned-step.ts';
import { prepareIPAllocation } from '../../node/allocate/prepare-ip-allocation.ts';
import { maxAllocatable, podAddressCount } from '../../node/demand/capacity.ts';
import { exclusionOf, sparedOn } from '../../node/demand/node-requirements.ts';
import { addressesToAllocate, priorityOf, roomUnder, type Usage } from '../../node/demand/statistics.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import { formatAddress } from '../../providers/contract/ipv4.ts';
import {
  attachedTo,
  interfaceWith,
  type NetworkInterface,
} from '../../providers/contract/network-interface.ts';
import type { Priority } from '../../providers/contract/priority.ts';
import type { SubnetSupply } from './subnet-supply.ts';

export interface NodeToAdd
  extends Pick<NodeKind, 'requirements' | 'watermarks' | 'limits' | 'ipv6' | 'given'> {
  /** Pods that need an address. */
  readonly pods: number;
  /** Addresses that its agent takes for itself once it runs. */
  readonly agentAddresses: number;
}

export interface CloudPlace {
  readonly infrastructure: Infrastructure;
  readonly traits: CallRules['traits'];
  readonly supply: SubnetSupply;
}

/** Stages of a node's life: its agent waits for addresses, its pods wait, its pods run. */
export const stages = ['start', 'pods', 'run'] as const;

export interface StepOfNode {
  readonly stage: (typeof stages)[number];
  readonly step: PlannedStep;
  readonly priority: Priority;
}

export interface AddedNode {
  /** Every step that the cloud is asked for, refused ones included. */
  readonly steps: readonly StepOfNode[];
  /** The subnet that has no address for the instance itself, which is not launched then. */
  readonly unlaunched: string | undefined;
  readonly interfaces: number;
  readonly prefixes: number;
  /** Pod addresses. */
  readonly addresses: number;
  /** Pods without an address. */
  readonly unservedPods: number;
  /** Addresses that it wants in the end and does not get. */
  readonly unmet: number;
  /** The last plan, which brings nothing more. */
  readonly plan: AllocationPlan | undefined;
}

export function addNode(node: NodeToAdd, facts: CloudPlace): AddedNode {
  const unlaunched = launch(node, facts.supply);
  return unlaunched === undefined
    ? new Growing(node, facts).run()
    : {
        steps: [],
        unlaunched,
        interfaces: 0,
        prefixes: 0,
        addresses: 0,
        plan: undefined,
        unservedPods: node.pods,
        unmet: 0,
      };
}

/** The instance takes the addresses of its own interfaces. */
function launch({ given }: NodeToAdd, supply: SubnetSupply): string | undefined {
  return given.find(({ subnet, ofOthers }) => !supply.launch(subnet, 1 + ofOthers))?.subnet;
}

class Growing {
  readonly #node: NodeToAdd;
  readonly #facts: CloudPlace;
  readonly #steps: StepOfNode[] = [];
  #view: InstanceView;
  /** Addresses and prefixes so far: each gets another one. */
  #count = 0;

  constructor(node: NodeToAdd, facts: CloudPlace) {
    this.#node = node;
    this.#facts = facts;
    this.#view = { ...noView, interfaces: node.given.map((item, index) => this.#given(item, index)) };
  }

  run(): AddedNode {
    const { pods, agentAddresses: own } = this.#node;
    this.#grow('start', () => ({ used: 0, pendingPods: 0 }));
    this.#grow('pods', () => ({ used: Math.min(own, this.#available), pendingPods: pods }));
    const plan = this.#grow('run', () => ({ used: Math.min(own + pods, this.#available), pendingPods: 0 }));
    const { interfaces } = this.#view;
    return {
      steps: this.#steps,
      unlaunched: undefined,
      interfaces: interfaces.length,
      prefixes: interfaces.reduce((sum, { prefixes }) => sum + prefixes.length, 0),
      addresses: this.#available,
      unservedPods: Math.min(pods, Math.max(0, own + pods - this.#available)),
      unmet: plan.unmet,
      plan,
    };
  }

  get #available(): number {
    const { requirements } = this.#node;
    return this.#view.interfaces
      .filter((item) => exclusionOf(item, requirements) === undefined)
      .reduce(
        (sum, item) => sum + podAddressCount(item, requirements) - sparedOn(item, requirements).length,
        0,
      );
  }

  /** Takes steps until a plan has none. */
  #grow(stage: StepOfNode['stage'], usage: () => Pick<Usage, 'used' | 'pendingPods'>): AllocationPlan {
    for (;;) {
      const now = { ...usage(), available: this.#available };
      const plan = prepareIPAllocation(this.#factsFor(now));
      if (plan.steps.length === 0) return plan;
      const priority = priorityOf(now, false);
      for (const step of plan.steps) {
        this.#steps.push({ stage, step, priority });
        if (this.#facts.supply.carryOut(step)) this.#apply(step);
      }
    }
  }

  #factsFor(usage: Usage): AllocationFacts {
    const { requirements, limits, watermarks, ipv6 } = this.#node;
    const { infrastructure, traits, supply } = this.#facts;
    const max = maxAllocatable(limits, this.#view, requirements);
    const marks = { ...watermarks, maxAllocate: watermarks.maxAllocate > 0 ? watermarks.maxAllocate : max };
    const hasIpv6 = this.#view.interfaces.some((item) => item.ipv6Prefixes !== undefined);
    return {
      view: this.#view,
      limits,
      requirements,
      need: {
        wanted: addressesToAllocate(usage, marks),
        max: roomUnder(usage.available, marks),
        ipv6: !ipv6 ? 'needless' : hasIpv6 ? 'held' : 'wanted',
      },
      network: {
        infrastructure,
        free: (subnetId) => supply.free(subnetId),
        maxPrefixes: (subnetId) => supply.maxPrefixes(subnetId),
      },
      orphans: { read: true, fit: [], unclear: [] },
      ongoing: { steps: [], frozen: none },
      calls: { traits, refusalOf: () => undefined, maxFor: () => Infinity, preferNew: false },
    };
  }

  #apply(step: PlannedStep): void {
    const { interfaces } = this.#view;
    const grown =
      step.kind === 'createInterface'
        ? [...interfaces, this.#created(step)]
        : interfaces.map((item) =>
            step.kind !== 'adoptInterface' && item.id === step.interfaceId ? this.#filled(item, step) : item,
          );
    this.#view = { ...this.#view, interfaces: grown };
  }

  #created(step: PlannedStep & { readonly kind: 'createInterface' }): NetworkInterface {
    const { networkId, zone } = this.#node.requirements;
    const { subnetId, deviceIndex, securityGroupIds, count, prefixCount } = step;
    return interfaceWith({
      id: `new-${deviceIndex}`,
      networkId,
      subnetId,
      zone,
      primaryAddress: this.#nextAddress(),
      addresses: this.#addresses(count),
      prefixes: this.#prefixes(prefixCount),
      ...(bringsIpv6(step) && { ipv6Prefixes: [anyIpv6Prefix] }),
      securityGroupIds,
      attachment: attachedTo(noView.id, deviceIndex),
    });
  }

  #filled(
    item: NetworkInterface,
    { kind, count }: PlannedStep & { readonly count: number },
  ): NetworkInterface {
    switch (kind) {
      case 'allocatePrefixes':
        return { ...item, prefixes: [...item.prefixes, ...this.#prefixes(count)] };
      case 'allocateIpv6Prefix':
        return { ...item, ipv6Prefixes: [anyIpv6Prefix] };
      default:
        return { ...item, addresses: [...item.addresses, ...this.#addresses(count)] };
    }
  }

  #given(item: NodeKind['given'][number], index: number): NetworkInterface {
    const { networkId: wanted, zone } = this.#node.requirements;
    const { subnet: subnetId, deviceIndex, name, secured } = item;
    const { networkId = wanted } = this.#facts.infrastructure.subnets.get(subnetId) ?? {};
    const ofOthers = this.#addresses(item.ofOthers);
    return interfaceWith({
      id: `given-${index}`,
      ...(name !== undefined && { name }),
      networkId,
      subnetId,
      zone,
      primaryAddress: this.#nextAddress(),
      addresses: ofOthers,
      ...(ofOthers.length > 0 && { ofOthers }),
      securityGroupIds: secured ? ['as-given'] : [],
      attachment: attachedTo(noView.id, deviceIndex),
    });
  }

  #addresses(count: number): readonly string[] {
    return Array.from({ length: count }, () => this.#nextAddress());
  }

  #nextAddress(): string {
    return formatAddress(firstAddress + this.#count++);
  }

  #prefixes(count: number): readonly string[] {
    return Array.from({ length: count }, () => `${formatAddress(firstPrefix + 16 * this.#count++)}/28`);
  }
}

const none: ReadonlySet<string> = new Set();
const noFacts = new Map<string, never>();

/** Any addresses will do: those of one node differ. */
const [firstAddress, firstPrefix, anyIpv6Prefix] = [0x0a_00_00_00, 0x0b_00_00_00, '2001:db8::/80'];

const noView: InstanceView = {
  id: 'new',
  read: true,
  presence: 'shown',
  interfaces: [],
  unreadable: [],
  obscured: [],
  addressless: [],
  instance: undefined,
  unconfirmed: noFacts,
  possiblyGone: none,
  withdrawn: none,
  unseen: none,
  awaited: noFacts,
  refreshDue: undefined,
};
