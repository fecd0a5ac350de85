import { describe, expect, test } from '@jest/globals';
import { textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { ipv4, nodes, PoolWorld } from './pool-world.ts';

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
