import { describe, expect, test } from '@jest/globals';
import { ipv4, nodes, pools, PoolWorld, usual } from './pool-world.ts';

describe('a list of blocks that somebody emptied', () => {
  test.each([
    ['a missing section', null],
    ['an empty list', { allocated: [] }],
    ['no list', { allocated: null }],
  ])('frees nothing for %s, and gives the same blocks again', async (_, pools) => {
    const world = await usual();
    await world.node('a', { blue: 100 });
    await world.clock.advance(1000);
    const before = await world.blocks('a');
    await world.ask('PATCH', `${nodes}/a`, { spec: { ipam: { pools } } });
    await world.node('b', { blue: 62 * 3 });
    await world.clock.advance(2000);
    expect(await world.blocks('b')).toEqual({ blue: ['10.1.0.128/26', '10.1.0.192/26'] });

    await world.request('a', { blue: 100 });
    await world.clock.advance(10_000);
    expect(await world.blocks('a')).toEqual(before);
  });

  test.each([
    [403, { blue: 100 }],
    [403, { blue: 1 }],
    [409, { blue: 1 }],
    [503, { blue: 1 }],
  ])(
    'keeps the blocks although a write is answered with %d and its agent then asks for %j',
    async (status, asked) => {
      let isRefusing = false;
      const world = new PoolWorld(
        {},
        {
          intercept: (_, handler) => (request, signal) => {
            const isOurs = request.method === 'PATCH' && request.url.includes(`${nodes}/a`);
            if (!isRefusing || !isOurs) return handler(request, signal);
            const body = JSON.stringify({ kind: 'Status', status: 'Failure', code: status, message: 'no' });
            return Promise.resolve({ status, headers: {}, body });
          },
        },
      );
      await world.pool('blue', ipv4(26, '10.1.0.0/24'));
      world.startReplica();
      await world.node('a', { blue: 100 });
      await world.until('it leads', () => world.leader !== undefined);
      await world.clock.advance(2000);
      const before = await world.blocks('a');
      isRefusing = true;
      await world.list('a', {});
      await world.clock.advance(2000);
      await world.request('a', asked);
      await world.node('b', { blue: 62 * 4 });
      await world.clock.advance(60_000);
      expect(await world.blocks('b')).toEqual({ blue: ['10.1.0.128/26', '10.1.0.192/26'] });

      isRefusing = false;
      await world.list('a', before);
      await world.clock.advance(60_000);
      expect(await world.blocks('a')).toEqual(before);
      expect(world.reasonOf('a')).toBeUndefined();
    },
  );

  test('frees what its agent leaves out when it lists blocks again', async () => {
    const world = await usual();
    await world.node('a', { blue: 100 });
    await world.clock.advance(1000);
    await world.request('a', {});
    await world.list('a', {});
    await world.clock.advance(1000);
    expect(world.held()).toContain('blue 10.1.0.0/24 2');

    await world.list('a', { blue: ['10.1.0.64/26'] });
    await world.clock.advance(1000);
    expect(world.held()).toContain('blue 10.1.0.0/24 1');
  });

  test('lists everything again when its agent asks for some of it', async () => {
    const world = await usual();
    await world.node('a', { blue: 100, default: 1 });
    await world.clock.advance(1000);
    const before = await world.blocks('a');
    await world.request('a', {});
    await world.list('a', {});
    await world.ask('DELETE', `${pools}/default`);
    await world.clock.advance(1000);
    await world.request('a', { blue: 1 });
    await world.clock.advance(10_000);
    expect(await world.blocks('a')).toEqual(before);

    await world.list('a', { blue: ['10.1.0.0/26'] });
    await world.node('b', { blue: 62 * 3 });
    await world.clock.advance(10_000);
    expect(Object.values(await world.blocks('b')).flat()).toHaveLength(3);
    expect(
      world.writes.filter(({ path }) => path.startsWith(`${nodes}/a`) && !path.endsWith('/status')),
    ).toHaveLength(2);
  });

  test('frees its last block if its agent lists nothing and asks for nothing for long enough', async () => {
    const world = await usual();
    await world.node('a', { blue: 100 });
    await world.clock.advance(1000);
    const writes = world.writes.length;
    await world.request('a', {});
    await world.list('a', {});
    await world.node('b', { blue: 62 * 4 });
    await world.clock.advance(140_000);
    expect(Object.values(await world.blocks('b')).flat()).toHaveLength(2);

    await world.clock.advance(20_000);
    expect(Object.values(await world.blocks('b')).flat()).toHaveLength(4);
    expect(world.writes.slice(writes).filter(({ path }) => path.startsWith(`${nodes}/a`))).toEqual([]);

    await world.request('a', { default: 1 });
    await world.clock.advance(5000);
    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/27'] });
    expect(world.bugs).toEqual([]);
  });

  test('frees nothing if its agent asks again in between, or if its object shows more when it is read', async () => {
    const world = await usual();
    await world.node('a', { blue: 100 });
    await world.clock.advance(1000);
    for (let round = 0; round < 4; round++) {
      await world.request('a', {});
      await world.list('a', {});
      await world.clock.advance(100_000);
      await world.request('a', { blue: 1 });
      await world.clock.advance(1000);
    }
    expect(world.held()).toContain('blue 10.1.0.0/24 2');

    await world.request('a', {});
    await world.list('a', {});
    await world.clock.advance(1000);
    world.model.faults.inject({
      path: /watch=/,
      times: Infinity,
      effect: { kind: 'delayEvents', ms: 300_000 },
    });
    await world.request('a', { blue: 1 });
    await world.clock.advance(200_000);
    expect(world.held()).toContain('blue 10.1.0.0/24 2');
  });

  test('keeps the orphan from another pool that covers it', async () => {
    const world = await usual();
    await world.node('a', { blue: 1 });
    await world.clock.advance(1000);
    await world.ask('DELETE', `${pools}/blue`);
    await world.request('a', {});
    await world.list('a', {});
    await world.pool('cover', ipv4(26, '10.1.0.0/25'));
    await world.node('b', { cover: 62 * 2 });
    await world.request('a', { cover: 62 * 2 });
    await world.clock.advance(10_000);

    expect(await world.blocks('b')).toEqual({ cover: ['10.1.0.64/26'] });
    expect(await world.blocks('a')).toEqual({});
  });

  test('keeps its pool from another mask size', async () => {
    const world = await usual();
    await world.node('a', { blue: 1 });
    await world.clock.advance(1000);
    await world.request('a', {});
    await world.list('a', {});
    await world.ask('PATCH', `${pools}/blue`, { spec: ipv4(28, '10.1.0.0/24') });
    await world.node('b', { blue: 1 });
    await world.clock.advance(10_000);

    expect(await world.blocks('b')).toEqual({ blue: ['10.1.0.64/26'] });
    expect(await world.events()).toContain('CiliumPodIPPool blue PoolInvalid');
  });
});

describe('lists that agents write again', () => {
  test('while a write of Headwater is under way are no work of another allocator', async () => {
    const world = await usual();
    for (const name of ['a', 'b']) await world.node(name, { blue: 1 });
    await world.clock.advance(5000);
    const before = new Map([
      ['a', await world.blocks('a')],
      ['b', await world.blocks('b')],
    ]);
    const raced: string[] = [];
    world.onSend = (_, { url }) => {
      const name = url.split('/').at(-1) ?? '';
      const listed = before.get(name);
      if (listed === undefined || raced.includes(name)) return;
      raced.push(name);
      void world.list(name, listed);
    };
    for (const name of ['a', 'b']) {
      await world.ask('PATCH', `${nodes}/${name}`, { spec: { ipam: { pools: { allocated: null } } } });
      await world.clock.advance(5000);
    }

    expect(raced).toEqual(['a', 'b']);
    expect(await world.blocks('a')).toEqual(before.get('a'));
    expect(world.leader?.controller.status().paused).toEqual([]);
    expect(world.leader?.log.lines.map(({ message }) => message)).not.toContain(
      'a node has blocks that Headwater did not give it',
    );
  });
});
