// What is seeded into the server, as plain data: just enough to show every path. Subnets are as large as possible, because
// these servers pick addresses at random and sometimes pick one twice.
import type { NodeFacts } from '../src/simulator/workload/node-facts.ts';

/** Neither server checks credentials. */
export const credentials = { accessKeyId: 'AKIATHIRDPARTY000001', secretAccessKey: 'headwater-local' };
export const region = 'us-east-1';

/** CIDR blocks of the VPC, the primary one first; the pods of each zone have a block of their own. */
export const blocks = ['10.90.0.0/16', '10.91.0.0/16', '10.92.0.0/16'] as const;

export interface SubnetPlan {
  readonly name: string;
  readonly zone: string;
  readonly block: string;
  /** Value of its tag `purpose`. */
  readonly purpose: string;
}

const [zoneA, zoneB] = [`${region}a`, `${region}b`];

export const subnetPlans = [
  { name: 'nodes-a', zone: zoneA, block: '10.90.0.0/18', purpose: 'nodes' },
  { name: 'nodes-b', zone: zoneB, block: '10.90.64.0/18', purpose: 'nodes' },
  { name: 'pods-a', zone: zoneA, block: blocks[1], purpose: 'pods' },
  { name: 'pods-b', zone: zoneB, block: blocks[2], purpose: 'pods' },
  { name: 'doomed', zone: zoneA, block: '10.90.128.0/20', purpose: 'none' },
] as const satisfies readonly SubnetPlan[];

export type SubnetName = (typeof subnetPlans)[number]['name'];

export interface MachinePlan {
  readonly instanceType: 'm5.large' | 'c5.xlarge';
  readonly subnet: SubnetName;
}

export interface NodePlan extends MachinePlan {
  readonly agent: Pick<NodeFacts, 'protocol' | 'ipam' | 'eni'>;
}

const ipam = { preAllocate: 4 };
const fromFirst = { subnetTags: { purpose: 'pods' } };
const fromSecond = { ...fromFirst, firstInterfaceIndex: 1 };
const ownGroups = { ...fromSecond, securityGroupTags: { purpose: 'pods' } };

/** Nodes of both protocols, with and without pods on the primary interface, and with inherited and chosen security groups. */
export const nodePlans: readonly NodePlan[] = [
  {
    instanceType: 'm5.large',
    subnet: 'nodes-a',
    agent: { protocol: 'crd-allocator', ipam, eni: fromFirst },
  },
  {
    instanceType: 'm5.large',
    subnet: 'nodes-b',
    agent: { protocol: 'multi-pool', ipam, eni: fromFirst },
  },
  {
    instanceType: 'c5.xlarge',
    subnet: 'nodes-a',
    agent: { protocol: 'multi-pool', ipam, eni: fromSecond },
  },
  {
    instanceType: 'c5.xlarge',
    subnet: 'nodes-b',
    agent: { protocol: 'crd-allocator', ipam: { ...ipam, minAllocate: 12 }, eni: ownGroups },
  },
];

/** The machine of the node that joins late and asks for the subnet `doomed`. */
export const latePlan: MachinePlan = { instanceType: 'm5.large', subnet: 'nodes-a' };
