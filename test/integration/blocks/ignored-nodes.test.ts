// The annotation to ignore a node stands on its Node: an agent replaces the annotations of its CiliumNode.
import { describe, expect, test } from '@jest/globals';
import { listAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { ipv4, PoolWorld, requested } from './pool-world.ts';

const ignore = 'ipam.cilium.io/ignore';

interface Form {
  readonly start: () => Promise<BlockWorld>;
  readonly spec: object;
}

const forms: Readonly<Record<string, Form>> = {
  'cluster-pool': {
    start: () =>
      Promise.resolve(
        new BlockWorld({
          seed: 'one',
          command: 'run',
          flags: { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/22', 'nodes-gc-interval': '0' },
        }),
      ),
    spec: {},
  },
  'multi-pool': {
    start: async () => {
      const world = new PoolWorld({ 'nodes-gc-interval': '0' });
      await world.pool('default', ipv4(24, '10.0.0.0/22'));
      return world;
    },
    spec: { ipam: { pools: { requested: requested({ default: 1 }) } } },
  },
  nodeipam: {
    start: () =>
      Promise.resolve(
        new BlockWorld({ seed: 'one', command: 'nodeipam', flags: { 'cluster-cidr': '10.0.0.0/22' } }),
      ),
    spec: {},
  },
};

async function annotate(world: BlockWorld, name: string, value: string | null): Promise<void> {
  await world.ask('PATCH', `/api/v1/nodes/${name}`, { metadata: { annotations: { [ignore]: value } } });
}

async function addNode(world: BlockWorld, name: string, value: string): Promise<void> {
  const metadata = { name, annotations: { [ignore]: value } };
  await world.ask('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata, spec: {} });
}

async function addCiliumNode(world: BlockWorld, name: string, spec: object): Promise<void> {
  if (world.form === 'Node') return;
  const metadata = { name };
  await world.ask('POST', world.path, {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNode',
    metadata,
    spec,
  } as never);
}

async function blocksOf(world: BlockWorld, name: string): Promise<readonly string[]> {
  const object = await world.ask('GET', `${world.path}/${name}`);
  const pools = listAt(object, 'spec', 'ipam', 'pools', 'allocated').flatMap((each) =>
    textsAt(each, 'cidrs'),
  );
  return [...textsAt(object, 'spec', 'podCIDRs'), ...textsAt(object, 'spec', 'ipam', 'podCIDRs'), ...pools];
}

describe.each(Object.entries(forms))('a Node that asks to be ignored (%s)', (_, { start, spec }) => {
  test('gets no block, and gets one once it no longer asks for that', async () => {
    const world = await start();
    await addNode(world, 'a', 'TRUE');
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await addCiliumNode(world, 'a', spec);
    await world.clock.advance(60_000);
    const ignored = { blocks: await blocksOf(world, 'a'), ...world.leader?.controller.node('a') };

    await annotate(world, 'a', 'no');
    await world.clock.advance(10_000);

    expect(ignored).toMatchObject({ blocks: [], standing: 'leftAlone' });
    expect(await blocksOf(world, 'a')).toEqual(['10.0.0.0/24']);
    expect(world.leader?.controller.node('a')).toMatchObject({ standing: 'served' });
    expect(world.bugs).toEqual([]);
  });

  test('is known to a leader from the start, and its blocks stay its own', async () => {
    const world = await start();
    await addNode(world, 'a', 'false');
    await addCiliumNode(world, 'a', spec);
    await addNode(world, 'b', 'true');
    await addCiliumNode(world, 'b', spec);
    world.startReplica();
    await world.clock.advance(60_000);
    const first = [await blocksOf(world, 'a'), await blocksOf(world, 'b')];

    await annotate(world, 'a', 'true');
    await annotate(world, 'b', null);
    await world.clock.advance(10_000);

    expect(first).toEqual([['10.0.0.0/24'], []]);
    expect([await blocksOf(world, 'a'), await blocksOf(world, 'b')]).toEqual([
      ['10.0.0.0/24'],
      ['10.0.1.0/24'],
    ]);
    expect(world.leader?.controller.node('a')).toMatchObject({ known: true });
  });
});

test('a CiliumNode whose Node asks to ignore it gets no error written, and is not moved to a pool', async () => {
  const world = new PoolWorld({ 'enable-cluster-pool-to-multi-pool-migration': 'true' });
  await world.pool('default', ipv4(24, '10.0.0.0/16'));
  for (const [name, podCIDRs] of [
    ['a', ['10.0.0.0/24']],
    ['far', ['10.9.0.0/24']],
  ] as const) {
    await addNode(world, name, 'true');
    await addCiliumNode(world, name, { ipam: { podCIDRs } });
  }
  world.startReplica();
  await world.clock.advance(60_000);

  expect(world.writes.filter(({ path }) => path.includes('ciliumnodes/'))).toEqual([]);
  expect(
    textAt(await world.ask('GET', `${world.path}/far`), 'status', 'ipam', 'operator-status', 'error'),
  ).toBe('');

  await annotate(world, 'far', null);
  await world.clock.advance(60_000);

  expect(await world.error('a')).toBe('');
});
