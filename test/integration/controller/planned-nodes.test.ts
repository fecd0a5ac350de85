// The plan of further nodes against the same nodes as they then really grow, on each cloud: a plan is made from the status of a
// cluster of one node, and a cluster of several lives through what was planned.
import { describe, expect, test } from '@jest/globals';
import { chooseKinds, type PlanQuestion } from '../../../src/commands/plan/chosen-kinds.ts';
import { type Plan, planNodes } from '../../../src/commands/plan/plan.ts';
import { planningFactsIn } from '../../../src/commands/plan/planning-facts.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import type { GivenFlags } from '../../support/given-options.ts';
import { cloudWithPodVpc, podVpc } from '../../support/pod-vpc.ts';
import { instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const minute = 60_000;

/** Addresses that an agent takes for itself. */
const agentAddresses = 2;

interface Case {
  readonly world: (nodes: number) => ClusterWorld;
  readonly flags?: GivenFlags;
  readonly add: number;
  readonly pods: number;
}

async function served({ world: worldOf, flags = {} }: Case, nodes: number) {
  const world = worldOf(nodes);
  const controller = startController(world, { flags });
  await world.startAgents();
  await world.advance(4 * minute);
  return { world, controller };
}

async function plannedBy(staged: Case): Promise<Plan> {
  const { controller } = await served(staged, 1);
  return planOf(controller, { add: staged.add, pods: staged.pods });
}

function planOf({ controller }: WorldController, asked: Partial<PlanQuestion>): Plan {
  const question = {
    add: 1,
    type: undefined,
    zones: [],
    subnet: undefined,
    pods: 0,
    agentAddresses,
    preAllocate: undefined,
    pool: undefined,
    ...asked,
  };
  const facts = planningFactsIn(JSON.stringify(controller.status()));
  if (facts === undefined) throw new Error('the status says nothing to plan with');
  const chosen = chooseKinds(question, facts.planning);
  if ('problem' in chosen) throw new Error(chosen.problem);
  return planNodes(question.add, chosen.kinds, facts);
}

/** Everything that machines hold in the cloud. */
function heldBy(world: ClusterWorld, machines: readonly NodeFacts[]) {
  const interfaces = machines.flatMap((machine) => world.interfaces(machine));
  const taken = new Map<string, number>();
  for (const { subnetId, addresses, prefixes } of interfaces)
    taken.set(subnetId, (taken.get(subnetId) ?? 0) + addresses.length + 16 * prefixes.length);
  return {
    interfaces: interfaces.length,
    prefixes: interfaces.flatMap((item) => item.prefixes).length,
    taken,
  };
}

const cases: Readonly<Record<string, Case>> = {
  'on AWS, with pods in another VPC': {
    world: (count) =>
      new World({
        cloud: cloudWithPodVpc({ instances: [instance({ count })] }),
        configure: () => ({ eni: { securityGroups: [podVpc.group] } }),
      }),
    flags: { 'pod-vpc-id': podVpc.vpc },
    add: 4,
    pods: 6,
  },
  'on AWS, with single addresses in subnets that nodes choose by tags': {
    world: (count) =>
      new World({
        cloud: testCloud({ instances: [instance({ count })] }),
        configure: () => ({ eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } }),
      }),
    add: 3,
    pods: 7,
  },
  'on AWS, on the first interface, too': {
    world: (count) =>
      new World({
        cloud: testCloud({ instances: [instance({ count })] }),
        configure: () => ({ protocol: 'multi-pool' }),
      }),
    add: 4,
    pods: 12,
  },
  'on AWS, with prefixes': {
    // Nodes that are launched break blocks of a small subnet.
    world: (count) =>
      new World({
        cloud: testCloud({
          subnets: [{ ...subnets.nodes, block: '10.0.64.0/18' }],
          routeTables: [],
          instances: [instance({ count })],
        }),
      }),
    flags: { 'aws-enable-prefix-delegation': 'true' },
    add: 3,
    pods: 30,
  },
  'on Azure': {
    world: (count) => new AzureClusterWorld({ cloud: testAzure({ scaleSets: [scaleSet({ count })] }) }),
    add: 3,
    pods: 20,
  },
  'on Alibaba Cloud': {
    world: (count) => new AlibabaWorld({ cloud: testAlibaba({ instances: [ecsInstance({ count })] }) }),
    add: 3,
    pods: 25,
  },
};

describe('a plan of further nodes is what these nodes then have', () => {
  test.each(Object.entries(cases))('%s', async (_, staged) => {
    const { add, pods } = staged;
    const plan = await plannedBy(staged);

    const { world } = await served(staged, 1 + add);
    world.addLivingPods((1 + add) * pods);
    await world.until('every pod has its address', () => world.waiting().length === 0, 30 * minute);
    await world.advance(4 * minute);

    const added = world.machines.slice(1);
    const usage = world.machines.map((_machine, index) => world.used(index).length);
    expect(new Set(usage)).toEqual(new Set([pods + agentAddresses]));
    const held = heldBy(world, added);
    const [kind] = plan.kinds;
    expect(plan.fit).toBe(add);
    expect(held.interfaces).toBe(add * (kind?.interfaces ?? 0));
    expect(held.prefixes).toBe(plan.total.prefixes);
    expect(added.map((machine) => world.pool(machine).size)).toEqual(added.map(() => kind?.addresses));
    const ofPlan = plan.subnets.map(({ id, taken }) => [id.toLowerCase(), taken] as const);
    const ofCloud = [...held.taken].map(([id, taken]) => [id.toLowerCase(), taken] as const);
    expect(new Map(ofPlan)).toEqual(new Map(ofCloud));
    expect(world.broken()).toEqual([]);
  });
});

describe('a subnet that a plan sees run out', () => {
  test('runs out on the node of the plan', async () => {
    const cloud = (count: number) =>
      testCloud({
        subnets: [{ ...subnets.nodes, block: '10.0.0.0/26' }],
        routeTables: [],
        instances: [instance({ count })],
      });
    const staged: Case = { world: (count) => new World({ cloud: cloud(count) }), add: 3, pods: 12 };
    const plan = await plannedBy(staged);

    const { world } = await served(staged, 4);
    world.addLivingPods(4 * staged.pods);
    await world.advance(10 * minute);

    expect(plan.subnets).toEqual([expect.objectContaining({ left: 0, runsOutAfter: 1 })]);
    expect(world.waiting().length).toBeGreaterThan(0);
  });
});
