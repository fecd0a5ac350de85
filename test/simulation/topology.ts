// The initial cloud of a scenario.
import { readTopology, type Topology } from '../../src/simulator/cloud/topology.ts';
import type { Scenario } from './scenario.ts';

export const vpcId = 'vpc-00000000000000001';
export const podVpcId = 'vpc-00000000000000002';
export const nodeGroup = 'sg-00000000000000001';
export const podGroup = 'sg-00000000000000002';

type VpcName = 'main' | 'pods';

/** The start of the IPv6 block of each VPC, and of the blocks of its subnets. */
const ipv6Of56 = { main: '2600:1f14:abc:de', pods: '2600:1f14:abc:df' } as const satisfies Record<
  VpcName,
  string
>;

/** Tags of the public addresses that nodes may request. */
export const publicAddressTags = { pool: 'egress' };

export function nodeSubnetId(zone: number): string {
  return `subnet-000000000000${zone}000f`;
}

export function podSubnetId(zone: number, index: number): string {
  return `subnet-000000000000${zone}000${index}`;
}

/** Ids of the subnets for pod addresses. */
export function podSubnetIds({ zones }: Scenario): readonly string[] {
  return zones.flatMap(({ podBlocks }, zone) => podBlocks.map((_, index) => podSubnetId(zone, index)));
}

export function topologyOf(scenario: Scenario): Topology {
  const { zones, nodes, cloud, ipv6, hasPodVpc = false } = scenario;
  const vpcOfPods = hasPodVpc ? 'pods' : 'main';
  const ipv6Of = (has: boolean | undefined, number: number, vpc: VpcName): { readonly ipv6Block?: string } =>
    has === true ? { ipv6Block: `${ipv6Of56[vpc]}${number.toString(16).padStart(2, '0')}::/64` } : {};
  const subnets = zones.flatMap(({ zone, nodeBlock, podBlocks }, index) => [
    {
      name: `nodes-${index}`,
      id: nodeSubnetId(index),
      vpc: 'main',
      zone,
      block: nodeBlock,
      ...ipv6Of(ipv6?.nodeSubnets, index * 16, 'main'),
    },
    ...podBlocks.map((block, subnet) => ({
      name: `pods-${index}-${subnet}`,
      id: podSubnetId(index, subnet),
      vpc: vpcOfPods,
      zone,
      block: hasPodVpc ? block.replace('10.0.', '10.1.') : block,
      ...ipv6Of(ipv6 && (ipv6.podSubnets === 'all' || subnet === 0), index * 16 + subnet + 1, vpcOfPods),
      tags: { purpose: 'pods' },
    })),
  ]);
  const plan = {
    seed: scenario.seed,
    vpcs: [
      { name: 'main', id: vpcId, blocks: ['10.0.0.0/16'] } as const,
      ...(hasPodVpc ? [{ name: 'pods', id: podVpcId, blocks: ['10.1.0.0/16'] } as const] : []),
    ].map((vpc) => ({ ...vpc, ...(ipv6 !== undefined && { ipv6Block: `${ipv6Of56[vpc.name]}00::/56` }) })),
    subnets,
    routeTables: [...Map.groupBy(subnets, ({ vpc }) => vpc)].map(([vpc, of]) => ({
      name: `private-${vpc}`,
      vpc,
      subnets: of.map(({ name }) => name),
    })),
    securityGroups: [
      { name: 'nodes', vpc: 'main', id: nodeGroup },
      ...(hasPodVpc ? [{ name: 'pods', vpc: 'pods', id: podGroup, tags: { purpose: 'pods' } }] : []),
    ],
    instances: nodes.map(({ type, zone }, index) => ({
      name: `node-${index}`,
      type,
      subnet: `nodes-${zone}`,
      securityGroups: ['nodes'],
    })),
    publicAddresses:
      cloud.publicAddresses === undefined ? [] : [{ count: cloud.publicAddresses, tags: publicAddressTags }],
    limits: { scale: cloud.limits },
    consistency: {
      visibilityDelayMs: { min: 0, max: cloud.visibilityDelayMs },
      listingLagMs: { min: 0, max: cloud.listingLagMs },
    },
    times: { terminatedVisibleMs: 600_000 },
    reuse: cloud.reuse,
  };
  const read = readTopology(JSON.stringify(plan));
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.topology;
}
