import { describe, expect, test } from '@jest/globals';
import { sleep } from '../../../src/runtime/clock.ts';
import { objectAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld, type BlockWorldOptions } from '../../simulation/blocks/block-world.ts';

const usual = { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/22' };

function worldOf(
  flags: Readonly<Record<string, string>> = {},
  more: Partial<BlockWorldOptions> = {},
): BlockWorld {
  return new BlockWorld({ seed: 'one', command: 'run', flags: { ...usual, ...flags }, ...more });
}

async function blocksOf(world: BlockWorld): Promise<Record<string, readonly string[]>> {
  const objects = await world.objects();
  return Object.fromEntries(
    objects.map((object) => [
      textAt(object, 'metadata', 'name'),
      textsAt(object, 'spec', 'ipam', 'podCIDRs'),
    ]),
  );
}

async function errorOf(world: BlockWorld, name: string): Promise<string> {
  return textAt(
    await world.ask('GET', `${world.path}/${name}`),
    'status',
    'ipam',
    'operator-status',
    'error',
  );
}

async function eventsOf(world: BlockWorld): Promise<readonly string[]> {
  const { items } = (await world.ask('GET', '/api/v1/events')) as { items: never[] };
  return items.map((event) => `${textAt(event, 'involvedObject', 'kind')} ${textAt(event, 'reason')}`);
}

describe('run --ipam=cluster-pool', () => {
  test('gives each CiliumNode a block, with one write', async () => {
    const world = worldOf({ 'cluster-pool-ipv6-cidr': 'fd00::/104' });
    world.startReplica();
    for (const name of ['a', 'b', 'c']) world.join(name);

    await world.until('all are served', () => world.isServed());
    await world.clock.advance(600_000);

    expect(new Set(Object.values(await blocksOf(world)).map((blocks) => blocks.join(' ')))).toEqual(
      new Set(['10.0.0.0/24 fd00::/112', '10.0.1.0/24 fd00::1:0/112', '10.0.2.0/24 fd00::2:0/112']),
    );
    expect(world.writes).toHaveLength(3);
    expect(world.bugs).toEqual([]);
  });

  describe('with a Node that asks for a bigger block', () => {
    const ofNode = (name: string, label: string, value: string | null) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { [`headwater/${label}-mask-size`]: value } },
    });

    test('gives it one, aligned, of each family that it names, and one as usual to the others', async () => {
      const world = worldOf({
        'cluster-pool-ipv4-cidr': '10.0.0.0/16',
        'cluster-pool-ipv6-cidr': 'fd00::/104',
      });
      world.join('before');
      await world.ask('POST', '/api/v1/nodes', ofNode('big', 'ipv4', '21'));
      await world.ask('PATCH', '/api/v1/nodes/big', ofNode('big', 'ipv6', '110'));
      await world.clock.advance(1000);
      world.startReplica();
      await world.until('the first is served', () => world.isServed());
      world.join('big');
      await world.until('both are served', () => world.isServed());
      world.join('after');
      await world.until('all are served', () => world.isServed());

      expect(await blocksOf(world)).toEqual({
        before: ['10.0.0.0/24', 'fd00::/112'],
        big: ['10.0.8.0/21', 'fd00::4:0/110'],
        after: ['10.0.16.0/24', 'fd00::8:0/112'],
      });
      expect(world.leader?.controller.status()).toMatchObject({
        reasons: {},
        pools: [{ held: 10 }, { held: 6 }],
      });

      await world.leave('big');
      await world.clock.advance(5000);

      expect(world.leader?.controller.status().pools).toMatchObject([{ held: 2 }, { held: 2 }]);
      expect(world.bugs).toEqual([]);
    });

    test('leaves half of the pool to the others, or as much as an option says', async () => {
      const world = worldOf();
      world.startReplica();
      for (const name of ['a', 'b']) await world.ask('POST', '/api/v1/nodes', ofNode(name, 'ipv4', '23'));
      world.join('a');
      await world.until('the first is served', () => world.isServed());
      world.join('b');
      world.join('usual');
      await world.until('the usual one is served', () => world.machines.get('usual')?.inUse.length === 1);
      await world.clock.advance(10_000);

      expect(await blocksOf(world)).toEqual({ a: ['10.0.0.0/23'], b: [], usual: ['10.0.2.0/24'] });
      expect(world.leader?.controller.node('b')).toMatchObject({ reason: 'PodCIDRsExhausted' });
      expect(await errorOf(world, 'b')).toBe(
        'bigger IPv4 blocks have 50 percent of the pool, which is the most that they get, and label headwater/ipv4-mask-size of its Node is "23": remove the label, delete the objects of machines that are gone, or raise bigger-blocks-share',
      );

      await world.leave('a');
      await world.until('the second is served', () => world.isServed());
      expect(await blocksOf(world)).toEqual({ b: ['10.0.0.0/23'], usual: ['10.0.2.0/24'] });

      world.leader?.stop();
      world.startReplica({ 'bigger-blocks-share': '0' });
      await world.clock.advance(5000);
      await world.ask('POST', '/api/v1/nodes', ofNode('c', 'ipv4', '23'));
      world.join('c');
      await world.clock.advance(10_000);
      expect(world.leader?.controller.node('c')).toMatchObject({ reason: 'PodCIDRsExhausted' });
      await world.ask('PATCH', '/api/v1/nodes/c', ofNode('c', 'ipv4', null));
      await world.until('it is served', () => world.isServed());
      expect((await blocksOf(world))['c']).toEqual(['10.0.3.0/24']);
    });

    test('keeps what the node has when the label changes, and says so', async () => {
      const world = worldOf();
      world.startReplica();
      world.join('a');
      await world.until('it is served', () => world.isServed());
      await world.ask('PATCH', '/api/v1/nodes/a', ofNode('a', 'ipv4', '22'));
      await world.clock.advance(10_000);

      expect(await blocksOf(world)).toEqual({ a: ['10.0.0.0/24'] });
      expect(world.leader?.controller.node('a')).toMatchObject({
        standing: 'served',
        reason: 'MaskSizeIgnored',
      });
      expect(await errorOf(world, 'a')).toMatch(
        /^label headwater\/ipv4-mask-size of its Node is "22", and its/,
      );

      await world.ask('PATCH', '/api/v1/nodes/a', ofNode('a', 'ipv4', 'x'));
      await world.clock.advance(10_000);
      expect(world.leader?.controller.node('a')).toMatchObject({ reason: 'MaskSizeInvalid' });

      await world.ask('PATCH', '/api/v1/nodes/a', ofNode('a', 'ipv4', null));
      await world.clock.advance(10_000);
      expect(await errorOf(world, 'a')).toBe('');
    });

    test.each([
      ['19', '22', 'MaskSizeInvalid'],
      ['large', '22', 'MaskSizeInvalid'],
      ['20', '23', 'PodCIDRsExhausted'],
    ])('says why %j is no mask size, and follows %j', async (wrong, right, reason) => {
      const world = worldOf();
      world.startReplica();
      await world.ask('POST', '/api/v1/nodes', ofNode('a', 'ipv4', wrong));
      world.join('a');
      await world.clock.advance(10_000);

      expect(world.leader?.controller.node('a')).toMatchObject({ standing: 'waiting', reason });
      expect(await errorOf(world, 'a')).toContain(`label headwater/ipv4-mask-size of its Node is "${wrong}"`);
      world.join('b');
      await world.until('the other is served', () => world.machines.get('b')?.inUse.length === 1);
      await world.leave('b');

      await world.ask('PATCH', '/api/v1/nodes/a', ofNode('a', 'ipv4', right));
      await world.until('it is served', () => world.isServed());

      expect(await blocksOf(world)).toEqual({ a: [`10.0.${right === '22' ? 0 : 2}.0/${right}`] });
      await world.clock.advance(10_000);
      expect(await errorOf(world, 'a')).toBe('');
    });

    test('waits for a Node that it has not seen, if the CiliumNode names it as its owner', async () => {
      const world = worldOf();
      world.startReplica();
      await world.until('it leads', () => world.leader !== undefined);
      world.model.faults.inject({
        path: /\/nodes\?.*watch=/,
        times: Infinity,
        effect: { kind: 'delayEvents', ms: 20_000 },
      });
      await world.ask('POST', '/api/v1/nodes', ofNode('a', 'ipv4', '23'));
      world.join('a', true);
      await world.clock.advance(10_000);

      expect(world.leader?.controller.node('a')).toMatchObject({
        standing: 'waiting',
        reason: 'NodeUnknown',
      });

      await world.until('it is served', () => world.isServed());

      expect(await blocksOf(world)).toEqual({ a: ['10.0.0.0/23'] });
    });

    test('serves nodes as usual if it may not read Nodes', async () => {
      const world = worldOf();
      await world.ask('POST', '/api/v1/nodes', ofNode('a', 'ipv4', '23'));
      world.join('a', true);
      await world.clock.advance(1000);
      world.model.authorize = ({ resource }) => resource !== 'nodes';
      world.startReplica();
      await world.until('it is served', () => world.isServed());

      expect(await blocksOf(world)).toEqual({ a: ['10.0.0.0/24'] });
    });
  });

  test('creates the definition that is missing, and says that agents wait for others', async () => {
    const world = worldOf({}, { withoutDefinition: true });
    const { log } = world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    world.join('a');
    await world.until('it is served', () => world.isServed());

    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ciliumnodes.cilium.io';
    const definition = await world.ask('GET', path);
    expect(objectAt(definition, 'metadata', 'labels')).toEqual({
      'app.kubernetes.io/managed-by': 'headwater',
      'io.cilium.k8s.crd.schema.version': '0.0.3',
    });
    expect(log.lines.map(({ message }) => message)).toContain('created the definition of CiliumNodes');
  });

  test('lists everything once at its start, after it has the Lease', async () => {
    let lists = 0;
    const world: BlockWorld = worldOf(
      {},
      {
        intercept: (_, handler) => async (request, signal) => {
          const isList =
            request.method === 'GET' && /\/ciliumnodes\?(?!.*(?:watch|limit=1$))/.test(request.url);
          if (isList) await sleep(world.clock, 1000, signal);
          if (isList) lists++;
          return handler(request, signal);
        },
      },
    );
    world.join('a');
    await world.clock.advance(10_000);
    const begin = world.clock.monotonic();
    world.startReplica();
    await world.until('it is served', () => world.isServed());

    expect(lists).toBe(1);
    expect(world.clock.monotonic() - begin).toBeLessThan(2000);
  });

  test('keeps blocks over a restart, and serves the next node with a free one', async () => {
    const world = worldOf();
    const first = world.startReplica();
    for (const name of ['a', 'b']) world.join(name);
    await world.until('both are served', () => world.isServed());
    const before = await blocksOf(world);
    first.process.kill();
    world.startReplica();
    world.join('c');

    await world.until('the third is served', () => world.isServed());

    expect(await blocksOf(world)).toEqual({ ...before, c: ['10.0.2.0/24'] });
  });

  test('says in the CiliumNode, in Events and in /status why a node waits, and takes it back', async () => {
    const world = worldOf({ 'cluster-pool-ipv4-cidr': '10.0.0.0/24' });
    world.startReplica();
    world.join('a');
    await world.until('the first is served', () => world.isServed());
    world.join('b');
    await world.clock.advance(10_000);

    expect(await errorOf(world, 'b')).toMatch(/^no IPv4 block is free: delete the objects/);
    expect((await eventsOf(world)).toSorted()).toEqual([
      'CiliumNode PodCIDRsExhausted',
      'Node PodCIDRsExhausted',
    ]);
    expect(world.leader?.controller.status()).not.toHaveProperty('nodeNames');
    expect(world.leader?.controller.status(true)).toMatchObject({
      reasons: { PodCIDRsExhausted: 1 },
      nodes: { total: 2, served: 1, waiting: 1, leftAlone: 0 },
      nodeNames: { served: ['a'], waiting: ['b'] },
      pools: [
        { pool: 'default', family: 'ipv4', cidr: '10.0.0.0/24', capacity: 1, held: 1, free: 0, waiting: 1 },
      ],
      waiting: [{ name: 'b', podCIDRs: [], reason: 'PodCIDRsExhausted' }],
    });
    expect(world.leader?.controller.node('b')).toMatchObject({
      known: true,
      standing: 'waiting',
      reason: 'PodCIDRsExhausted',
    });

    await world.leave('a');
    await world.until('the other is served', () => world.isServed());
    await world.clock.advance(10_000);

    expect(await errorOf(world, 'b')).toBe('');
    expect(world.leader?.controller.node('b')).toMatchObject({
      standing: 'served',
      podCIDRs: ['10.0.0.0/24'],
    });
    expect(world.leader?.controller.node('nobody')).toMatchObject({ known: false, node: 'nobody' });
  });

  test('says while it leads that it waits for a list of Nodes, and goes on after it', async () => {
    let isFailing = true;
    const world = worldOf(
      {},
      {
        intercept: (_, handler) => (request, signal) =>
          isFailing && request.url.startsWith('/api/v1/nodes')
            ? Promise.resolve({ status: 500, headers: {}, body: 'broken' })
            : handler(request, signal),
      },
    );
    world.startReplica();
    world.join('a');
    await world.clock.advance(30_000);
    const before = world.leader?.controller.unreadiness();

    isFailing = false;
    await world.until('a is served', () => world.isServed());

    expect(before).toMatch(/^it waits for a list of all Nodes: .*broken/);
    expect(world.leader?.controller.unreadiness()).toBeUndefined();
  });

  test('leaves an ignored CiliumNode alone, and its block stays held', async () => {
    const world = worldOf({ 'nodes-gc-interval': '0' });
    const annotations = { 'ipam.cilium.io/ignore': 'true' };
    for (const [name, podCIDRs] of [
      ['held', ['10.0.0.0/24']],
      ['bare', []],
    ] as const)
      await world.ask('POST', world.path, {
        apiVersion: 'cilium.io/v2',
        kind: 'CiliumNode',
        metadata: { name, annotations },
        spec: { ipam: { podCIDRs } },
      });
    world.startReplica();
    world.join('a');
    await world.until('a is served', () => world.isServed());

    expect(await blocksOf(world)).toEqual({ a: ['10.0.1.0/24'], bare: [], held: ['10.0.0.0/24'] });
  });

  test.each([
    ['as soon as it leads', 0],
    ['later', 30_000],
  ])('pauses while another allocator gives out blocks, and goes on when it is quiet: %s', async (_, ms) => {
    const world = worldOf();
    world.startReplica({ pause: 'mutations' });
    await world.until('it leads', () => world.leader !== undefined);
    await world.clock.advance(ms);
    for (const name of ['a', 'b']) world.join(name);
    await world.clock.advance(2000);
    for (const [index, name] of ['a', 'b'].entries())
      await world.ask('PATCH', `${world.path}/${name}`, {
        spec: { ipam: { podCIDRs: [`10.0.${index}.0/24`] } },
      });
    await world.clock.advance(2000);

    const paused = (): readonly object[] => world.leader?.controller.status().paused ?? [];
    expect(paused()).toContainEqual(
      expect.objectContaining({ reason: 'conflictingWriter', node: 'b', parts: ['podCIDRs'] }),
    );

    await world.clock.advance(300_000);
    expect(paused()).toMatchObject([{ reason: 'paused' }]);
  });

  test.each([
    [
      ['a'],
      {
        verdict: 'go',
        sentence: 'go: 1 node would be served',
        nodes: { total: 1, read: 1 },
        would: { giveBlocks: 1, moveBlocks: 0, deleteCiliumNodes: 0 },
        notServed: {},
      },
    ],
    [
      ['a', 'b', 'c', 'd', 'e'],
      {
        verdict: 'no-go',
        sentence: 'no-go: PodCIDRsExhausted on 1 node',
        nodes: { total: 5, read: 5 },
        would: { giveBlocks: 4, moveBlocks: 0, deleteCiliumNodes: 0 },
        notServed: { PodCIDRsExhausted: 1 },
      },
    ],
  ])('says in a dry run of %j what it would do, in /status and each minute', async (names, sum) => {
    const world = worldOf();
    const { log } = world.startReplica({ 'dry-run': 'true' });
    for (const name of names) world.join(name);
    await world.clock.advance(150_000);

    const none = { same: 0, otherwise: 0 };
    expect(world.leader?.controller.status().dryRun).toEqual({ ...sum, ...none, decidedOtherwise: [] });
    expect(log.lines.filter(({ message }) => message === 'sum of the dry run').at(-1)?.details).toEqual({
      ...sum,
      ...none,
    });
  });

  test('sees no other allocator in the one that a dry run stands beside', async () => {
    const world = worldOf();
    world.startReplica({ 'dry-run': 'true' });
    for (const name of ['a', 'b']) world.join(name);
    await world.clock.advance(60_000);
    for (const [index, name] of ['a', 'b'].entries())
      await world.ask('PATCH', `${world.path}/${name}`, {
        spec: { ipam: { podCIDRs: [`10.0.${index}.0/24`] } },
      });
    await world.clock.advance(2000);

    expect(world.leader?.controller.status().paused).toMatchObject([{ reason: 'dryRun' }]);
  });

  test('writes nothing in a dry run', async () => {
    const world = worldOf();
    const { log } = world.startReplica({ 'dry-run': 'true' });
    world.join('a');
    await world.clock.advance(60_000);

    expect(world.writes).toEqual([]);
    expect(log.lines.filter(({ message }) => message === 'dry run: would give blocks')).toMatchObject([
      { details: { node: 'a', podCIDRs: ['10.0.0.0/24'] } },
    ]);
  });
});

describe('CiliumNodes of machines that are gone', () => {
  test('are deleted after two passes, one at a time, and their blocks are free', async () => {
    const world = worldOf({ 'nodes-gc-interval': '1m' });
    world.startReplica();
    for (const name of ['a', 'b', 'c', 'd']) world.join(name);
    await world.until('all are served', () => world.isServed());
    world.join('e');
    for (const name of ['a', 'b']) await world.leave(name, true);
    await world.clock.advance(59_000);
    expect(Object.keys(await blocksOf(world))).toHaveLength(5);

    await world.until('the fifth is served', () => world.isServed(), 300_000);
    await world.clock.advance(120_000);

    expect(Object.keys(await blocksOf(world)).toSorted()).toEqual(['c', 'd', 'e']);
  });

  test.each<[string, Readonly<Record<string, string>>, object, boolean]>([
    ['ignored', {}, { annotations: { 'ipam.cilium.io/ignore': 'true' } }, true],
    ['without garbage collection', { 'nodes-gc-interval': '0' }, {}, true],
    ['in a dry run', { 'dry-run': 'true' }, {}, true],
    ['plain', {}, {}, false],
  ])('stay or go: %s', async (_, flags, metadata, stays) => {
    const world = worldOf({ 'nodes-gc-interval': '1m', ...flags });
    world.startReplica();
    world.join('a');
    await world.ask('POST', world.path, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name: 'external', ...metadata },
      spec: {},
    });
    await world.clock.advance(600_000);

    expect('external' in (await blocksOf(world))).toBe(stays);
  });

  test('stay while there is no Node at all', async () => {
    const world = worldOf({ 'nodes-gc-interval': '1m' });
    world.startReplica();
    await world.ask('POST', world.path, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name: 'external' },
      spec: {},
    });
    await world.clock.advance(600_000);

    expect(Object.keys(await blocksOf(world))).toEqual(['external']);
  });
});
