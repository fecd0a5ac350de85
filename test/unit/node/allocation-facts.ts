// The facts that planning for one node needs, for tests: an m5.large in a network of two subnets, with the changes that a
// test gives.
import type {
  AwaitedAttachment,
  InstanceLimits,
  InstanceView,
  OccupiedSlot,
  UnreadableInterface,
} from '../../../src/providers/contract/facts.ts';
import {
  emptyInfrastructure,
  type Infrastructure,
  type Subnet,
} from '../../../src/providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../../src/providers/contract/network-interface.ts';
import type { NodeRequirements } from '../../../src/node/demand/node-requirements.ts';
import type {
  AllocationFacts,
  AllocationNeed,
  CallRules,
  NetworkSupply,
  OngoingChanges,
} from '../../../src/node/allocate/allocation-facts.ts';
import type { KnownInstance } from '../../../src/node/demand/capacity.ts';
import { traits } from '../providers/scripted-implementation.ts';
import { addresses, attachment, networkInterface } from '../providers/interfaces.ts';

export const m5Large: InstanceLimits = { interfaces: 3, addressesPerInterface: 10, prefixes: true };

export function requirements(change: Partial<NodeRequirements> = {}): NodeRequirements {
  return {
    instanceType: 'm5.large',
    networkId: 'vpc-1',
    zone: 'us-west-1a',
    nodeSubnetId: 'subnet-1',
    firstInterfaceIndex: 0,
    excludeInterfaceTags: {},
    usePrimaryAddress: false,
    prefixDelegation: false,
    deleteOnTermination: true,
    subnetIds: [],
    subnetTags: {},
    strictSubnets: false,
    securityGroupIds: [],
    securityGroupTags: {},
    ...change,
  };
}

export function awaitedAttachment(change: Partial<AwaitedAttachment> = {}): AwaitedAttachment {
  return { attachmentId: 'attach-1', since: 0, isOverdue: false, ...change };
}

export function subnet(id: string, change: Partial<Subnet> = {}): Subnet {
  return {
    id,
    cidr: '10.0.0.0/16',
    networkId: 'vpc-1',
    zone: 'us-west-1a',
    tags: {},
    freeAddresses: 0,
    eligible: true,
    ...change,
  };
}

export function infrastructure(
  subnets: readonly Subnet[],
  change: Partial<Infrastructure> = {},
): Infrastructure {
  return {
    ...emptyInfrastructure,
    subnets: new Map(subnets.map((item) => [item.id, item])),
    networks: new Map([['vpc-1', { id: 'vpc-1', primaryCidr: '10.0.0.0/16', cidrs: [] }]]),
    ...change,
  };
}

/** The interface at this device index, with this many secondary addresses. */
export function eni(
  deviceIndex: number,
  count = 0,
  change: Partial<NetworkInterface> = {},
): NetworkInterface {
  return networkInterface({
    id: `eni-${deviceIndex}`,
    primaryAddress: `10.0.${deviceIndex}.4`,
    addresses: addresses(count, deviceIndex),
    attachment: attachment({ id: `attach-${deviceIndex}`, deviceIndex }),
    ...change,
  });
}

export function view(
  interfaces: readonly NetworkInterface[],
  unreadable: readonly UnreadableInterface[] = [],
  addressless: readonly OccupiedSlot[] = [],
): InstanceView {
  return {
    id: 'i-1',
    read: true,
    presence: 'shown',
    interfaces,
    unreadable,
    obscured: [],
    addressless,
    instance: undefined,
    unconfirmed: new Map(),
    possiblyGone: new Set(),
    awaited: new Map(),
    withdrawn: new Set(),
    unseen: new Set(),
    refreshDue: undefined,
  };
}

/** An EFA without IP. */
export function addressless(change: Partial<OccupiedSlot> = {}): OccupiedSlot {
  return { id: 'eni-efa', instanceId: 'i-1', deviceIndex: 1, networkCard: 0, ...change };
}

export function unreadable(change: Partial<UnreadableInterface> = {}): UnreadableInterface {
  return { id: 'eni-x', instanceId: 'i-1', deviceIndex: 1, networkCard: 0, problem: 'broken', ...change };
}

/** All facts side by side, for the rows of tables. */
export type FactsInARow = KnownInstance &
  AllocationNeed &
  NetworkSupply &
  CallRules &
  Pick<OngoingChanges, 'frozen'> &
  Pick<AllocationFacts, 'orphans'> & { readonly stepsInFlight: OngoingChanges['steps'] };

export function grouped(row: FactsInARow): AllocationFacts {
  const { view: shown, limits, requirements: required, orphans } = row;
  const { wanted, max, ipv6 } = row;
  const { infrastructure: known, free, maxPrefixes } = row;
  const { traits: ofCloud, refusalOf, maxFor, preferNew } = row;
  return {
    view: shown,
    limits,
    requirements: required,
    orphans,
    need: { wanted, max, ipv6 },
    network: { infrastructure: known, free, maxPrefixes },
    ongoing: { steps: row.stepsInFlight, frozen: row.frozen },
    calls: { traits: ofCloud, refusalOf, maxFor, preferNew },
  };
}

/** `free`: addresses that may be requested, by subnet; by default 100 in `subnet-1`. */
export function facts(
  change: Partial<Omit<FactsInARow, 'free'>> & { readonly free?: Readonly<Record<string, number>> } = {},
): AllocationFacts {
  const { free = { 'subnet-1': 100 }, ...rest } = change;
  return grouped({
    view: view([eni(0)]),
    limits: m5Large,
    requirements: requirements(),
    infrastructure: infrastructure(Object.keys(free).map((id) => subnet(id))),
    free: (subnetId) => free[subnetId] ?? 0,
    maxPrefixes: () => Infinity,
    maxFor: () => Infinity,
    wanted: 8,
    max: Infinity,
    ipv6: 'needless',
    stepsInFlight: [],
    frozen: new Set(),
    refusalOf: () => undefined,
    traits,
    orphans: { read: true, fit: [], unclear: [] },
    preferNew: false,
    ...rest,
  });
}
