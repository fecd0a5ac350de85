// A small cloud with a second VPC for pods, of the same account.
import type { Topology } from '../../src/simulator/cloud/topology.ts';
import { ids, instance, subnets, testBlock, testCloud } from './test-cloud.ts';

export const podVpc = {
  vpc: 'vpc-00000000000000002',
  subnet: 'subnet-0000000000000000d',
  elsewhere: 'subnet-0000000000000000e',
  group: 'sg-00000000000000003',
  block: '10.1.0.0/16',
} as const;

export function cloudWithPodVpc(change: Readonly<Record<string, unknown>> = {}): Topology {
  return testCloud({
    consistency: { visibilityDelayMs: 0, listingLagMs: 0 },
    vpcs: [
      { name: 'main', id: ids.vpc, blocks: [testBlock] },
      { name: 'pods', id: podVpc.vpc, blocks: [podVpc.block] },
    ],
    subnets: [
      ...Object.values(subnets).map((subnet) => ({ ...subnet, vpc: 'main' })),
      { name: 'far', id: podVpc.subnet, vpc: 'pods', zone: 'us-east-1a', block: '10.1.0.0/20' },
      { name: 'farther', id: podVpc.elsewhere, vpc: 'pods', zone: 'us-east-1b', block: '10.1.16.0/20' },
    ],
    routeTables: [{ name: 'private', vpc: 'main', subnets: ['nodes', 'pods', 'more-pods'] }],
    securityGroups: [
      { name: 'nodes', vpc: 'main', id: ids.nodeGroup },
      { name: 'far', vpc: 'pods', id: podVpc.group, tags: { purpose: 'pods' } },
    ],
    instances: [instance({ count: 2 })],
    ...change,
  });
}
