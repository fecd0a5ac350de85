import { describe, expect, test } from '@jest/globals';
import type { LiveReading } from '../../../src/config/live-options.ts';
import { type JsonObject, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { ipv4, nodes, pools, PoolWorld } from './pool-world.ts';

describe('a move from cluster-pool', () => {
  const moving = { 'enable-cluster-pool-to-multi-pool-migration': 'true' };

  async function fromClusterPool(flags: Readonly<Record<string, string>>): Promise<PoolWorld> {
    const world = new PoolWorld(flags);
    await world.pool('default', { ...ipv4(24, '10.0.0.0/16') });
    for (const [name, podCIDRs] of [
      ['a', ['10.0.0.0/24']],
      ['b', ['10.0.7.0/24']],
      ['far', ['10.9.0.0/24']],
    ] as const)
      await world.ask('POST', nodes, {
        apiVersion: 'cilium.io/v2',
        kind: 'CiliumNode',
        metadata: { name },
        spec: { ipam: { podCIDRs } },
      });
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.node('new', { default: 1 });
    await world.clock.advance(10_000);
    return world;
  }

  const podCidrsOf = async (world: PoolWorld, name: string): Promise<readonly string[]> =>
    textsAt(await world.ask('GET', `${nodes}/${name}`), 'spec', 'ipam', 'podCIDRs');

  test('puts the block of each node under the default pool, and says where it cannot', async () => {
    const world = await fromClusterPool(moving);

    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/24'] });
    expect(await world.blocks('b')).toEqual({ default: ['10.0.7.0/24'] });
    expect(await podCidrsOf(world, 'a')).toEqual([]);
    expect(await podCidrsOf(world, 'far')).toEqual(['10.9.0.0/24']);
    expect(await world.error('far')).toMatch(
      /^migration to multi-pool IPAM failed: pool default does not have/,
    );
    expect(await world.blocks('new')).toEqual({ default: ['10.0.1.0/24'] });
    expect(world.bugs).toEqual([]);
  });

  test('writes nothing in a dry run, and logs what would move', async () => {
    const world = await fromClusterPool({ ...moving, 'dry-run': 'true' });

    expect(await podCidrsOf(world, 'a')).toEqual(['10.0.0.0/24']);
    expect(world.writes).toEqual([]);
    const lines = world.replicas[0]?.log.lines.filter(({ message }) =>
      message.startsWith('dry run: would move'),
    );
    expect(lines?.map(({ details }) => details)).toEqual([
      { node: 'a', pool: 'default', podCIDRs: ['10.0.0.0/24'] },
      { node: 'b', pool: 'default', podCIDRs: ['10.0.7.0/24'] },
    ]);
  });

  test('is not made unasked, and what cluster-pool gave is given to nobody', async () => {
    const world = await fromClusterPool({});

    expect(await podCidrsOf(world, 'a')).toEqual(['10.0.0.0/24']);
    expect(await world.blocks('new')).toEqual({ default: ['10.0.1.0/24'] });
  });

  const ignore = 'ipam.cilium.io/ignore';

  /** A CiliumNode with a block of cluster-pool. */
  async function holding(world: PoolWorld, name: string, block: string, annotations = {}): Promise<void> {
    await world.ask('POST', nodes, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name, annotations },
      spec: { ipam: { podCIDRs: [block] } },
    });
  }

  async function leading(prepare: (world: PoolWorld) => Promise<unknown>, flags = {}): Promise<PoolWorld> {
    const world = new PoolWorld({ ...moving, 'nodes-gc-interval': '0', ...flags });
    await world.pool('default', ipv4(24, '10.0.0.0/16'));
    await prepare(world);
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.clock.advance(10_000);
    return world;
  }

  type Step = (world: PoolWorld) => Promise<unknown>;

  test.each<[string, Step, Step]>([
    [
      'its Node no longer asks to ignore it',
      async (world) => {
        const metadata = { name: 'a', annotations: { [ignore]: 'true' } };
        await world.ask('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata, spec: {} });
        await holding(world, 'a', '10.0.3.0/24');
      },
      (world) => world.ask('PATCH', '/api/v1/nodes/a', { metadata: { annotations: { [ignore]: null } } }),
    ],
    [
      'it no longer asks itself to be ignored',
      (world) => holding(world, 'a', '10.0.3.0/24', { [ignore]: 'true' }),
      (world) => world.ask('PATCH', `${nodes}/a`, { metadata: { annotations: { [ignore]: 'false' } } }),
    ],
    [
      'its pool gets the network',
      (world) => holding(world, 'a', '10.7.3.0/24'),
      (world) => world.ask('PATCH', `${pools}/default`, { spec: ipv4(24, '10.0.0.0/16', '10.7.0.0/16') }),
    ],
    [
      'its default pool is created',
      async (world) => {
        await world.ask('DELETE', `${pools}/default`);
        await holding(world, 'a', '10.0.3.0/24');
      },
      (world) => world.pool('default', ipv4(24, '10.0.0.0/16')),
    ],
    ['it appears', () => Promise.resolve(), (world) => holding(world, 'a', '10.0.3.0/24')],
  ])('is made for a node as soon as %s', async (_, prepare, change) => {
    const world = await leading(prepare);
    const before = await world.blocks('a');

    await change(world);
    await world.clock.advance(10_000);

    expect(before).toEqual({});
    expect(await podCidrsOf(world, 'a')).toEqual([]);
    expect(Object.keys(await world.blocks('a'))).toEqual(['default']);
    expect(await world.error('a')).toBe('');
    expect(world.reasonOf('a')).toBeUndefined();
    expect(world.replicas).toHaveLength(1);
    expect(world.bugs).toEqual([]);
  });

  test('comes before anything else that upgraded agents ask for, also where the default pool is created late', async () => {
    const all = ['a', 'b', 'c', 'd'];
    const blockOf = (name: string): string => `10.0.${all.indexOf(name) + 3}.0/24`;
    const world = await leading(
      async (each) => {
        await each.ask('DELETE', `${pools}/default`);
        for (const name of all) {
          await holding(each, name, blockOf(name));
          await each.request(name, { default: 20 });
        }
      },
      { 'multi-pool-migration-workers': '1' },
    );

    await world.pool('default', ipv4(24, '10.0.0.0/16'));
    await world.clock.advance(10_000);

    for (const name of all) {
      expect(await world.blocks(name)).toEqual({ default: [blockOf(name)] });
      expect(await podCidrsOf(world, name)).toEqual([]);
    }
    await world.request('a', { default: 300 });
    await world.clock.advance(10_000);
    expect(await world.blocks('a')).toEqual({ default: [expect.any(String), blockOf('a')] });
    expect(world.bugs).toEqual([]);
  });

  test('is tried again minutes after the API server refused it ten times', async () => {
    let isRefusing = true;
    const world: PoolWorld = new PoolWorld(moving, {
      intercept: (_, handler) => (request, signal) =>
        isRefusing && request.method === 'PATCH' && request.body?.includes('podCIDRs') === true
          ? Promise.resolve({ status: 403, headers: {}, body: '{"kind":"Status","message":"a policy"}' })
          : handler(request, signal),
    });
    await world.pool('default', ipv4(24, '10.0.0.0/16'));
    await holding(world, 'a', '10.0.3.0/24');
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.node('new', { default: 1 });
    await world.clock.advance(60_000);
    const [error, others] = [await world.error('a'), await world.blocks('new')];

    isRefusing = false;
    await world.clock.advance(600_000);

    expect(error).toMatch(/^migration to multi-pool IPAM failed: .*a policy/);
    expect(others).toEqual({ default: ['10.0.0.0/24'] });
    expect(await podCidrsOf(world, 'a')).toEqual([]);
    expect(await world.error('a')).toBe('');
  });

  test('is logged once for each node in a dry run, however often it changes', async () => {
    const world = await leading((each) => holding(each, 'a', '10.0.3.0/24'), { 'dry-run': 'true' });
    await holding(world, 'b', '10.0.4.0/24');
    for (const value of ['1', '2', '3']) {
      await world.ask('PATCH', `${nodes}/a`, { metadata: { annotations: { seen: value } } });
      await world.clock.advance(1000);
    }

    const lines = world.leader?.log.lines.filter(({ message }) => message.startsWith('dry run: would move'));
    expect(lines?.map(({ details }) => (details as { node: string }).node)).toEqual(['a', 'b']);
    expect(world.writes).toEqual([]);
  });

  const made = { 'auto-create-cilium-pod-ip-pools': 'default=ipv4-cidrs:10.0.0.0/16;ipv4-mask-size:24' };
  const verdictOf = (world: PoolWorld) => world.leader?.controller.status().dryRun;

  test.each<[string, Readonly<Record<string, string>>, Step]>([
    ['going live would create', made, () => Promise.resolve()],
    ['is created meanwhile', {}, (world) => world.pool('default', ipv4(24, '10.0.0.0/16'))],
    [
      'going live would create again',
      made,
      async (world) => {
        await world.pool('default', ipv4(24, '10.7.0.0/16'));
        await world.clock.advance(10_000);
        await world.ask('DELETE', `${pools}/default`);
      },
    ],
  ])('counts in a dry run as one that can be made if %s its pool', async (_, flags, change) => {
    const world = new PoolWorld({ ...moving, 'nodes-gc-interval': '0', 'dry-run': 'true', ...flags });
    await holding(world, 'a', '10.0.0.0/24');
    await world.node('new', { default: 1 });
    world.startReplica();
    await world.clock.advance(60_000);
    await change(world);
    await world.clock.advance(60_000);

    expect(verdictOf(world)).toMatchObject({
      sentence: 'go: 2 nodes would be served',
      would: { giveBlocks: 1, moveBlocks: 1 },
    });
    expect(world.writes).toEqual([]);
    expect(world.bugs).toEqual([]);
  });

  test('says no-go in a dry run while nothing would create its pool', async () => {
    const world = await leading((each) => each.ask('DELETE', `${pools}/default`), { 'dry-run': 'true' });
    await holding(world, 'a', '10.0.0.0/24');
    await world.clock.advance(60_000);

    expect(verdictOf(world)).toMatchObject({ sentence: 'no-go: PodCIDROutsidePools on 1 node' });
  });

  test('says no-go again in a dry run once the pool is gone that could take its blocks', async () => {
    const world = await leading((each) => holding(each, 'a', '10.0.0.0/24'), { 'dry-run': 'true' });
    const before = verdictOf(world)?.would.moveBlocks;
    await world.ask('DELETE', `${pools}/default`);
    await world.clock.advance(60_000);

    expect(before).toBe(1);
    expect(verdictOf(world)).toMatchObject({
      sentence: 'no-go: PodCIDROutsidePools on 1 node',
      would: { moveBlocks: 0 },
    });
  });

  test.each([
    ['created', undefined, { default: ['10.0.0.0/24'] }],
    ['refused', 'ciliumpodippools', {}],
  ])('finds only pools that are there once a dry run has ended: %s', async (_, denied, expected) => {
    let dryRun = true;
    const readLiveOptions = (): LiveReading => ({ values: { dryRun }, problems: [] });
    const world = new PoolWorld(
      { ...moving, 'nodes-gc-interval': '0', 'dry-run': 'true', ...made },
      { readLiveOptions },
    );
    world.model.authorize = ({ verb, resource }) => verb !== 'create' || resource !== denied;
    await holding(world, 'a', '10.0.0.0/24');
    await world.node('new', { default: 1 });
    world.startReplica();
    await world.clock.advance(60_000);
    dryRun = false;
    await world.clock.advance(60_000);

    expect(await world.blocks('a')).toEqual(expected);
    expect(Object.keys(await world.blocks('new'))).toEqual(Object.keys(expected));
    expect(world.bugs).toEqual([]);
  });

  test('waits for pools that a dry run counted, whatever shows its nodes meanwhile', async () => {
    let dryRun = true;
    const readLiveOptions = (): LiveReading => ({ values: { dryRun }, problems: [] });
    const flags = { ...moving, 'nodes-gc-interval': '0', 'dry-run': 'true', ...made };
    const world = new PoolWorld(flags, { readLiveOptions });
    await holding(world, 'a', '10.0.0.0/24');
    world.startReplica();
    await world.clock.advance(60_000);
    world.model.faults.inject({
      method: 'POST',
      path: /ciliumpodippools/,
      effect: { kind: 'delay', ms: 5000 },
    });
    dryRun = false;
    await world.until('it is live', () => verdictOf(world) === undefined);
    await world.ask('PATCH', `${nodes}/a`, { metadata: { annotations: { seen: '1' } } });
    await holding(world, 'b', '10.0.1.0/24');
    await world.clock.advance(1000);
    const meanwhile = [await world.blocks('a'), await world.blocks('b'), await world.error('a')];
    await world.clock.advance(60_000);

    expect(meanwhile).toEqual([{}, {}, '']);
    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/24'] });
    expect(await world.blocks('b')).toEqual({ default: ['10.0.1.0/24'] });
  });

  test('is made, as pools of the option are, before anything is given out, if a dry run goes live', async () => {
    let dryRun = true;
    const flags = {
      ...moving,
      'dry-run': 'true',
      'auto-create-cilium-pod-ip-pools': 'made=ipv4-cidrs:10.8.0.0/16;ipv4-mask-size:24',
    };
    const readLiveOptions = (): LiveReading => ({ values: { dryRun }, problems: [] });
    const world = new PoolWorld(flags, { readLiveOptions });
    await world.pool('default', ipv4(24, '10.0.0.0/16'));
    await holding(world, 'a', '10.0.0.0/24');
    await world.node('new', { default: 1, made: 1 });
    const { controller } = world.startReplica();
    await world.clock.advance(60_000);
    const before = [world.writes.length, controller.status().dryRun?.would.moveBlocks];
    dryRun = false;
    await world.clock.advance(60_000);

    expect(before).toEqual([0, 1]);
    expect(await podCidrsOf(world, 'a')).toEqual([]);
    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/24'] });
    expect(await world.blocks('new')).toEqual({ default: ['10.0.1.0/24'], made: ['10.8.0.0/24'] });
    const paths = world.writes.map(({ path }) => path).filter((path) => !path.endsWith('/status'));
    expect(paths).toEqual([`${nodes}/a`, `${nodes}/new`]);
    expect(controller.status().dryRun).toBeUndefined();
    dryRun = true;
    await world.clock.advance(60_000);
    expect(controller.status().dryRun?.would.moveBlocks).toBe(0);
    expect(world.bugs).toEqual([]);
  });

  test('leads back: the only block of a family of the default pool becomes its pod CIDR', async () => {
    const world = new BlockWorld({
      seed: 'back',
      command: 'run',
      flags: { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/16' },
    });
    const listed = {
      one: [{ pool: 'default', cidrs: ['10.0.0.0/24'] }],
      two: [{ pool: 'default', cidrs: ['10.0.1.0/24', '10.0.2.0/24'] }],
      other: [{ pool: 'blue', cidrs: ['10.0.3.0/24'] }],
    };
    for (const [name, allocated] of Object.entries(listed))
      await world.ask('POST', nodes, {
        apiVersion: 'cilium.io/v2',
        kind: 'CiliumNode',
        metadata: { name },
        spec: { ipam: { pools: { allocated } } },
      });
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.clock.advance(10_000);

    const given = await Promise.all(
      ['one', 'two', 'other'].map(async (name) =>
        textsAt(await world.ask('GET', `${nodes}/${name}`), 'spec', 'ipam', 'podCIDRs'),
      ),
    );
    expect(given[0]).toEqual(['10.0.0.0/24']);
    expect(new Set([given[1], given[2]].flat())).toEqual(new Set(['10.0.4.0/24', '10.0.5.0/24']));
  });

  test('is prepared by pools that an option names, unless they are there', async () => {
    const world = new PoolWorld({
      'auto-create-cilium-pod-ip-pools':
        'default=ipv4-cidrs:10.0.0.0/24,10.4.0.0/24;ipv4-mask-size:27,blue=ipv4-cidrs:10.8.0.0/24;ipv4-mask-size:26',
    });
    await world.pool('blue', ipv4(28, '10.1.0.0/24'));
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.node('a', { default: 1, blue: 1 });
    await world.clock.advance(10_000);

    expect(await world.blocks('a')).toEqual({ blue: ['10.1.0.0/28'], default: ['10.0.0.0/27'] });
    expect(world.held()).toHaveLength(3);
  });
});

describe('what stood in a CiliumNode before Headwater first led', () => {
  const another = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'other' } };

  async function withIpam(world: BlockWorld, name: string, ipam: JsonObject): Promise<void> {
    const kind = { apiVersion: 'cilium.io/v2', kind: 'CiliumNode' };
    await world.ask('POST', world.path, { ...kind, metadata: { name }, spec: { ipam } });
  }

  test('is held whole in multi-pool, although blocks are smaller now, and over a change of the leader', async () => {
    const world = new PoolWorld({ 'nodes-gc-interval': '0' });
    await world.pool('default', ipv4(26, '10.0.0.0/14'));
    await withIpam(world, 'wide', { podCIDRs: ['10.0.0.0/16'] });
    world.startReplica();
    await world.node('a', { default: 60 });
    await world.clock.advance(10_000);
    await withIpam(world, 'late', { podCIDRs: ['10.0.0.0/8'] });
    world.leader?.stop();
    world.startReplica();
    await world.node('b', { default: 60 });
    await world.clock.advance(10_000);

    expect(await world.blocks('a')).toEqual({ default: ['10.1.0.0/26'] });
    expect(await world.blocks('b')).toEqual({ default: ['10.1.0.64/26'] });
    expect(world.bugs).toEqual([]);
  });

  test('is held whole in cluster-pool, although they are blocks of pools and more than a node without a Node has', async () => {
    const flags = { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/16', 'nodes-gc-interval': '0' };
    const world = new BlockWorld({ seed: 'one', command: 'run', flags });
    await world.ask('POST', '/api/v1/nodes', another);
    const cidrs = Array.from({ length: 100 }, (_, index) => `10.0.${index}.0/24`);
    await withIpam(world, 'many', { pools: { allocated: [{ pool: 'blue', cidrs }] } });
    await withIpam(world, 'other', {});
    world.startReplica();
    await world.clock.advance(10_000);

    const given = ['many', 'other'].map(async (name) =>
      textsAt(await world.ask('GET', `${world.path}/${name}`), 'spec', 'ipam', 'podCIDRs'),
    );
    const texts = (await Promise.all(given)).flat();
    expect(texts.filter((text) => cidrs.includes(text))).toEqual([]);
    expect(texts).toContain('10.0.100.0/24');
  });
});
