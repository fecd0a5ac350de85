// Plans nodes that do not exist yet, one after the other: what each gets, which subnets that takes it from and when they run
// out, and how long the rate limits hold the calls back. Pure.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { OperationKind } from '../../providers/contract/operations.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import { emptyInfrastructure } from '../../providers/contract/infrastructure.ts';
import { obstacleCondition } from '../../node/conditions/plan-condition.ts';
import { operationsOf } from '../../node/allocate/planned-step.ts';
import { type AddedNode, addNode, stages } from './added-node.ts';
import { CallTimes } from './call-times.ts';
import type { ChosenKind } from './chosen-kinds.ts';
import type { PlanningFacts } from './planning-facts.ts';
import { counted } from '../status/words.ts';
import { SubnetSupply } from './subnet-supply.ts';

export interface Plan {
  readonly nodes: number;
  /** How many of them get all that they ask for. */
  readonly fit: number;
  /** A node of each kind that there are nodes of, in the order of the kinds. */
  readonly kinds: readonly PlannedKind[];
  readonly total: PlannedSum;
  /** Calls by operation. */
  readonly calls: Readonly<Partial<Record<OperationKind, number>>>;
  readonly seconds: PlannedTimes;
  /** The rate limit that holds the calls back; absent if none does. */
  readonly limit?: string;
  /** Subnets from which the plan takes, or that have nothing left for it. */
  readonly subnets: readonly SubnetOfPlan[];
  readonly problems: readonly PlanProblem[];
}

export interface PlannedSum {
  /** Interfaces that are created. */
  readonly newInterfaces: number;
  /** Addresses for pods, those of prefixes included. */
  readonly addresses: number;
  readonly prefixes: number;
}

export interface PlannedKind {
  readonly zone: string;
  readonly type: string;
  readonly pods: number;
  /** How many of the nodes are of it. */
  readonly nodes: number;
  readonly like: { readonly nodes: number; readonly example: string; readonly subnet: string };
  /** Interfaces of its first node, with those that its instance has at first. */
  readonly interfaces: number;
  readonly addresses: number;
  readonly prefixes: number;
}

/** Under the rate limits alone, from now until the last call is sent. */
export interface PlannedTimes {
  /** For the addresses with which agents start. */
  readonly start: number;
  /** For those of all pods. */
  readonly pods: number;
  /** For those that are kept free, too. */
  readonly all: number;
}

export interface SubnetOfPlan {
  readonly id: string;
  readonly name?: string;
  readonly zone: string;
  readonly free: number;
  readonly taken: number;
  readonly left: number;
  /** After so many nodes, it has nothing left for the next one; absent if it lasts. */
  readonly runsOutAfter?: number;
}

/** A problem that keeps nodes from all that they ask for. */
export interface PlanProblem {
  readonly reason: string;
  readonly why: string;
  /** The first of the nodes, counted from 1. */
  readonly firstNode: number;
  readonly nodes: number;
  /** Pods of these nodes that get no address. */
  readonly pods: number;
}

interface Planned {
  readonly kind: ChosenKind;
  readonly added: AddedNode;
}

export function planNodes(count: number, kinds: readonly ChosenKind[], facts: PlanningFacts): Plan {
  const supply = new SubnetSupply(facts.subnets);
  const { interfaces, change, maxPerCall = Infinity } = facts.planning;
  const adding = {
    infrastructure: infrastructureOf(facts),
    traits: { interfaces, change, maxPerCall },
    supply,
  };
  const outOf = new Map<string, number>();
  const planned = Array.from({ length: count }, (_, index): Planned => {
    const kind = kinds[index % kinds.length] as ChosenKind;
    const added = addNode(kind.node, adding);
    for (const id of exhaustedBy(added)) if (!outOf.has(id)) outOf.set(id, index);
    for (const { id } of facts.subnets) if (supply.left(id) === 0 && !outOf.has(id)) outOf.set(id, index + 1);
    return { kind, added };
  });
  return {
    nodes: count,
    fit: planned.filter(({ added }) => fits(added)).length,
    // A plan of fewer nodes than kinds has none of the others.
    kinds: kinds.slice(0, count).map((kind) => plannedKind(kind, planned)),
    total: totalOf(planned),
    calls: callsOf(planned),
    ...timesOf(planned, facts),
    subnets: subnetsOf(facts, supply, outOf),
    problems: problemsOf(planned, facts),
  };
}

export function fits({ unlaunched, unservedPods, unmet }: AddedNode): boolean {
  return unlaunched === undefined && unservedPods === 0 && unmet === 0;
}

function infrastructureOf({ planning, subnets }: PlanningFacts): Infrastructure {
  const { routeTables, unreadRouteTables = {}, securityGroups, subnetTags } = planning;
  const denied = Object.entries(unreadRouteTables).map(
    ([id, failure]) => [id, { ...failure, kind: 'notAuthorized', requestId: undefined } as const] as const,
  );
  return {
    ...emptyInfrastructure,
    networkIds: new Set(subnets.map(({ network }) => network)),
    subnets: new Map(
      subnets.map((subnet) => {
        const { id, network: networkId, free: freeAddresses } = subnet;
        return [id, { ...subnet, networkId, freeAddresses, tags: subnetTags[id] ?? {} }];
      }),
    ),
    routeTables: routeTables.map(({ network: networkId, subnets: subnetIds }, index) => ({
      id: String(index),
      networkId,
      subnetIds,
    })),
    securityGroups,
    ...(denied.length > 0 && { denied: { routeTables: new Map<string, CloudFailure>(denied) } }),
  };
}

function exhaustedBy({ unlaunched, plan }: AddedNode): readonly string[] {
  if (unlaunched !== undefined) return [unlaunched];
  return plan?.obstacle?.kind === 'subnetsExhausted' ? plan.obstacle.subnetIds : [];
}

function plannedKind(kind: ChosenKind, planned: readonly Planned[]): PlannedKind {
  const { zone, like, node } = kind;
  const own = planned.filter((each) => each.kind === kind);
  const { interfaces = 0, addresses = 0, prefixes = 0 } = own[0]?.added ?? {};
  return {
    zone,
    type: node.requirements.instanceType,
    pods: node.pods,
    nodes: own.length,
    like: { nodes: like.nodes, example: like.example, subnet: node.given[0]?.subnet ?? '' },
    interfaces,
    addresses,
    prefixes,
  };
}

function totalOf(planned: readonly Planned[]): PlannedSum {
  const sumOf = (valueOf: (each: Planned) => number): number =>
    planned.reduce((sum, each) => sum + valueOf(each), 0);
  return {
    newInterfaces: sumOf(({ added, kind }) => Math.max(0, added.interfaces - kind.node.given.length)),
    addresses: sumOf(({ added }) => added.addresses),
    prefixes: sumOf(({ added }) => added.prefixes),
  };
}

function callsOf(planned: readonly Planned[]): Plan['calls'] {
  const counts: Partial<Record<OperationKind, number>> = {};
  for (const { added } of planned)
    for (const { step } of added.steps)
      for (const operation of operationsOf[step.kind]) counts[operation] = (counts[operation] ?? 0) + 1;
  return counts;
}

/** All nodes are added at once: what agents start with goes before what pods wait for, and that before what is kept free. */
function timesOf(planned: readonly Planned[], { buckets }: PlanningFacts): Pick<Plan, 'seconds' | 'limit'> {
  const times = new CallTimes(buckets);
  const [start = 0, pods = 0, all = 0] = stages.map((stage) => {
    for (const [index, { added, kind }] of planned.entries())
      for (const step of added.steps) if (step.stage === stage) times.send(step, kind.like.calls, index);
    return Math.round(times.now / 1000);
  });
  const { slowest } = times;
  return { seconds: { start, pods, all }, ...(slowest !== undefined && { limit: slowest }) };
}

function subnetsOf(
  { subnets }: PlanningFacts,
  supply: SubnetSupply,
  outOf: ReadonlyMap<string, number>,
): readonly SubnetOfPlan[] {
  return subnets
    .map(({ id, name, zone, free }): SubnetOfPlan => {
      const left = supply.left(id);
      const after = outOf.get(id);
      return {
        id,
        ...(name !== undefined && { name }),
        zone,
        free,
        taken: free - left,
        left,
        ...(after !== undefined && (free > left || after === 0) && { runsOutAfter: after }),
      };
    })
    .filter(({ id, taken }) => taken > 0 || outOf.get(id) === 0);
}

function problemsOf(planned: readonly Planned[], facts: PlanningFacts): readonly PlanProblem[] {
  const found = planned.flatMap(({ kind, added }, index) =>
    fits(added) ? [] : [{ ...conditionOf(kind, added, facts), index, pods: added.unservedPods }],
  );
  return [...Map.groupBy(found, ({ why }) => why).values()].map((alike) => {
    const [{ reason, why, index }] = alike as [(typeof alike)[number], ...typeof alike];
    const pods = alike.reduce((sum, each) => sum + each.pods, 0);
    return { reason, why, firstNode: index + 1, nodes: alike.length, pods };
  });
}

/** The reason that such a node would have. */
function conditionOf(
  { node }: ChosenKind,
  { unlaunched, addresses, plan }: AddedNode,
  { planning: { words } }: PlanningFacts,
): Pick<PlanProblem, 'reason' | 'why'> {
  if (unlaunched !== undefined)
    return {
      reason: 'SubnetsExhausted',
      why: `no address is left in ${unlaunched} for the instance itself: free some, or start the nodes in another subnet`,
    };
  if (plan?.obstacle !== undefined) {
    const { reason, message: why } = obstacleCondition(plan.obstacle, words);
    return { reason, why };
  }
  const type = node.requirements.instanceType || 'such a node';
  const isOfNode = node.watermarks.maxAllocate > 0 && addresses >= node.watermarks.maxAllocate;
  return isOfNode
    ? {
        reason: 'MaxAllocateReached',
        why: `max-allocate of the nodes is ${node.watermarks.maxAllocate}, for ${counted(node.pods, 'pod')}: raise it, or place fewer pods on a node`,
      }
    : {
        reason: 'InstanceFull',
        why: `${type} holds ${counted(addresses, 'address', 'es')} for pods, for ${counted(node.pods, 'pod')} and ${node.agentAddresses} of the agent: ${words.remedies.fullInstance}, or place fewer pods on a node`,
      };
}
