import { describe, expect, test } from '@jest/globals';
import { ofCheck, shippedPolicy } from '../../support/shipped-policy.ts';
import { ids, instance, subnets, testBlock, testCloud } from '../../support/test-cloud.ts';
import { region } from '../rig/e2e-topology.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';

const inZone = `${region}a`;
/** The subnet of the node has room for the IPv4 addresses of its first interface only. */
const full = { ...subnets.nodes, zone: inZone, block: '10.0.0.0/28', ipv6Block: '2600:1f14:100::/64' };

describe('a node that needs everything that Headwater can do in EC2', () => {
  const shared = sharedCluster({
    nodes: 1,
    topology: testCloud({
      region,
      vpcs: [{ name: 'main', id: ids.vpc, blocks: [testBlock], ipv6Block: '2600:1f14:100::/56' }],
      subnets: [full, { ...subnets.pods, zone: inZone }, { ...subnets.morePods, zone: inZone }],
      instances: [instance({ tags: { role: 'worker' } })],
      publicAddresses: [{ count: 1, tags: { pool: 'egress' } }],
    }),
    configure: () => ({
      protocol: 'multi-pool',
      ipv6: true,
      ipam: { preAllocate: 2, staticIpTags: { pool: 'egress' } },
      eni: { securityGroupTags: { purpose: 'pods' } },
    }),
    flags: ['--instance-tags-filter=role=worker', '--idle-interface-delay=5s'],
  });

  test('makes Headwater use every action of the shipped policy, and no other', async () => {
    const cluster = shared();
    const { workload, signal } = cluster;
    const { interfaces } = cluster.ec2.network;
    await cluster.startReadyController();

    await workload.run({ kind: 'burst', name: 'web', at: 0, pods: 20, over: 500 }, signal);
    await cluster.untilSupplied();
    const max = interfaces.size;
    await workload.run({ kind: 'departure', name: 'end', at: 0, of: 'web', pods: 20, over: 500 }, signal);
    await cluster.until('it gives an interface back', () => interfaces.size < max, { limit: 120_000 });

    const allowed = new Set(shippedPolicy.Statement.flatMap(({ Action }) => Action));
    expect([...cluster.usedActions, ofCheck].sort()).toEqual([...allowed].sort());
  });
});
