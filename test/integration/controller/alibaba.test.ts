import { describe, expect, test } from '@jest/globals';
import { AlibabaCluster, type AlibabaNode } from '../../support/alibaba-cluster.ts';

const topology = `
cloud: alibabacloud
vpcs: [{ name: main, blocks: [10.0.0.0/16, 192.168.0.0/16] }]
vSwitches: [{ name: a, zone: cn-hangzhou-a, block: 10.0.0.0/24 }]
securityGroups: [{ name: nodes }]
instances: [{ name: node, type: ecs.g7.xlarge, vSwitch: a, count: 3, securityGroups: [nodes] }]
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { createMs: 500, attachMs: 3000 }
reuse: 0
`;

function secondary({ enis }: { enis: object }): readonly [string, Record<string, unknown>][] {
  return Object.entries(enis).filter(([, eni]) => (eni as { type?: string }).type === 'Secondary');
}

async function served(cluster: AlibabaCluster, node: AlibabaNode, count: number): Promise<void> {
  await cluster.until(`${node.name} has ${count} addresses`, () => cluster.pool(node).length >= count);
}

describe('on Alibaba Cloud, a new node', () => {
  test('gets an interface with the addresses that it asks for, by two mutating calls', async () => {
    const cluster = new AlibabaCluster(topology);
    const node = cluster.node();
    cluster.start();

    await cluster.announce(node);
    await served(cluster, node, 8);

    expect(cluster.changes).toEqual(['CreateNetworkInterface', 'AttachNetworkInterface']);
    const [[id, eni] = ['', {}], ...others] = secondary({ enis: cluster.enis(node) });
    expect(others).toEqual([]);
    expect(eni).toMatchObject({
      'network-interface-id': id,
      'instance-id': node.instanceId,
      vpc: { cidr: '10.0.0.0/16', 'secondary-cidrs': ['192.168.0.0/16'] },
      vswitch: { cidr: '10.0.0.0/24' },
      tags: { 'cilium-eni-index': '1', 'io.cilium/cilium-managed': 'true' },
    });
    expect(cluster.bugs).toEqual([]);
  });
});
