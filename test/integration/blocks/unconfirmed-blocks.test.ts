// A CiliumNode that takes more than its node can need: who is told, and what it costs the others.
import { describe, expect, test } from '@jest/globals';
import { textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { ipv4, PoolWorld } from './pool-world.ts';

async function addNode(world: BlockWorld, name: string): Promise<void> {
  await world.ask('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
}

/** Every block of a pool of 256. */
const everything = Array.from({ length: 4 }, (_, index) => `10.5.0.${index * 64}/26`);
const [firstQuarter = ''] = everything;

describe('multi-pool: a CiliumNode that lists a whole pool', () => {
  async function worldWithHog(): Promise<PoolWorld> {
    const world = new PoolWorld();
    await addNode(world, 'b');
    await world.pool('blue', ipv4(32, '10.5.0.0/24'));
    await world.node('hog');
    await world.list('hog', { blue: everything });
    await world.node('b', { blue: 3 });
    await world.clock.advance(2000);
    return world;
  }

  test('without a Node holds as many as max-blocks-without-node, is told so, and nobody waits', async () => {
    const world = await worldWithHog();
    world.startReplica();
    await world.clock.advance(10_000);

    expect(await world.blocks('b')).toEqual({ blue: ['10.5.0.64/32', '10.5.0.65/32', '10.5.0.66/32'] });
    expect(world.held()).toEqual(['blue 10.5.0.0/24 67']);
    expect(world.reasonOf('hog')).toBe('BlocksUnconfirmed');
    expect(await world.error('hog')).toBe(
      'it has no Node of its name, so only 64 blocks of pool blue count as its own, and other nodes may get what else it lists or asks for: delete the CiliumNode if its machine is gone, let its Node register, or raise max-blocks-without-node',
    );
    expect(await world.events()).toContain('CiliumNode hog BlocksUnconfirmed');

    // A change of it is no work of another allocator.
    for (const each of ['1', '2', '3']) {
      await world.ask('PATCH', '/apis/cilium.io/v2/ciliumnodes/hog', { metadata: { annotations: { each } } });
      await world.clock.advance(2000);
    }
    const warnings = world.leader?.log.lines.map(({ message }) => message);
    expect(warnings).not.toContain('a node has blocks that Headwater did not give it');
    expect(world.bugs).toEqual([]);
  });

  test('holds all of it as soon as its Node is there, and for as long as it lives itself', async () => {
    const world = await worldWithHog();
    world.startReplica();
    await world.clock.advance(10_000);
    await addNode(world, 'hog');
    await world.clock.advance(5000);
    await world.ask('DELETE', '/api/v1/nodes/hog');
    await world.clock.advance(5000);

    expect(world.held()).toEqual(['blue 10.5.0.0/24 256']);
    expect(await world.blocks('hog')).toEqual({ blue: everything });
  });

  test('with a Node keeps all of it, and is told that it has more than it asks for', async () => {
    const world = await worldWithHog();
    await addNode(world, 'hog');
    world.startReplica();
    await world.clock.advance(10_000);

    expect(world.reasonOf('b')).toBe('PoolExhausted');
    expect(world.reasonOf('hog')).toBe('BlocksExcessive');
    expect(await world.error('hog')).toBe(
      'it has more blocks of pool blue than it asks for, by more than 64. It keeps them, because pods may use them: restart its Cilium agent, which returns what it does not need, or drain the node and delete its CiliumNode',
    );
    expect(await world.events()).toContain('Node hog BlocksExcessive');

    await world.list('hog', { blue: [firstQuarter] });
    await world.clock.advance(5000);
    expect(world.reasonOf('hog')).toBeUndefined();
    expect(Object.values(await world.blocks('b')).flat()).toHaveLength(3);
  });

  test('counts as before where Headwater reads no Node: that shows nothing of its machine', async () => {
    const world = await worldWithHog();
    await world.ask('DELETE', '/api/v1/nodes/b');
    world.startReplica();
    await world.clock.advance(10_000);

    expect(world.held()).toEqual(['blue 10.5.0.0/24 256']);
    expect(world.reasonOf('b')).toBe('PoolExhausted');
    expect(await world.blocks('b')).toEqual({});
  });

  test('counts as before where Headwater may not read Nodes', async () => {
    const world = await worldWithHog();
    world.model.authorize = ({ resource }) => resource !== 'nodes';
    world.startReplica();
    await world.clock.advance(10_000);

    expect(world.held()).toEqual(['blue 10.5.0.0/24 256']);
  });

  test('takes no more of a pool that comes later', async () => {
    const world = await worldWithHog();
    world.startReplica();
    await world.clock.advance(10_000);
    await world.list('hog', { green: ['10.6.0.0/25'] });
    await world.clock.advance(2000);
    await world.pool('green', ipv4(32, '10.6.0.0/25'));
    await world.request('b', { green: 1 });
    await world.clock.advance(5000);

    expect(await world.blocks('b')).toMatchObject({ green: ['10.6.0.0/32'] });
    expect(world.reasonOf('hog')).toBe('BlocksUnconfirmed');
  });
});

describe('multi-pool: a CiliumNode that asks for a whole pool', () => {
  test('without a Node gets no more than max-blocks-without-node, and all once its Node is there', async () => {
    const world = new PoolWorld({ 'max-blocks-without-node': '16' });
    await addNode(world, 'b');
    await world.pool('blue', ipv4(32, '10.5.0.0/24'));
    world.startReplica();
    await world.node('hog', { blue: 300 });
    await world.clock.advance(10_000);
    expect(Object.values(await world.blocks('hog')).flat()).toHaveLength(16);
    expect(world.reasonOf('hog')).toBe('BlocksUnconfirmed');

    await world.node('b', { blue: 3 });
    await addNode(world, 'hog');
    await world.clock.advance(10_000);
    expect(Object.values(await world.blocks('hog')).flat()).toHaveLength(253);
    expect(world.reasonOf('hog')).toBe('PoolExhausted');
  });

  test('keeps what it got first, whatever it lists beside it', async () => {
    const world = new PoolWorld({ 'max-blocks-without-node': '16' });
    await addNode(world, 'b');
    await world.pool('blue', ipv4(32, '10.5.0.0/24'));
    world.startReplica();
    await world.node('hog', { blue: 10 });
    await world.clock.advance(10_000);
    const own = Object.values(await world.blocks('hog')).flat();
    const foreign = Array.from({ length: 100 }, (_, index) => `10.5.0.${index + 100}/32`);
    await world.list('hog', { blue: [...foreign, ...own] });
    await world.node('b', { blue: 240 });
    await world.clock.advance(10_000);

    const given = Object.values(await world.blocks('b')).flat();
    expect(given).toHaveLength(240);
    expect(given.filter((each) => own.includes(each))).toEqual([]);
  });
});

describe('cluster-pool: a CiliumNode that shows the blocks of many', () => {
  const half = ['10.0.0.0/25', '10.0.0.128/25'];

  async function worldWithHog(): Promise<BlockWorld> {
    const flags = {
      ipam: 'cluster-pool',
      'cluster-pool-ipv4-cidr': '10.0.0.0/24',
      'cluster-pool-ipv4-mask-size': '32',
    };
    const world = new BlockWorld({ seed: 'one', command: 'run', flags });
    await addNode(world, 'other');
    world.startReplica();
    await world.clock.advance(5000);
    const spec = { ipam: { podCIDRs: half } };
    await world.ask('POST', world.path, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name: 'hog' },
      spec,
    });
    await world.clock.advance(5000);
    return world;
  }

  test('without a Node holds none that is larger than max-blocks-without-node', async () => {
    const world = await worldWithHog();
    world.leader?.stop();
    world.startReplica();
    world.join('b');
    await world.until('it is served', () => world.isServed());

    expect(world.leader?.controller.status().pools).toMatchObject([{ held: 1 }]);
    expect(world.leader?.controller.node('hog')).toMatchObject({
      reason: 'BlocksUnconfirmed',
      why: 'it has no Node of its name, so only 64 blocks of a family count as its own, and other nodes may get what else it shows: delete the CiliumNode if its machine is gone, let its Node register, or raise max-blocks-without-node',
    });
    expect(textsAt(await world.ask('GET', `${world.path}/hog`), 'spec', 'ipam', 'podCIDRs')).toEqual(half);
    expect(world.bugs).toEqual([]);
  });

  test('with a Node keeps them, and is told', async () => {
    const world = await worldWithHog();
    await addNode(world, 'hog');
    world.leader?.stop();
    world.startReplica();
    world.join('b');
    await world.clock.advance(10_000);

    expect(world.leader?.controller.node('b')).toMatchObject({ reason: 'PodCIDRsExhausted' });
    const error = textAt(
      await world.ask('GET', `${world.path}/hog`),
      'status',
      'ipam',
      'operator-status',
      'error',
    );
    expect(error).toBe(
      'it has more than 64 blocks of one family, and a node needs one. It keeps them, because pods may use them: drain this node, then delete its CiliumNode and let it register again, or raise max-blocks-without-node',
    );
  });
});
