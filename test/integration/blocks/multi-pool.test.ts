import { describe, expect, test } from '@jest/globals';
import { metricIn } from '../../../rig/metric-text.ts';
import { createMetricRegistry } from '../../../src/observability/metrics.ts';
import { type JsonObject, objectAt } from '../../../src/simulator/workload/json.ts';
import { ipv4, nodes, pools, PoolWorld, usual } from './pool-world.ts';

describe('run --ipam=multi-pool', () => {
  test('gives a node as many blocks of each pool as its agent asks for, with one write', async () => {
    const world = await usual();
    await world.node('a', { default: 40, blue: 1 });
    await world.clock.advance(1000);

    expect(await world.blocks('a')).toEqual({
      blue: ['10.1.0.0/26'],
      default: ['10.0.0.0/27', '10.0.0.32/27'],
    });
    await world.clock.advance(600_000);
    expect(world.writes).toHaveLength(1);
    expect(world.held()).toEqual(['blue 10.1.0.0/24 1', 'default 10.0.0.0/24 2']);
    expect(world.bugs).toEqual([]);
  });

  test('adds what is lacking when an agent asks for more, and takes nothing away when it asks for less', async () => {
    const world = await usual();
    await world.node('a', { default: 30 });
    await world.clock.advance(1000);
    await world.request('a', { default: 31 });
    await world.clock.advance(1000);
    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/27', '10.0.0.32/27'] });

    await world.request('a', { default: 1 });
    await world.clock.advance(60_000);
    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/27', '10.0.0.32/27'] });
    expect(world.writes).toHaveLength(2);
  });

  test('serves what an agent asks for before the answer to the last write has arrived', async () => {
    const answer = Promise.withResolvers<void>();
    const world = new PoolWorld(
      {},
      {
        intercept: (_, handler) => async (request, signal) => {
          const given = await handler(request, signal);
          if (request.method === 'PATCH' && request.body?.includes('"allocated"') === true)
            await answer.promise;
          return given;
        },
      },
    );
    await world.pool('default', ipv4(27, '10.0.0.0/24'));
    world.startReplica();
    await world.node('a', { default: 1 });
    await world.until('a block is written', () => world.writes.length === 1);
    await world.request('a', { default: 31 });
    await world.clock.advance(1000);
    answer.resolve();
    await world.clock.advance(1000);

    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/27', '10.0.0.32/27'] });
    expect(world.writes).toHaveLength(2);
  });

  test('is written at once however often its agent asks for more', async () => {
    const world = await usual();
    await world.node('a', { default: 1 });
    for (let more = 2; more <= 7; more++)
      for (const count of [more * 30, more * 30 - 29]) {
        await world.request('a', { default: count });
        await world.clock.advance(5000);
      }

    expect(Object.values(await world.blocks('a')).flat()).toHaveLength(7);
    // The first two requests come before the first write.
    expect(world.writes).toHaveLength(6);
  });

  test('frees a block that its agent gives back, and serves who waits for it', async () => {
    const world = await usual();
    await world.node('a', { blue: 62 * 4 });
    await world.clock.advance(1000);
    await world.node('b', { blue: 1 });
    await world.clock.advance(10_000);
    expect(world.reasonOf('b')).toBe('PoolExhausted');
    expect(await world.error('b')).toMatch(
      /^no IPv4 block of pool blue is free, and a holds a large part: add a network/,
    );

    await world.list('a', { blue: ['10.1.0.0/26', '10.1.0.64/26', '10.1.0.192/26'] });
    await world.request('a', { blue: 180 });
    await world.clock.advance(10_000);

    expect(await world.blocks('b')).toEqual({ blue: ['10.1.0.128/26'] });
    expect(await world.error('b')).toBe('');
    expect(world.reasonOf('b')).toBeUndefined();
  });

  test('keeps every block over a change of the leader', async () => {
    const world = await usual();
    await world.node('a', { default: 40, blue: 1 });
    await world.clock.advance(1000);
    world.leader?.process.kill();
    world.startReplica();
    await world.node('b', { default: 1, blue: 1 });
    await world.clock.advance(60_000);

    expect(await world.blocks('a')).toEqual({
      blue: ['10.1.0.0/26'],
      default: ['10.0.0.0/27', '10.0.0.32/27'],
    });
    expect(await world.blocks('b')).toEqual({ blue: ['10.1.0.64/26'], default: ['10.0.0.64/27'] });
  });

  test('creates missing definitions, which keep fields that nobody knows yet', async () => {
    const world = new PoolWorld({}, { withoutDefinition: true });
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.pool('blue', ipv4(26, '10.1.0.0/24'));
    const allocated = [{ pool: 'old', cidrs: ['no CIDR'], note: 'kept' }];
    const requests = [{ pool: 'blue', needed: { 'ipv4-addrs': 1 } }];
    await world.ask('POST', nodes, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name: 'a' },
      spec: { ipam: { resourcepools: { gpu: 1 }, pools: { requested: requests, allocated } } },
    });
    await world.clock.advance(5000);

    expect(objectAt(await world.ask('GET', `${nodes}/a`), 'spec')).toEqual({
      ipam: {
        resourcepools: { gpu: 1 },
        pools: { requested: requests, allocated: [{ pool: 'blue', cidrs: ['10.1.0.0/26'] }, ...allocated] },
      },
    });
  });
});

describe('pools', () => {
  test('serve who waits as soon as they come, and are added to', async () => {
    const world = await usual();
    await world.node('a', { green: 1, default: 1 });
    await world.clock.advance(5000);
    expect(world.reasonOf('a')).toBe('PoolMissing');
    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/27'] });

    await world.pool('green', ipv4(28, '10.2.0.0/28'));
    await world.clock.advance(5000);
    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/27'], green: ['10.2.0.0/28'] });

    await world.node('b', { green: 1 });
    await world.clock.advance(5000);
    expect(world.reasonOf('b')).toBe('PoolExhausted');
    await world.ask('PATCH', `${pools}/green`, { spec: ipv4(28, '10.2.0.0/28', '10.3.0.0/24') });
    await world.clock.advance(5000);
    expect(await world.blocks('b')).toEqual({ green: ['10.3.0.0/28'] });
    expect(world.bugs).toEqual([]);
  });

  test('of one family serve nodes that ask for both', async () => {
    const world = await usual();
    await world.pool('six', { ipv6: { cidrs: ['fd00::/112'], maskSize: 120 } });
    await world.node('a', { blue: [10, 10], six: [10, 10] });
    await world.clock.advance(5000);

    expect(await world.blocks('a')).toEqual({ blue: ['10.1.0.0/26'], six: ['fd00::/120'] });
    expect(world.leader?.controller.node('a')).toMatchObject({ standing: 'served' });
  });

  test('count the first and the last address of a block only if they allow them', async () => {
    const world = await usual();
    const spec = { cidrs: ['10.2.0.0/24'], maskSize: 30 };
    await world.pool('two', { ipv4: spec });
    await world.pool('four', {
      ipv4: { ...spec, cidrs: ['10.3.0.0/24'] },
      allowFirstIP: true,
      allowLastIP: true,
    });
    await world.pool('all', { ipv4: { cidrs: ['10.4.0.0/24'], maskSize: 32 } });
    await world.node('a', { two: 3, four: 4, all: 2 });
    await world.clock.advance(5000);

    expect(await world.blocks('a')).toEqual({
      all: ['10.4.0.0/32', '10.4.0.1/32'],
      four: ['10.3.0.0/30'],
      two: ['10.2.0.0/30', '10.2.0.4/30'],
    });
    const node = await world.ask('GET', `${nodes}/a`);
    expect(objectAt(node, 'spec', 'ipam', 'pools')['allocated']).toEqual([
      { pool: 'all', cidrs: ['10.4.0.0/32', '10.4.0.1/32'] },
      { pool: 'four', cidrs: ['10.3.0.0/30'], allowFirstIP: true, allowLastIP: true },
      { pool: 'two', cidrs: ['10.2.0.0/30', '10.2.0.4/30'] },
    ]);
  });

  test('that an older version wrote count with the ends that each family allows, and say so to agents', async () => {
    const world = await usual();
    const old = { cidrs: ['10.3.0.0/24'], maskSize: 30, allowFirstIP: true, allowLastIP: true };
    await world.pool('old', { ipv4: old });
    await world.node('a', { old: 4 });
    await world.node('b');
    await world.list('b', { old: ['10.3.0.128/30'] });
    await world.request('b', { old: 4 });
    await world.clock.advance(5000);

    const allocatedOf = async (name: string) =>
      objectAt(await world.ask('GET', `${nodes}/${name}`), 'spec', 'ipam', 'pools')['allocated'];
    const ends = { allowFirstIP: true, allowLastIP: true };
    expect(await allocatedOf('a')).toEqual([{ pool: 'old', cidrs: ['10.3.0.0/30'], ...ends }]);
    // An entry without them holds two addresses a block, until it is written.
    expect(await allocatedOf('b')).toEqual([
      { pool: 'old', cidrs: ['10.3.0.4/30', '10.3.0.128/30'], ...ends },
    ]);
  });

  test('that the option creates have the ends of blocks where agents look for them', async () => {
    const world = new PoolWorld({
      'auto-create-cilium-pod-ip-pools':
        'made=ipv4-cidrs:10.8.0.0/16;ipv4-mask-size:24;ipv6-cidrs:fd00::/112;ipv6-mask-size:120;allow-first-ip:true',
    });
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.clock.advance(1000);

    expect(objectAt(await world.ask('GET', `${pools}/made`), 'spec')).toEqual({
      ipv4: { cidrs: ['10.8.0.0/16'], maskSize: 24 },
      ipv6: { cidrs: ['fd00::/112'], maskSize: 120 },
      allowFirstIP: true,
    });
  });

  test('that the option creates are told as missing to nobody before they are there', async () => {
    const world = new PoolWorld({
      'auto-create-cilium-pod-ip-pools': 'made=ipv4-cidrs:10.8.0.0/16;ipv4-mask-size:24',
    });
    await world.node('a', { made: 1 });
    await world.node('b', { other: 1 });
    const { log } = world.startReplica();
    await world.clock.advance(60_000);

    expect(await world.blocks('a')).toEqual({ made: ['10.8.0.0/24'] });
    const told = log.lines.filter(({ level }) => level === 'warn').map(({ details }) => details['node']);
    expect(new Set(told)).toEqual(new Set(['b']));
    expect(world.reasonOf('b')).toBe('PoolMissing');
    expect((await world.events()).filter((event) => event.startsWith('CiliumNode a'))).toEqual([]);
  });

  test("leave orphans behind, which stay the node's and are given to nobody", async () => {
    const world = await usual();
    await world.node('a', { blue: 100 });
    await world.clock.advance(1000);
    await world.ask('DELETE', `${pools}/blue`);
    await world.clock.advance(5000);
    expect(world.reasonOf('a')).toBe('BlockOrphaned');

    await world.pool('cover', ipv4(26, '10.1.0.0/24'));
    await world.node('b', { cover: 62 * 4 });
    await world.clock.advance(5000);
    expect(await world.blocks('b')).toEqual({ cover: ['10.1.0.128/26', '10.1.0.192/26'] });
    expect(world.reasonOf('b')).toBe('PoolExhausted');

    await world.ask('DELETE', `${nodes}/a`);
    await world.clock.advance(30_000);
    expect(Object.values(await world.blocks('b')).flat()).toHaveLength(4);
    expect(world.bugs).toEqual([]);
  });

  test('that go and return while a write is on its way give its block to nobody else', async () => {
    const arrives = Promise.withResolvers<void>();
    const world = new PoolWorld(
      {},
      {
        intercept: (_, handler) => async (request, signal) => {
          if (request.method === 'PATCH' && request.url.includes(`${nodes}/a`)) await arrives.promise;
          return handler(request, signal);
        },
      },
    );
    await world.pool('blue', ipv4(26, '10.1.0.0/24'));
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.node('a', { blue: 1 });
    await world.clock.advance(500);
    await world.ask('DELETE', `${pools}/blue`);
    await world.clock.advance(500);
    await world.pool('blue', ipv4(26, '10.1.0.0/24'));
    await world.node('b', { blue: 62 * 4 });
    await world.clock.advance(500);
    arrives.resolve();
    await world.clock.advance(10_000);
    expect(await world.blocks('a')).toEqual({ blue: ['10.1.0.0/26'] });
    expect(await world.blocks('b')).toEqual({ blue: ['10.1.0.64/26', '10.1.0.128/26', '10.1.0.192/26'] });
  });

  test('that lose a network in use leave its blocks to their node, and to nobody else', async () => {
    const world = await usual();
    await world.node('a', { blue: 1 });
    await world.clock.advance(1000);
    await world.ask('PATCH', `${pools}/blue`, { spec: ipv4(26, '10.2.0.0/24') });
    await world.pool('late', ipv4(26, '10.1.0.0/24'));
    await world.node('b', { blue: 1, late: 1 });
    await world.clock.advance(10_000);

    expect(await world.blocks('a')).toEqual({ blue: ['10.1.0.0/26'] });
    expect(world.reasonOf('a')).toBe('BlockOrphaned');
    expect(await world.blocks('b')).toEqual({ blue: ['10.2.0.0/26'], late: ['10.1.0.64/26'] });
    expect(world.reasonOf('b')).toBeUndefined();
  });

  test.each<[string, Record<string, readonly string[]>]>([
    ['everything under the name of a pool that is gone', { gone: ['0.0.0.0/0', '::/0'] }],
    ['a pool under the name of one that is gone', { gone: ['10.1.0.0/24'] }],
    ['a block under the name of another pool', { default: ['10.1.0.64/26'] }],
  ])('that a node claims by one line are not stopped by it: %s', async (_, lines) => {
    const world = new PoolWorld();
    await world.pool('blue', ipv4(26, '10.1.0.0/24', '10.3.0.0/24'));
    await world.pool('default', ipv4(27, '10.0.0.0/24'));
    await world.node('hostile');
    await world.list('hostile', lines);
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.node('a', { blue: 1, default: 1 });
    await world.clock.advance(5000);
    expect(Object.keys(await world.blocks('a'))).toEqual(['blue', 'default']);

    await world.ask('PATCH', `${pools}/blue`, {
      spec: ipv4(26, '10.1.0.0/24', '10.3.0.0/24', '10.4.0.0/24'),
    });
    world.leader?.stop();
    world.startReplica();
    await world.node('b', { blue: 62 * 4, default: 1 });
    await world.clock.advance(60_000);
    expect((await world.blocks('b'))['blue']).toHaveLength(4);
    expect(await world.events()).not.toContain('CiliumPodIPPool blue PoolInvalid');
    const held = Object.values(await world.blocks('hostile')).flat();
    expect(Object.values(await world.blocks('b')).flat()).not.toEqual(expect.arrayContaining(held));
    expect(world.bugs).toEqual([]);
  });

  test('that grow over an orphan serve with all that it does not hold', async () => {
    const world = await usual();
    await world.pool('old', ipv4(26, '10.5.0.0/25'));
    await world.node('a', { old: 1 });
    await world.clock.advance(1000);
    await world.ask('DELETE', `${pools}/old`);
    await world.ask('PATCH', `${pools}/blue`, { spec: ipv4(26, '10.1.0.0/24', '10.5.0.0/25') });
    await world.node('b', { blue: 62 * 5 });
    await world.clock.advance(5000);

    expect((await world.blocks('b'))['blue']).toEqual([
      '10.1.0.0/26',
      '10.1.0.64/26',
      '10.1.0.128/26',
      '10.1.0.192/26',
      '10.5.0.64/26',
    ]);
    expect(world.reasonOf('a')).toBe('BlockOrphaned');
  });

  test('of both families give both in one write', async () => {
    const world = await usual();
    await world.pool('two', { ...ipv4(28, '10.2.0.0/24'), ipv6: { cidrs: ['fd00::/112'], maskSize: 120 } });
    await world.node('a', { two: [1, 1] });
    await world.clock.advance(1000);

    expect(await world.blocks('a')).toEqual({ two: ['10.2.0.0/28', 'fd00::/120'] });
    expect(world.writes).toHaveLength(1);
  });

  test('that have nothing left are no problem of a node whose blocks suffice', async () => {
    const world = await usual();
    await world.node('a', { blue: 62 * 4 });
    await world.clock.advance(1000);
    await world.request('a', { blue: 62 * 3 });
    await world.clock.advance(1000);
    await world.request('a', { blue: 62 * 4 });
    await world.clock.advance(10_000);

    expect(world.reasonOf('a')).toBeUndefined();
    expect(await world.error('a')).toBe('');
    expect(world.writes).toHaveLength(1);
  });

  test('are counted with all their blocks, and with those that they no longer have', async () => {
    const registry = createMetricRegistry({ measureProcess: false });
    const world = new PoolWorld({}, { registry });
    await world.pool('blue', ipv4(26, '10.1.0.0/24', '10.2.0.0/24'));
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.node('a', { blue: 62 * 5 });
    await world.clock.advance(5000);
    const valueOf = async (series: string): Promise<number | undefined> =>
      metricIn(await registry.scrape(), series);
    const total = 'cilium_operator_ipam_multipool_total_blocks{pool="blue",family="ipv4"}';
    const orphaned = 'headwater_cidr_blocks{pool="blue",family="ipv4",state="orphaned"}';
    expect([await valueOf(total), await valueOf(orphaned)]).toEqual([8, 0]);

    await world.ask('PATCH', `${pools}/blue`, { spec: ipv4(26, '10.1.0.0/24') });
    await world.clock.advance(5000);
    expect([await valueOf(total), await valueOf(orphaned)]).toEqual([4, 1]);

    await world.ask('DELETE', `${pools}/blue`);
    await world.clock.advance(5000);
    expect([await valueOf(total), await valueOf(orphaned)]).toEqual([0, 5]);
  });

  test('that return have their orphans again', async () => {
    const world = await usual();
    await world.node('a', { blue: 1 });
    await world.clock.advance(1000);
    await world.ask('DELETE', `${pools}/blue`);
    await world.clock.advance(1000);
    await world.pool('blue', ipv4(26, '10.1.0.0/24'));
    await world.node('b', { blue: 1 });
    await world.clock.advance(5000);

    expect(world.reasonOf('a')).toBeUndefined();
    expect(await world.blocks('b')).toEqual({ blue: ['10.1.0.64/26'] });
  });

  test.each<[string, JsonObject, string]>([
    ['shrinks its mask', ipv4(28, '10.1.0.0/24'), 'spec.ipv4.maskSize changed from 26 to 28'],
    ['allows the first address', { allowFirstIP: true }, 'spec.allowFirstIP changed from false to true'],
    [
      'overlaps another one',
      ipv4(26, '10.1.0.0/24', '10.0.0.128/25'),
      '10.0.0.128/25 of spec.ipv4.cidrs overlaps 10.0.0.0/24 of pool default',
    ],
    ['has no CIDRs', { ipv4: null }, 'it has no network'],
    ['has a CIDR that is none', ipv4(26, '10.1.0.0/24', '10.5.0.0/240'), 'cannot be read because'],
    ['has a CIDR of the other family', ipv4(26, '10.1.0.0/24', 'fd00::/64'), 'is an IPv6 network'],
    ['overlaps itself', ipv4(26, '10.1.0.0/24', '10.1.0.0/25'), 'of the same pool'],
    ['has a CIDR longer than its mask', ipv4(26, '10.1.0.0/24', '10.5.0.0/27'), 'cannot be divided'],
  ])('that change so that one %s serve as before, and say why', async (_, spec, why) => {
    const world = await usual();
    await world.node('a', { blue: 1 });
    await world.clock.advance(1000);
    await world.ask('PATCH', `${pools}/blue`, { spec });
    await world.node('b', { blue: 1, default: 1 });
    await world.node('c', { blue: 62 * 3 });
    await world.clock.advance(10_000);

    expect(await world.blocks('b')).toEqual({ blue: ['10.1.0.64/26'], default: ['10.0.0.0/27'] });
    expect([world.reasonOf('a'), world.reasonOf('b')]).toEqual([undefined, undefined]);
    expect(await world.blocks('c')).toEqual({ blue: ['10.1.0.128/26', '10.1.0.192/26'] });
    expect(world.reasonOf('c')).toBe('PoolExhausted');
    expect(await world.error('c')).toContain('Its last change is refused until it is corrected: ');
    expect(await world.error('c')).toContain(why);
    expect(await world.events()).toContain('CiliumPodIPPool blue PoolInvalid');

    const right = { cidrs: ['10.1.0.0/24'], maskSize: 26 };
    await world.ask('PATCH', `${pools}/blue`, { spec: { ipv4: right, allowFirstIP: null } });
    await world.clock.advance(30_000);
    expect(await world.error('c')).not.toContain('Its last change is refused');
  });
});
