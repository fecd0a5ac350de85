// CloudAllocator on a real API server, with nothing but the roles of the chart: what EC2's model routes becomes pod CIDRs, and a
// condition beside those of kubelets.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { readTopology } from '../../../src/simulator/cloud/topology.ts';
import { createEc2 } from '../../../src/simulator/ec2/create-ec2.ts';
import { startEc2Server } from '../../../src/simulator/ec2/ec2-server.ts';
import type { HttpFront } from '../../../src/simulator/http-front.ts';
import { isObject, type JsonObject, listAt, textAt } from '../../../src/simulator/workload/json.ts';
import { BlockCluster } from '../rig/block-cluster.ts';

const count = 100;
const keys = { AWS_ACCESS_KEY_ID: 'AKIAHEADWATEREXAMPLE', AWS_SECRET_ACCESS_KEY: 'headwater-example-secret' };
const ids = Array.from({ length: count }, (_, index) => `i-${String(index).padStart(17, '0')}`);

function topologyText(): string {
  return JSON.stringify({
    vpcs: [{ name: 'main', blocks: ['10.0.0.0/16'], ipv6Block: 'fd00:ec2::/56' }],
    subnets: [{ name: 'nodes', zone: 'us-east-1a', block: '10.0.0.0/20', ipv6Block: 'fd00:ec2::/64' }],
    securityGroups: [{ name: 'nodes' }],
    instances: ids.map((id) => ({ name: id, id, type: 'm5.large', subnet: 'nodes', ipv6Prefixes: 1 })),
    consistency: { visibilityDelayMs: 0, listingLagMs: 0 },
  });
}

describe('nodeipam with CloudAllocator', () => {
  let cluster: BlockCluster;
  let front: HttpFront;

  beforeAll(async () => {
    const read = readTopology(topologyText());
    if ('problems' in read) throw new Error(read.problems.join('\n'));
    const { gateway } = createEc2({
      topology: read.topology,
      clock: systemClock,
      random: new Random('cloud-allocator'),
    });
    front = await startEc2Server({ gateway, clock: systemClock, port: 0 });
    const flags = [
      '--cidr-allocator-type=CloudAllocator',
      '--cloud-provider=aws',
      '--aws-region=us-east-1',
      `--ec2-api-endpoint=${front.url}`,
    ];
    cluster = await BlockCluster.start({ scope: 'nodeipam-cloud', flags });
  });

  afterAll(async () => {
    await cluster.stop();
    await front.close();
  });

  test('gives a hundred Nodes their prefixes, and keeps the conditions of their kubelets', async () => {
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null }];
    await cluster.each(ids, async (id) => {
      const spec = { providerID: `aws:///us-east-1a/${id}` };
      const node: JsonObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: id }, spec };
      await cluster.api.call('POST', cluster.path, node);
      await cluster.api.call('PATCH', `${cluster.path}/${id}/status`, { status: { conditions } });
    });
    const controller = await cluster.startController([], keys);
    const blocks = await cluster.served(count);
    await cluster.until('all have their condition', async () => {
      const { nodes } = JSON.parse(await controller.get('/status')) as { nodes?: { served: number } };
      return nodes?.served === count;
    });

    expect(new Set([...blocks.values()].flat()).size).toBe(count);
    const nodes = listAt(await cluster.api.call('GET', cluster.path), 'items').filter(isObject);
    for (const node of nodes) {
      const shown = listAt(node, 'status', 'conditions').map(
        (each) => `${textAt(each, 'type')}=${textAt(each, 'status')} ${textAt(each, 'reason') ?? ''}`,
      );
      expect(shown.toSorted()).toEqual(['NetworkUnavailable=False RouteCreated', 'Ready=True ']);
    }
    expect(await controller.get('/metrics')).not.toContain('code="403"');
  });
});
