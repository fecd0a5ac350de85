// Small clouds for whole flows: one VPC, one zone, and only what a test overrides. Delays, lags and rate limits are
// those of EC2 by default.
import { readTopology, type Topology } from '../../src/simulator/cloud/topology.ts';

export const ids = {
  vpc: 'vpc-00000000000000001',
  nodes: 'subnet-0000000000000000a',
  pods: 'subnet-0000000000000000b',
  /** Smaller than `pods`, so that it comes second. */
  morePods: 'subnet-0000000000000000c',
  nodeGroup: 'sg-00000000000000001',
  podGroup: 'sg-00000000000000002',
} as const;

/** CIDR block of the VPC. */
export const testBlock = '10.0.0.0/16';

type Section = Readonly<Record<string, unknown>>;

export const subnets = {
  nodes: { name: 'nodes', id: ids.nodes, zone: 'us-east-1a', block: '10.0.0.0/24' },
  pods: {
    name: 'pods',
    id: ids.pods,
    zone: 'us-east-1a',
    block: '10.0.16.0/20',
    tags: { purpose: 'pods' },
  },
  morePods: {
    name: 'more-pods',
    id: ids.morePods,
    zone: 'us-east-1a',
    block: '10.0.32.0/21',
    tags: { purpose: 'pods', more: 'yes' },
  },
} as const satisfies Record<string, Section>;

/** An instance of a test cloud; a plain m5.large holds 3 interfaces with 9 pod addresses each. */
export function instance(change: Section = {}): Section {
  return { name: 'worker', type: 'm5.large', subnet: 'nodes', securityGroups: ['nodes'], ...change };
}

/** Sections of a topology replace those of the plain cloud. */
export function testCloud(change: Section = {}): Topology {
  const plan = {
    seed: 'test-cloud',
    vpcs: [{ name: 'main', id: ids.vpc, blocks: [testBlock] }],
    subnets: Object.values(subnets),
    routeTables: [{ name: 'private', subnets: ['nodes', 'pods', 'more-pods'] }],
    securityGroups: [
      { name: 'nodes', id: ids.nodeGroup },
      { name: 'pods', id: ids.podGroup, tags: { purpose: 'pods' } },
    ],
    instances: [instance()],
    ...change,
  };
  const read = readTopology(JSON.stringify(plan));
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.topology;
}
