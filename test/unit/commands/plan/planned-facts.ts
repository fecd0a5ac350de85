// Facts of /status for plans, for tests: nodes of m5.large with 3 interfaces of 10 addresses in one subnet, and two other subnets.
import { chooseKinds, type PlanQuestion } from '../../../../src/commands/plan/chosen-kinds.ts';
import { type Plan, planNodes } from '../../../../src/commands/plan/plan.ts';
import type { PlanningFacts, PlanningSubnet } from '../../../../src/commands/plan/planning-facts.ts';
import type { NodeKind } from '../../../../src/controller/reporting/planning-report.ts';
import { m5Large, requirements } from '../../node/allocation-facts.ts';

export function kind(change: Partial<NodeKind> = {}): NodeKind {
  return {
    nodes: 5,
    example: 'one',
    requirements: requirements({ securityGroupIds: ['sg-1'] }),
    watermarks: { preAllocate: 8, minAllocate: 0, maxAllocate: 0, maxAboveWatermark: 0 },
    limits: m5Large,
    ipv6: false,
    given: [{ subnet: 'subnet-1', deviceIndex: 0, ofOthers: 0, secured: true }],
    calls: {
      createInterface: ['Create'],
      attachInterface: ['Attach'],
      allocateIPs: ['Assign'],
      allocatePrefixes: ['Assign'],
      allocateIpv6Prefix: ['AssignIpv6'],
    },
    ...change,
  };
}

export function subnet(id: string, free: number, change: Partial<PlanningSubnet> = {}): PlanningSubnet {
  return {
    id,
    free,
    zone: 'us-west-1a',
    network: 'vpc-1',
    eligible: true,
    cidr: '10.0.0.0/16',
    ...change,
  };
}

export function facts(
  change: Partial<Omit<PlanningFacts, 'planning'>> & { planning?: Partial<PlanningFacts['planning']> } = {},
): PlanningFacts {
  const { planning = {}, ...others } = change;
  return {
    identity: 'a',
    subnets: [subnet('subnet-1', 10_000)],
    buckets: [],
    ...others,
    planning: {
      ipam: 'eni',
      interfaces: 'made',
      change: 'perInterface',
      kinds: [kind()],
      routeTables: [],
      securityGroups: [],
      subnetTags: {},
      words: {
        fields: {
          instanceType: 'type',
          networkId: 'network',
          zone: 'zone',
          securityGroupIds: 'groups',
          securityGroupTags: 'group tags',
        },
        remedies: { fullSubnets: 'add a subnet', fullInstance: 'use a larger type', unseenInstance: '' },
      },
      ...planning,
    },
  };
}

export function question(change: Partial<PlanQuestion> = {}): PlanQuestion {
  return {
    add: 10,
    type: undefined,
    zones: [],
    subnet: undefined,
    pods: 20,
    agentAddresses: 0,
    preAllocate: undefined,
    pool: undefined,
    ...change,
  };
}

export function planned(asked: Partial<PlanQuestion>, known = facts()): Plan {
  const { add } = question(asked);
  const chosen = chooseKinds(question(asked), known.planning);
  if ('problem' in chosen) throw new Error(chosen.problem);
  return planNodes(add, chosen.kinds, known);
}
