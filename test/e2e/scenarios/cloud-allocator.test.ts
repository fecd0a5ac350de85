// CloudAllocator on a real API server, with nothing but the roles of the chart: what EC2's model routes becomes pod CIDRs, and a
// condition beside those of kubelets.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { readTopology } from '../../../src/simulator/cloud/topology.ts';
import { createEc2, type Ec2 } from '../../../src/simulator/ec2/create-ec2.ts';
import { startEc2Server } from '../../../src/simulator/ec2/ec2-server.ts';
import type { HttpFront } from '../../../src/simulator/http-front.ts';
import { isObject, type JsonObject, listAt, textAt } from '../../../src/simulator/workload/json.ts';
import { BlockCluster } from '../rig/block-cluster.ts';

const [count, burst] = [100, 1000];
const keys = { AWS_ACCESS_KEY_ID: 'AKIAHEADWATEREXAMPLE', AWS_SECRET_ACCESS_KEY: 'headwater-example-secret' };
const allIds = Array.from({ length: count + burst }, (_, index) => `i-${String(index).padStart(17, '0')}`);
const ids = allIds.slice(0, count);

function nodeOf(id: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: id },
    spec: { providerID: `aws:///us-east-1a/${id}` },
  };
}

function topologyText(): string {
  return JSON.stringify({
    vpcs: [{ name: 'main', blocks: ['10.0.0.0/16'], ipv6Block: 'fd00:ec2::/56' }],
    subnets: [{ name: 'nodes', zone: 'us-east-1a', block: '10.0.0.0/20', ipv6Block: 'fd00:ec2::/64' }],
    securityGroups: [{ name: 'nodes' }],
    instances: allIds.map((id) => ({ name: id, id, type: 'm5.large', subnet: 'nodes', ipv6Prefixes: 1 })),
    consistency: { visibilityDelayMs: 0, listingLagMs: 0 },
  });
}

describe('nodeipam with CloudAllocator', () => {
  let cluster: BlockCluster;
  let front: HttpFront;
  let ec2: Ec2;

  beforeAll(async () => {
    const read = readTopology(topologyText());
    if ('problems' in read) throw new Error(read.problems.join('\n'));
    ec2 = createEc2({ topology: read.topology, clock: systemClock, random: new Random('cloud-allocator') });
    front = await startEc2Server({ gateway: ec2.gateway, clock: systemClock, port: 0 });
    const flags = [
      '--cidr-allocator-type=CloudAllocator',
      '--cloud-provider=aws',
      '--aws-region=us-east-1',
      `--ec2-api-endpoint=${front.url}`,
      '--leader-election-lease-duration=5s',
      '--leader-election-renew-deadline=3s',
      '--leader-election-retry-period=1s',
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
      await cluster.api.call('POST', cluster.path, nodeOf(id));
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

  test('gives a thousand more theirs, although the leader is killed in the middle', async () => {
    const [first] = cluster.controllers;
    const second = await cluster.startController([], keys);
    const joining = cluster.each(allIds.slice(count), async (id) => {
      await cluster.api.call('POST', cluster.path, nodeOf(id));
    });
    await cluster.until(
      'some of them are served',
      async () => [...(await cluster.blocks())].filter(([, blocks]) => blocks.length > 0).length > count,
      20,
    );
    await first?.kill();
    await joining;
    await cluster.until('the second one has served all', async () => {
      const status = await second.get('/status').catch(() => '');
      return status.includes(`"served": ${count + burst}`);
    });

    const shown = await cluster.blocks();
    const routed = [...ec2.network.all('interfaces').values()].map(
      ({ attachment, ipv6Prefixes }) => [attachment?.instanceId, ipv6Prefixes] as const,
    );
    expect(routed.filter(([id = '', prefixes]) => shown.get(id)?.join() !== prefixes.join())).toEqual([]);
    expect(new Set([...shown.values()].flat()).size).toBe(count + burst);
    expect(second.lines.filter((line) => /"level":"error"/.test(line))).toEqual([]);
  });
});
