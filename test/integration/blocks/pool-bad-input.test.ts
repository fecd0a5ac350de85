// What agents may write of pools instead of what they should, and what it costs others.
import { describe, expect, test } from '@jest/globals';
import { ipv4, nodes, requested, usual } from './pool-world.ts';

describe('bad input of pools', () => {
  test.each<[string, number]>([
    ['2 to the power of 63', 2 ** 63],
    ['65,537', 65_537],
    ['a half', 0.5],
  ])('costs nobody else a block: %s addresses', async (_, count) => {
    const world = await usual();
    // The schema admits whole numbers only; a definition without one admits anything.
    await world.node('hostile', { blue: count });
    await world.node('b', { blue: 62 * 4 });
    await world.clock.advance(10_000);

    expect(Object.values(await world.blocks('b')).flat()).toHaveLength(4);
    if (Number.isInteger(count)) expect(world.reasonOf('hostile')).toBe('PodCIDRUnreadable');
  });

  test('stops only the request that it is in', async () => {
    const world = await usual();
    await world.node('a', { gone: 2 ** 63, default: 10 });
    await world.clock.advance(10_000);

    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/27'] });
    expect(world.reasonOf('a')).toBe('PodCIDRUnreadable');
    expect(await world.error('a')).toContain('requested asks pool "gone" for what is no number of addresses');
    expect(world.held()).toContain('default 10.0.0.0/24 1');

    await world.request('a', { gone: 2 ** 63, default: 31 });
    await world.clock.advance(10_000);
    expect(await world.blocks('a')).toEqual({ default: ['10.0.0.0/27', '10.0.0.32/27'] });
  });

  test('in the list of blocks stops every request: what is not read may be what a write gives', async () => {
    const world = await usual();
    await world.node('a');
    const cidrs = Array.from({ length: 1025 }, (_, index) => `10.9.${index >> 8}.${index & 255}/32`);
    const pools = { requested: requested({ default: 10 }), allocated: [{ pool: 'blue', cidrs }] };
    await world.ask('PATCH', `${nodes}/a`, { spec: { ipam: { pools } } });
    await world.clock.advance(10_000);

    expect(Object.keys(await world.blocks('a'))).toEqual(['blue']);
    expect(world.reasonOf('a')).toBe('PodCIDRUnreadable');
    expect(await world.error('a')).toContain('allocated has more than 1024 CIDRs');
  });

  test('frees nothing of a list that is too long to be read in full', async () => {
    const world = await usual();
    await world.node('a', { blue: 1, default: 1 });
    await world.clock.advance(1000);
    await world.request('a', {});
    const many = Array.from({ length: 1024 }, (_, index) => `10.9.${index >> 8}.${index & 255}/32`);
    await world.list('a', { blue: [...many, '10.1.0.0/26'] });
    await world.node('b', { blue: 62 * 4 });
    await world.clock.advance(5000);
    expect(Object.values(await world.blocks('b')).flat()).toHaveLength(3);

    await world.list('a', { default: ['10.0.0.0/27'] });
    await world.clock.advance(5000);
    expect(Object.values(await world.blocks('b')).flat()).toHaveLength(4);
  });

  test('of a node that asks for more small blocks than its list may have gives it as many, and none to two', async () => {
    const world = await usual();
    await world.pool('small', ipv4(28, '10.8.0.0/16'));
    await world.node('a', { small: 14 * 1100 });
    await world.clock.advance(120_000);
    await world.node('b', { small: 14 * 1000 });
    await world.clock.advance(120_000);

    const [a, b] = [await world.blocks('a'), await world.blocks('b')];
    const all = [...(a['small'] ?? []), ...(b['small'] ?? [])];
    expect(all).toHaveLength(1024 + 1000);
    expect(new Set(all).size).toBe(all.length);
    expect(world.reasonOf('a')).toBe('PoolExhausted');
    expect(await world.error('a')).toBe(
      'its list has 1024 CIDRs, which is the maximum: create pools with bigger blocks, a smaller maskSize',
    );
  });

  test('costs nobody else a block: a list of 100,000 CIDRs', async () => {
    const world = await usual();
    await world.node('hostile', { blue: 1 });
    const cidrs = Array.from(
      { length: 100_000 },
      (_, index) => `10.9.${(index >> 8) & 255}.${index & 255}/32`,
    );
    await world.list('hostile', { blue: cidrs });
    await world.node('b', { blue: 1 });
    await world.clock.advance(10_000);

    expect(world.reasonOf('hostile')).toBe('PodCIDRUnreadable');
    expect(await world.blocks('b')).toEqual({ blue: ['10.1.0.0/26'] });
  });

  test.each<[string, Readonly<Record<string, readonly string[]>>, string]>([
    ['a part of its own', { default: ['10.0.0.0/27', '10.0.0.0/28'] }, '10.0.0.0/28 of pool default'],
    [
      'a part in another pool',
      { blue: ['10.0.0.16/28'], default: ['10.0.0.0/27'] },
      '10.0.0.16/28 of pool blue',
    ],
    [
      'one block in two pools',
      { blue: ['10.0.0.0/27'], default: ['10.0.0.0/27'] },
      '10.0.0.0/27 of pool default',
    ],
  ])('of a node that lists a block twice is said, and counts once: %s', async (_, listed, named) => {
    const world = await usual();
    await world.node('a', { default: 1 });
    await world.clock.advance(2000);
    await world.list('a', listed);
    await world.request('a', { default: 40 });
    await world.clock.advance(60_000);

    const { default: blocks = [] } = await world.blocks('a');
    expect(blocks.filter((block) => block.endsWith('/27'))).not.toHaveLength(1);
    expect(world.reasonOf('a')).toBe('PodCIDRConflict');
    expect(await world.error('a')).toContain(`its list has ${named} beside 10.0.0.0/27 of pool `);
    await world.list('a', { default: blocks.filter((block) => block.endsWith('/27')) });
    await world.clock.advance(60_000);
    expect(await world.error('a')).toBe('');
  });

  test('of a node that lists all addresses as a block costs it no more blocks than it asks for', async () => {
    const world = await usual();
    await world.node('a', { default: 1 });
    await world.clock.advance(2000);
    await world.list('a', { gone: ['0.0.0.0/0'], default: ['10.0.0.0/27'] });
    await world.request('a', { default: 40 });
    await world.clock.advance(60_000);

    expect((await world.blocks('a'))['default']).toHaveLength(2);
  });

  test('of two nodes with one block leaves both with it, and names the younger', async () => {
    const world = await usual();
    await world.node('a', { blue: 1 });
    await world.clock.advance(2000);
    await world.node('b', {});
    await world.list('b', { blue: ['10.1.0.0/26'] });
    await world.clock.advance(5000);

    expect(world.reasonOf('a')).toBeUndefined();
    expect(world.reasonOf('b')).toBe('PodCIDRConflict');
    expect(await world.blocks('b')).toEqual({ blue: ['10.1.0.0/26'] });

    await world.request('a', { blue: 100 });
    await world.clock.advance(5000);
    await world.list('a', { blue: ['10.1.0.64/26'] });
    await world.clock.advance(5000);
    expect(world.reasonOf('b')).toBeUndefined();
    expect(await world.error('b')).toBe('');
  });
});
