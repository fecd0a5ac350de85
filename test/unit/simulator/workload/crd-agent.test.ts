import { describe, expect, test } from '@jest/globals';
import { objectAt, textAt } from '../../../../src/simulator/workload/json.ts';
import { addresses, eni, nodeFacts, Cluster } from './cluster.ts';
import { allocated, ipamStatus, serving, started, used, whats } from './crd-rig.ts';

describe('the start of an agent of the CRD allocator', () => {
  test('creates its CiliumNode, owned by the Node', async () => {
    const { cluster } = await started();

    const node = await cluster.ciliumNode();
    const owner = await cluster.call('GET', '/api/v1/nodes/node-1');
    expect(node['metadata']).toMatchObject({
      ownerReferences: [{ kind: 'Node', name: 'node-1', uid: textAt(owner, 'metadata', 'uid') }],
    });
    expect(node['spec']).toMatchObject({ 'instance-id': 'i-1', eni: { 'vpc-id': 'vpc-1' } });
  });

  test('waits for a Node that does not exist yet', async () => {
    const cluster = new Cluster();
    cluster.agent('crd-allocator').start();
    await cluster.clock.advance(3_500);

    await cluster.createNode();
    await cluster.clock.advance(1_000);

    expect(textAt(await cluster.ciliumNode(), 'metadata', 'name')).toBe('node-1');
  });

  test('updates an existing CiliumNode and keeps the pool', async () => {
    const { cluster, agent } = await serving(addresses(3));
    await agent.stop();
    await cluster.patchSpec({ eni: { 'vpc-id': 'edited' } });

    cluster.agent('crd-allocator').start();
    await cluster.clock.advance(0);

    const node = await cluster.ciliumNode();
    expect(textAt(node, 'spec', 'eni', 'vpc-id')).toBe('vpc-1');
    expect(Object.keys(objectAt(node, 'spec', 'ipam', 'pool'))).toHaveLength(3);
  });

  test.each([
    ['min-allocate', { minAllocate: 3, preAllocate: 1 }, 3],
    ['pre-allocate', { preAllocate: 3 }, 3],
    ['nothing set, no health checking', {}, 1],
  ])('needs as many addresses as %s says', async (_, ipam, required) => {
    const { cluster, agent } = await started({ facts: { ...nodeFacts, ipam } });
    await cluster.offer([eni('eni-1', addresses(required - 1))]);
    await cluster.clock.advance(60_000);
    const before = agent.phase;

    await cluster.offer([eni('eni-1', addresses(required))]);
    await cluster.clock.advance(5_000);

    expect([before, agent.phase]).toEqual(['starting', 'serving']);
  });

  test('checks every five seconds, for as long as it takes', async () => {
    const { cluster, agent } = await started();
    await cluster.clock.advance(3_600_000 + 1);
    await cluster.offer([eni('eni-1', addresses(1))]);
    await cluster.clock.advance(4_998);
    const before = agent.phase;

    await cluster.clock.advance(1);

    expect([before, agent.phase]).toEqual(['starting', 'serving']);
  });

  test('needs a VPC CIDR in the status', async () => {
    const { cluster, agent } = await started();
    await cluster.offer([eni('eni-1', addresses(8), { vpc: { id: 'vpc-1' } })]);
    await cluster.clock.advance(10_000);
    const before = agent.phase;

    await cluster.patchStatus({ eni: { enis: { 'eni-1': eni('eni-1', addresses(8)) } } });
    await cluster.clock.advance(5_000);

    expect([before, agent.phase]).toEqual(['starting', 'serving']);
  });

  test('takes router and health addresses before it serves, and needs two addresses for them', async () => {
    const { agentAddresses: _, ...facts } = nodeFacts;
    const { cluster, agent } = await started({ facts });
    await cluster.offer([eni('eni-1', addresses(1))]);
    await cluster.clock.advance(20_000);
    const before = agent.phase;

    await cluster.offer([eni('eni-1', addresses(2))]);
    await cluster.clock.advance(20_000);

    expect([before, agent.phase]).toEqual(['starting', 'serving']);
    expect([...agent.addressesInUse().values()].toSorted()).toEqual(['health', 'router']);
    expect(Object.keys(await used(cluster)).toSorted()).toEqual(addresses(2));
  });
});

describe('allocation by an agent of the CRD allocator', () => {
  test('gives each pod its own address of the pool, and the same one when it is asked again', async () => {
    const { agent } = await serving(addresses(3));

    const first = allocated(agent, 'a', 'b', 'c', 'd');
    const again = allocated(agent, 'b');

    expect(new Set(first.slice(0, 3))).toEqual(new Set(addresses(3)));
    expect(first[3]).toBeUndefined();
    expect(again).toEqual([first[1]]);
  });

  test('can give a released address again', async () => {
    const { agent } = await serving(addresses(1));

    const first = allocated(agent, 'a');
    agent.remove('a');

    expect(allocated(agent, 'b')).toEqual(first);
  });

  test('keeps an address that is reserved for one owner from every other owner', async () => {
    const { cluster, agent } = await serving(addresses(2));
    await cluster.patchSpec({ ipam: { pool: { '10.0.1.1': { owner: 'somebody' } } } });
    await cluster.clock.advance(0);

    expect(allocated(agent, 'a', 'b')).toEqual(['10.0.1.2', undefined]);
  });

  test.each([
    ['no such interface', { id: 'eni-9' }],
    ['no MAC', { mac: '' }],
    ['no subnet CIDR', { subnet: { id: 'subnet-1', cidr: '' } }],
  ])('fails with the reason when the address does not resolve: %s', async (_, entry) => {
    const { cluster, agent } = await serving(addresses(1));
    await cluster.patchStatus({ eni: { enis: { 'eni-1': entry } } });
    await cluster.clock.advance(0);

    const answer = agent.add('a');

    expect(answer.kind).toBe('refused');
    expect(agent.addressesInUse().size).toBe(0);
    expect(whats(agent)).toEqual(['offered-without-interface']);
  });

  test('gives nothing before the agent serves and after it has stopped', async () => {
    const { agent } = await started();
    const before = agent.add('a');
    await agent.stop();

    expect([before, agent.add('a')]).toEqual([{ kind: 'unavailable' }, { kind: 'unavailable' }]);
  });
});

describe('the status that an agent of the CRD allocator writes', () => {
  test('names each address in use with its owner and interface', async () => {
    const { cluster, agent } = await serving(addresses(2));

    const [address = ''] = allocated(agent, 'default/a');
    await cluster.clock.advance(15_000);

    expect(await used(cluster)).toEqual({ [address]: { owner: 'default/a', resource: 'eni-1' } });
  });

  test('is written at most once in 15 s', async () => {
    const { cluster, agent } = await serving(addresses(8));
    const start = cluster.clock.monotonic();

    for (let second = 0; second < 60; second++) {
      if (second % 2 === 0) agent.add('a');
      else agent.remove('a');
      await cluster.clock.advance(1_000);
    }

    const times = cluster.events
      .filter((event) => event.at >= start && event.subject.endsWith('/status'))
      .map((event) => event.at - start);
    expect(times.length).toBeGreaterThanOrEqual(4);
    expect(times.slice(1).map((at, index) => at - (times[index] ?? 0))).toEqual(
      times.slice(1).map(() => 15_000),
    );
  });

  test('keeps what others wrote there, as far as the agent has seen it', async () => {
    const { cluster, agent } = await serving(addresses(2));
    await cluster.patchStatus({ ipam: { 'assigned-static-ip': '203.0.113.1' } });

    agent.add('a');
    await cluster.clock.advance(15_000);

    const node = await cluster.ciliumNode();
    expect(textAt(node, 'status', 'ipam', 'assigned-static-ip')).toBe('203.0.113.1');
    expect(Object.keys(objectAt(node, 'status', 'eni', 'enis'))).toEqual(['eni-1']);
  });

  test('is refused when the agent’s copy is outdated, and written after the next update', async () => {
    const { cluster, agent } = await serving(addresses(2), { watchLag: 2_000 });
    await cluster.clock.advance(60_000);

    await cluster.patchStatus({ ipam: { 'assigned-static-ip': '203.0.113.1' } });
    agent.add('a');
    await cluster.clock.advance(1);
    const refused = cluster.events.at(-1);
    const meanwhile = await used(cluster);
    await cluster.clock.advance(20_000);

    expect(refused).toMatchObject({ kind: 'write-refused', detail: '409 Conflict' });
    expect(meanwhile).toEqual({});
    expect(Object.values(await used(cluster))).toEqual([{ owner: 'a', resource: 'eni-1' }]);
    expect(ipamStatus(await cluster.ciliumNode())['assigned-static-ip']).toBe('203.0.113.1');
  });

  test('is written again every 15 seconds, also from the same outdated copy', async () => {
    const { cluster, agent } = await serving(addresses(2));
    await cluster.clock.advance(60_000);
    const start = cluster.clock.monotonic();
    cluster.model.faults.inject({ path: /watch/, effect: { kind: 'delayEvents', ms: 40_000 } });

    await cluster.patchStatus({ ipam: { 'assigned-static-ip': '203.0.113.1' } });
    agent.add('a');
    await cluster.clock.advance(60_000);

    const attempts = cluster.events.filter((event) => event.at >= start && event.kind.startsWith('writ'));
    expect(attempts.map((event) => [event.at - start, event.kind])).toEqual([
      [0, 'write-refused'],
      [15_000, 'write-refused'],
      [30_000, 'write-refused'],
      [45_000, 'written'],
    ]);
  });

  test('is written again after an error of the API server', async () => {
    const { cluster, agent } = await serving(addresses(2));
    await cluster.clock.advance(60_000);
    const failure = { code: 503, reason: 'ServiceUnavailable', message: 'try later' };
    cluster.model.faults.inject({ method: 'PUT', effect: { kind: 'refuse', failure } });

    agent.add('a');
    await cluster.clock.advance(1);
    const before = await used(cluster);
    await cluster.clock.advance(15_000);

    expect(before).toEqual({});
    expect(Object.values(await used(cluster))).toEqual([{ owner: 'a', resource: 'eni-1' }]);
  });
});

describe('a violation that an agent of the CRD allocator reports', () => {
  test.each<[string, (cluster: Cluster) => Promise<unknown>, readonly string[]]>([
    [
      'its address leaves the pool',
      (c) => c.patchSpec({ ipam: { pool: { '10.0.1.1': null } } }),
      ['address-vanished'],
    ],
    ['the pool goes', (c) => c.patchSpec({ ipam: { pool: null } }), ['address-vanished']],
    [
      'its interface goes',
      (c) => c.patchStatus({ eni: { enis: { 'eni-1': null } } }),
      ['interface-vanished'],
    ],
    [
      'its address moves',
      async (c) => {
        await c.patchStatus({ eni: { enis: { 'eni-2': eni('eni-2', []) } } });
        await c.patchSpec({ ipam: { pool: { '10.0.1.1': { resource: 'eni-2' } } } });
      },
      ['address-moved'],
    ],
    [
      'it is called released',
      async (c) => {
        await c.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': 'released' } } });
        await c.patchStatus({ ipam: { 'assigned-static-ip': '203.0.113.1' } });
      },
      ['released-while-in-use'],
    ],
    ['a free address leaves', (c) => c.patchSpec({ ipam: { pool: { '10.0.1.2': null } } }), []],
    ['another interface goes', (c) => c.patchStatus({ eni: { enis: { 'eni-2': null } } }), []],
    ['more is offered', (c) => c.offer([eni('eni-1', addresses(5))]), []],
  ])('%s', async (_, harm, expected) => {
    const { cluster, agent } = await serving(['10.0.1.1']);
    agent.add('default/a');
    await cluster.offer([eni('eni-1', addresses(2)), eni('eni-2', [])]);
    await cluster.clock.advance(0);

    await harm(cluster);
    await cluster.clock.advance(0);

    expect(whats(agent)).toEqual(expected);
    expect(cluster.bugs).toEqual([]);
  });

  test('names the time, the node, the pod and the address', async () => {
    const { cluster, agent } = await serving(['10.0.1.1']);
    agent.add('default/a');

    await cluster.patchSpec({ ipam: { pool: { '10.0.1.1': null } } });
    await cluster.clock.advance(0);

    expect(agent.violations).toEqual([
      {
        at: 20_000,
        node: 'node-1',
        pod: 'default/a',
        address: '10.0.1.1',
        interfaceId: 'eni-1',
        what: 'address-vanished',
      },
    ]);
    expect(agent.missingAddresses()).toEqual(new Map([['10.0.1.1', 'default/a']]));
  });
});
