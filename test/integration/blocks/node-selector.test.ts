// Two releases share a cluster: each gives blocks to the nodes whose Node has the labels of its selector.
import { describe, expect, test } from '@jest/globals';
import { listAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { ipv4, PoolWorld, requested } from './pool-world.ts';

const ours = { 'node-selector': 'network=blocks', 'nodes-gc-interval': '1m' };

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
          flags: { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/22', ...ours },
        }),
      ),
    spec: {},
  },
  'multi-pool': {
    start: async () => {
      const world = new PoolWorld(ours);
      await world.pool('default', ipv4(24, '10.0.0.0/22'));
      return world;
    },
    spec: { ipam: { pools: { requested: requested({ default: 1 }) } } },
  },
  nodeipam: {
    start: () => {
      const { 'nodes-gc-interval': _, ...flags } = ours;
      return Promise.resolve(
        new BlockWorld({
          seed: 'one',
          command: 'nodeipam',
          flags: { 'cluster-cidr': '10.0.0.0/22', ...flags },
        }),
      );
    },
    spec: {},
  },
};

async function label(world: BlockWorld, name: string, network: string): Promise<void> {
  await world.ask('PATCH', `/api/v1/nodes/${name}`, { metadata: { labels: { network } } });
}

async function join(world: BlockWorld, name: string, network: string, spec: object): Promise<void> {
  const metadata = { name, labels: { network } };
  await world.ask('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata, spec: {} });
  if (world.form === 'Node') return;
  await world.ask('POST', world.path, {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNode',
    metadata: { name },
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

const written = (world: BlockWorld, name: string): number =>
  world.writes.filter(({ path }) => new RegExp(`/(?:ciliumnodes|nodes)/${name}\\b`).test(path)).length;

describe.each(Object.entries(forms))(
  'a node without the labels of the selector (%s)',
  (_, { start, spec }) => {
    test('gets no block, no write, and is not counted', async () => {
      const world = await start();
      world.startReplica();
      await world.until('it leads', () => world.leader !== undefined);
      await join(world, 'a', 'blocks', spec);
      await join(world, 'b', 'eni', spec);
      await world.clock.advance(120_000);

      expect(await blocksOf(world, 'a')).toEqual(['10.0.0.0/24']);
      expect(await blocksOf(world, 'b')).toEqual([]);
      expect(written(world, 'b')).toBe(0);
      expect(world.leader?.controller.status()).toMatchObject({
        nodeSelector: 'network=blocks',
        leftToOthers: 1,
        nodes: { total: 1, served: 1, waiting: 0, leftAlone: 0 },
        reasons: {},
      });
      expect(world.leader?.controller.node('b')).toMatchObject({ known: true, standing: 'leftToOthers' });
      expect(world.bugs).toEqual([]);
    });

    test('keeps the block that it had, which goes to no other node, also by the next leader', async () => {
      const world = await start();
      world.startReplica();
      await join(world, 'a', 'blocks', spec);
      await world.clock.advance(60_000);
      await label(world, 'a', 'eni');
      await world.clock.advance(60_000);
      const before = written(world, 'a');
      world.leader?.stop();
      await world.clock.advance(60_000);
      world.startReplica();
      await world.clock.advance(60_000);
      for (const name of ['b', 'c', 'd', 'e']) await join(world, name, 'blocks', spec);
      await world.clock.advance(60_000);

      expect(await blocksOf(world, 'a')).toEqual(['10.0.0.0/24']);
      expect(written(world, 'a')).toBe(before);
      const others = await Promise.all(['b', 'c', 'd', 'e'].map((name) => blocksOf(world, name)));
      expect(others.flat().toSorted()).toEqual(['10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24']);
      expect(world.leader?.controller.status()).toMatchObject({ leftToOthers: 1, nodes: { total: 4 } });
      expect(world.bugs).toEqual([]);
    });

    test('is served once it has them, after what its former release began has ended', async () => {
      const world = await start();
      world.startReplica();
      await join(world, 'a', 'eni', spec);
      await world.clock.advance(30_000);
      await label(world, 'a', 'blocks');
      await world.clock.advance(50_000);
      const settling = { blocks: await blocksOf(world, 'a'), ...world.leader?.controller.node('a') };
      await world.clock.advance(20_000);

      expect(settling).toMatchObject({ blocks: [], standing: 'settling' });
      expect(await blocksOf(world, 'a')).toEqual(['10.0.0.0/24']);
      expect(world.leader?.controller.node('a')).toMatchObject({ standing: 'served' });
    });

    test('gets blocks of another release, whose networks are none of ours, without a pause', async () => {
      const world = await start();
      const replica = world.startReplica();
      for (const name of ['b', 'c', 'd']) await join(world, name, 'eni', spec);
      await world.clock.advance(30_000);
      for (const [index, name] of ['b', 'c', 'd'].entries()) {
        const podCIDRs = [`10.9.${index}.0/24`];
        const patch =
          world.form === 'Node'
            ? { spec: { podCIDR: podCIDRs[0] ?? '', podCIDRs } }
            : { spec: { ipam: { podCIDRs } } };
        await world.ask('PATCH', `${world.path}/${name}`, patch);
      }
      await world.clock.advance(30_000);

      expect(world.leader?.controller.status()).toMatchObject({ paused: [], reasons: {} });
      expect(replica.log.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    });

    test('that an older release chooses, too, is left to that one, and a younger one without a selector ends', async () => {
      const world = await start();
      const older = world.startReplica({ 'leader-election-lease-name': 'older' });
      await join(world, 'a', 'blocks', spec);
      await world.clock.advance(60_000);
      const younger = world.startReplica({
        'leader-election-lease-name': 'younger',
        'node-selector': 'network',
      });
      const whole = world.startReplica({ 'leader-election-lease-name': 'whole', 'node-selector': '' });
      await join(world, 'b', 'blocks', spec);
      await join(world, 'c', 'other', spec);
      await world.clock.advance(120_000);

      expect(await whole.outcome).toBe('lost');
      expect(older.controller.status()).toMatchObject({ nodes: { total: 2, served: 2 }, leftToOthers: 1 });
      expect(younger.controller.status()).toMatchObject({
        nodes: { total: 1, served: 1 },
        paused: [],
        overlaps: [{ node: 'a', reason: 'NodeSelectorsOverlap' }, { node: 'b' }],
      });
      expect(younger.controller.node('b')).toMatchObject({
        standing: 'contested',
        reason: 'NodeSelectorsOverlap',
      });
      const all = await Promise.all(['a', 'b', 'c'].map((name) => blocksOf(world, name)));
      expect(new Set(all.flat()).size).toBe(3);
      expect(world.bugs).toEqual([]);
    });
  },
);
