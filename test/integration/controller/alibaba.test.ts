import { describe, expect, test } from '@jest/globals';
import { unassign } from '../../../src/simulator/cloud/assignments.ts';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import { AlibabaCluster, type AlibabaNode } from '../../support/alibaba-cluster.ts';

interface Change {
  readonly count?: number;
  readonly instance?: string;
  readonly attachMs?: number;
}

function topology({ count = 1, instance = '', attachMs = 3000 }: Change = {}): string {
  return `
cloud: alibabacloud
vpcs: [{ name: main, blocks: [10.0.0.0/16, 192.168.0.0/16] }]
vSwitches: [{ name: a, zone: cn-hangzhou-a, block: 10.0.0.0/18 }]
securityGroups: [{ name: nodes }]
instances:
  - { name: node, type: ecs.g7.xlarge, vSwitch: a, count: ${count}, securityGroups: [nodes]${instance} }
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { createMs: 500, attachMs: ${attachMs}, deleteMs: 500, detachMs: 500 }
reuse: 0
`;
}

function secondary(cluster: AlibabaCluster, node: AlibabaNode): readonly [string, object][] {
  return Object.entries(cluster.enis(node)).flatMap(([id, eni]) =>
    typeof eni === 'object' && (eni as { type?: string }).type === 'Secondary' ? [[id, eni as object]] : [],
  );
}

function served(cluster: AlibabaCluster, node: AlibabaNode, count: number): Promise<void> {
  return cluster.until(`${node.name} has ${count} addresses`, () => cluster.pool(node).length >= count);
}

/** The next call of the action meets the fault. */
function fail(cluster: AlibabaCluster, action: string, fault: Fault): void {
  cluster.alibaba.gateway.faults.add({ action, rate: 1, count: 1, match: {}, fault });
}

function tokensOf(cluster: AlibabaCluster, action: string): readonly unknown[] {
  return cluster.calls.filter((call) => call.action === action).map(({ input }) => input['clientToken']);
}

describe('on Alibaba Cloud, a new node', () => {
  test('gets an interface with the addresses that it asks for, by two mutating calls', async () => {
    const cluster = new AlibabaCluster(topology());
    const node = cluster.node();
    cluster.start();

    await cluster.announce(node);
    await served(cluster, node, 8);

    expect(cluster.changes).toEqual(['CreateNetworkInterface', 'AttachNetworkInterface']);
    const [[id, eni] = ['', {}], ...others] = secondary(cluster, node);
    expect(others).toEqual([]);
    expect(eni).toMatchObject({
      'network-interface-id': id,
      'instance-id': node.instanceId,
      vpc: { cidr: '10.0.0.0/16', 'secondary-cidrs': ['192.168.0.0/16'] },
      vswitch: { cidr: '10.0.0.0/18' },
      tags: { 'cilium-eni-index': '1', 'io.cilium/cilium-managed': 'true' },
    });
    expect(cluster.bugs).toEqual([]);
  });

  test('gets one interface even if the answer to its creation shows an unknown type', async () => {
    const cluster = new AlibabaCluster(topology());
    const node = cluster.node();
    fail(cluster, 'CreateNetworkInterface', { kind: 'garbled', form: 'unknownEnum' });
    cluster.start();

    await cluster.announce(node);
    await served(cluster, node, 8);
    await cluster.clock.advance(60_000);

    expect(cluster.changes.filter((action) => action === 'CreateNetworkInterface')).toHaveLength(1);
    expect(cluster.interfaces(node)).toHaveLength(2);
    expect(cluster.bugs).toEqual([]);
  });

  test('is never offered an address of its primary interface', async () => {
    const cluster = new AlibabaCluster(topology({ instance: ', addresses: 3' }));
    const node = cluster.node();
    cluster.start();

    await cluster.announce(node);
    await served(cluster, node, 8);

    const [primary] = cluster.interfaces(node).filter(({ deviceIndex }) => deviceIndex === 0);
    expect(primary?.addresses).toHaveLength(4);
    expect(cluster.pool(node).filter((address) => primary?.addresses.includes(address))).toEqual([]);
  });

  test('gets more than ten addresses of one interface, once it is attached', async () => {
    const cluster = new AlibabaCluster(topology());
    const node = cluster.node();
    cluster.start();

    await cluster.announce(node, { 'pre-allocate': 14 });
    await served(cluster, node, 14);

    expect(cluster.changes).toEqual([
      'CreateNetworkInterface',
      'AttachNetworkInterface',
      'AssignPrivateIpAddresses',
    ]);
    expect(secondary(cluster, node)).toHaveLength(1);
  });

  test('is not read again after the read that shows its interface attached', async () => {
    const cluster = new AlibabaCluster(topology());
    const node = cluster.node();
    cluster.start();

    await cluster.announce(node);
    await served(cluster, node, 8);
    await cluster.clock.advance(10_000);

    const attached = cluster.calls.findIndex(({ action }) => action === 'AttachNetworkInterface');
    const reads = cluster.calls.slice(attached + 1);
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.filter(({ input }) => input['networkInterfaceId'] === undefined)).toEqual([]);
  });

  test('shares its reads with others', async () => {
    const cluster = new AlibabaCluster(topology({ count: 100 }));
    cluster.start();
    await cluster.clock.advance(30_000);
    const before = cluster.calls.length;

    await Promise.all(cluster.nodes.map((node) => cluster.announce(node)));
    await cluster.until('all nodes have addresses', () =>
      cluster.nodes.every((node) => cluster.pool(node).length >= 8),
    );

    const calls = cluster.calls.slice(before).map(({ action }) => action);
    expect(calls.filter((action) => !action.startsWith('Describe'))).toHaveLength(200);
    expect(calls.filter((action) => action.startsWith('Describe')).length).toBeLessThanOrEqual(50);
  });

  test.each([
    ['outside of those that agents know', '77', '2'],
    ['the same twice', '2', '2'],
  ])('keeps and uses interfaces that others attached with index tags %s', async (_, one, other) => {
    const tagged = (value: string) => `{ addresses: 2, tags: { cilium-eni-index: '${value}' } }`;
    const instance = `, interfaces: [${tagged(one)}, ${tagged(other)}]`;
    const cluster = new AlibabaCluster(topology({ instance }));
    const node = cluster.node();
    cluster.start();

    await cluster.announce(node);
    await served(cluster, node, 8);

    expect(cluster.changes.every((action) => action === 'AssignPrivateIpAddresses')).toBe(true);
    expect(secondary(cluster, node).map(([, eni]) => eni)).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ tags: { 'cilium-eni-index': one } }),
        expect.objectContaining({ tags: { 'cilium-eni-index': other } }),
      ]),
    );
  });
});

describe('on Alibaba Cloud, a lost answer', () => {
  const lost: Fault = { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 };

  test.each(['CreateNetworkInterface', 'AssignPrivateIpAddresses'])(
    'to %s is asked for again with the same token, and nothing is made twice',
    async (action) => {
      const cluster = new AlibabaCluster(topology());
      const node = cluster.node();
      cluster.start();
      fail(cluster, action, lost);

      await cluster.announce(node, { 'pre-allocate': 14 });
      await served(cluster, node, 14);
      await cluster.clock.advance(30_000);

      const tokens = tokensOf(cluster, action);
      expect(tokens).toHaveLength(2);
      expect(new Set(tokens).size).toBe(1);
      expect(cluster.pool(node)).toHaveLength(14);
      expect(cluster.interfaces(node)).toHaveLength(2);
      expect(cluster.bugs).toEqual([]);
    },
  );

  test.each(['CreateNetworkInterface', 'AssignPrivateIpAddresses'])(
    'to %s whose request is still under way is asked for again with the same token',
    async (action) => {
      const cluster = new AlibabaCluster(topology());
      const node = cluster.node();
      cluster.start();
      fail(cluster, action, { kind: 'error', code: 'IdempotentProcessing', status: 400, message: 'not yet' });

      await cluster.announce(node, { 'pre-allocate': 14 });
      await served(cluster, node, 14);

      const tokens = tokensOf(cluster, action);
      expect(tokens).toHaveLength(2);
      expect(new Set(tokens).size).toBe(1);
      expect(cluster.interfaces(node)).toHaveLength(2);
      expect(cluster.bugs).toEqual([]);
    },
  );

  test('that arrives late does not bring back an address that was taken away meanwhile', async () => {
    const cluster = new AlibabaCluster(topology());
    const node = cluster.node();
    cluster.start({ 'consistency-window': '20s' });
    fail(cluster, 'AssignPrivateIpAddresses', { ...lost, connection: 'hang' });
    const held = (): NetworkInterface | undefined =>
      cluster.interfaces(node).find(({ deviceIndex }) => deviceIndex === 1);
    await cluster.announce(node, { 'pre-allocate': 14 });
    await cluster.until('the assignment takes effect', () => held()?.addresses.length === 14);
    const taken = held()?.addresses.at(-1) ?? '';

    unassign(cluster.alibaba.network, held()?.id ?? '', {
      addresses: [taken],
      prefixes: [],
    });
    const offered = new Set<string>();
    await cluster.until('the node has 14 addresses again', () => {
      for (const address of cluster.pool(node)) offered.add(address);
      return cluster.pool(node).length === 14;
    });

    expect(taken).not.toBe('');
    expect(offered).not.toContain(taken);
    expect(tokensOf(cluster, 'AssignPrivateIpAddresses').length).toBeGreaterThan(1);
    expect(cluster.bugs).toEqual([]);
  });

  test('to AttachNetworkInterface is looked for', async () => {
    const cluster = new AlibabaCluster(topology());
    const node = cluster.node();
    cluster.start();
    fail(cluster, 'AttachNetworkInterface', lost);

    await cluster.announce(node);
    await served(cluster, node, 8);

    expect(cluster.interfaces(node)).toHaveLength(2);
    expect(cluster.changes.filter((action) => action === 'DeleteNetworkInterface')).toEqual([]);
    expect(cluster.bugs).toEqual([]);
  });
});

describe('on Alibaba Cloud, an attachment', () => {
  test('that falls back is tried again', async () => {
    const cluster = new AlibabaCluster(topology());
    const node = cluster.node();
    cluster.start();
    fail(cluster, 'AttachNetworkInterface', { kind: 'failed', code: 'InternalError', message: 'fell back' });

    await cluster.announce(node);
    await served(cluster, node, 8);

    expect(cluster.changes.slice(0, 3)).toEqual([
      'CreateNetworkInterface',
      'AttachNetworkInterface',
      'AttachNetworkInterface',
    ]);
    expect(cluster.interfaces(node)).toHaveLength(2);
  });

  test('that does not end is reported, and nothing is assigned meanwhile', async () => {
    const cluster = new AlibabaCluster(topology({ attachMs: 10_000_000 }));
    const node = cluster.node();
    cluster.start();

    await cluster.announce(node);
    await cluster.clock.advance(300_000);

    expect(cluster.pool(node)).toEqual([]);
    expect(cluster.changes).not.toContain('AssignPrivateIpAddresses');
    expect(cluster.changes).not.toContain('DeleteNetworkInterface');
    expect(cluster.warnings).toContainEqual(expect.objectContaining({ reason: 'InterfaceNotShown' }));
    const said = cluster.logged.map(({ level, message }) => `${level} ${message}`);
    expect(said).toContain('warn new interface is still being attached');
    expect(said).not.toContain('info attached new interface');
  });
});

describe('on Alibaba Cloud, attachments that begin one after the other', () => {
  test('are waited for with half of the reads that a small share of the limits allows', async () => {
    const cluster = new AlibabaCluster(topology({ count: 20, attachMs: 10_000 }));
    cluster.start({ 'cloud-quota-share': '0.05' });

    for (const node of cluster.nodes) {
      await cluster.announce(node);
      await cluster.clock.advance(3000);
    }
    for (const node of cluster.nodes) await served(cluster, node, 8);

    const reads = cluster.calls.filter(
      ({ action, input }) => action === 'DescribeNetworkInterfaces' && 'networkInterfaceId' in input,
    );
    expect(reads.length).toBeGreaterThan(0);
    const since = (end: number): number => reads.filter(({ at }) => at > end - 60_000 && at <= end).length;
    expect(Math.max(...reads.map(({ at }) => since(at)))).toBeLessThanOrEqual(20);
  });
});

describe('on Alibaba Cloud, a throttled call', () => {
  test('is repeated when its window has room again', async () => {
    const cluster = new AlibabaCluster(topology());
    const node = cluster.node();
    cluster.start();
    fail(cluster, 'CreateNetworkInterface', { kind: 'throttle' });

    await cluster.announce(node);
    await served(cluster, node, 8);

    expect(cluster.calls.map(({ result }) => result).filter((result) => result !== 'OK')).toEqual([
      expect.stringMatching(/^Throttling/),
    ]);
  });
});

describe('on Alibaba Cloud, addresses that a node does not need', () => {
  test('are released once its agent has given them up', async () => {
    const cluster = new AlibabaCluster(topology());
    const node = cluster.node();
    cluster.start({ 'alibaba-cloud-release-excess-ips': 'true', 'excess-ip-release-delay': '10s' });
    await cluster.announce(node, { 'pre-allocate': 14 });
    await served(cluster, node, 14);
    const [kept = ''] = cluster.pool(node);

    await cluster.use(node, [kept]);
    await cluster.patchSpec(node, { ipam: { 'pre-allocate': 4, 'max-above-watermark': 0 } });
    await cluster.untilReleased(node, () => cluster.pool(node).length <= 5);

    expect(cluster.pool(node)).toContain(kept);
    expect(cluster.changes).toContain('UnassignPrivateIpAddresses');
    const held = cluster
      .interfaces(node)
      .flatMap(({ deviceIndex, addresses }) => (deviceIndex === 0 ? [] : addresses));
    expect([...held].sort()).toEqual([...cluster.pool(node)].sort());
    expect(cluster.bugs).toEqual([]);
  });
});

describe('on Alibaba Cloud, an agent that requests pools', () => {
  test('is warned about, and nothing of its node is released', async () => {
    const cluster = new AlibabaCluster(topology());
    const node = cluster.node();
    cluster.start({ 'alibaba-cloud-release-excess-ips': 'true', 'excess-ip-release-delay': '10s' });
    await cluster.announce(node, { 'pre-allocate': 14 });
    await served(cluster, node, 14);

    const [kept = ''] = cluster.pool(node);
    const pools = {
      requested: [{ pool: 'default', needed: { 'ipv4-addrs': 2 } }],
      allocated: [{ pool: 'default', cidrs: [`${kept}/32`] }],
    };
    await cluster.patchSpec(node, { ipam: { 'pre-allocate': 1, 'max-above-watermark': 0, pools } });
    await cluster.clock.advance(900_000);

    expect(cluster.pool(node)).toHaveLength(14);
    expect(cluster.changes).not.toContain('UnassignPrivateIpAddresses');
    expect(cluster.warnings).toContainEqual(
      expect.objectContaining({ reason: 'AgentProtocolUnsupported', node: node.name }),
    );
  });
});

describe('on Alibaba Cloud, an instance type', () => {
  test('that a node brings later is asked for when it appears', async () => {
    const cluster = new AlibabaCluster(
      topology({}).replace(
        'latency:',
        '  - { name: large, type: ecs.g7.2xlarge, vSwitch: a, securityGroups: [nodes] }\nlatency:',
      ),
    );
    const [first, second] = [cluster.node(0), cluster.node(1)];
    cluster.start();
    await cluster.announce(first);
    await served(cluster, first, 8);

    await cluster.announce(second);
    await served(cluster, second, 8);

    const asked = cluster.calls.filter(({ action }) => action === 'DescribeInstanceTypes');
    expect(asked.map(({ input }) => input['instanceTypes'])).toEqual([[first.type], [second.type]]);
  });
});

describe('on Alibaba Cloud, an orphaned interface of the cluster', () => {
  test('is deleted after a while, and one of others is not', async () => {
    const cluster = new AlibabaCluster(topology());
    cluster.start({ 'cluster-name': 'demo', 'eni-gc-interval': '1m' });
    await cluster.announce(cluster.node());
    await served(cluster, cluster.node(), 8);
    const [ours, others] = [cluster.orphan('demo'), cluster.orphan('another')];

    await cluster.until('ours is gone', () => !cluster.alibaba.network.interfaces.has(ours), 900_000);
    await cluster.clock.advance(300_000);

    expect(cluster.alibaba.network.interfaces.has(others)).toBe(true);
    expect(cluster.changes.slice(2)).toEqual(['DeleteNetworkInterface']);
  });
});
