// Another allocator of the same mode begins beside a leader, and gives one object a block. Whether anybody wants anything after
// that is no matter: the leader has stopped within 15 s.
import { describe, expect, test } from '@jest/globals';
import type { LiveReading } from '../../../src/config/live-options.ts';
import { type JsonObject, objectAt } from '../../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../../src/simulator/workload/kubernetes-client.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { bothWrote, longestBothWrite } from '../../support/both-writers.ts';
import { type BlockMode, StandInBlockOperator } from '../../support/stand-in-block-operator.ts';
import { ipv4, PoolWorld, requested } from './pool-world.ts';

const usable = 254;

interface Scene {
  readonly mode: BlockMode;
  readonly open: () => Promise<BlockWorld>;
  /** An object that lacks a block, or lacks one more. */
  readonly wanting: (world: BlockWorld, name: string, count: number) => Promise<JsonObject>;
}

async function created(world: BlockWorld, name: string, spec: JsonObject): Promise<JsonObject> {
  const type =
    world.form === 'Node'
      ? { apiVersion: 'v1', kind: 'Node' }
      : { apiVersion: 'cilium.io/v2', kind: 'CiliumNode' };
  return world.ask('POST', world.path, { ...type, metadata: { name }, spec });
}

const scenes: readonly Scene[] = [
  {
    mode: 'cluster-pool',
    open: () =>
      Promise.resolve(
        new BlockWorld({
          seed: 'one',
          command: 'run',
          flags: { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/16' },
        }),
      ),
    wanting: (world, name) => created(world, name, {}),
  },
  {
    mode: 'multi-pool',
    open: async () => {
      const world = new PoolWorld();
      await world.pool('default', ipv4(24, '10.0.0.0/16'));
      return world;
    },
    wanting: async (world, name, count) => {
      const ipam = { pools: { requested: requested({ default: count * usable }) } };
      return count === 1
        ? created(world, name, { ipam })
        : world.ask('PATCH', `${world.path}/${name}`, { spec: { ipam } });
    },
  },
  {
    mode: 'nodeipam',
    open: () =>
      Promise.resolve(
        new BlockWorld({ seed: 'one', command: 'nodeipam', flags: { 'cluster-cidr': '10.0.0.0/16' } }),
      ),
    wanting: (world, name) => created(world, name, {}),
  },
];

async function leading({ open, wanting }: Scene): Promise<BlockWorld> {
  const world = await open();
  world.startReplica();
  await world.until('it leads', () => world.leader !== undefined);
  for (const name of ['a', 'b', 'c']) await wanting(world, name, 1);
  await world.until('all are served', () => world.writes.length === 3);
  await world.clock.advance(60_000);
  return world;
}

function standIn(world: BlockWorld, mode: BlockMode): StandInBlockOperator {
  return new StandInBlockOperator({
    clock: world.clock,
    handler: world.model.handle,
    mode,
    // From the other end of the network: one block never has two givers here.
    blockOf: (index) => `10.0.${255 - index}.0/24`,
    usable,
  });
}

/** The other one gives that object a block before the leader does; for how long both write then. */
async function afterOne(world: BlockWorld, scene: Scene, name: string, count: number): Promise<number> {
  const other = standIn(world, scene.mode);
  await other.see(await scene.wanting(world, name, count), []);
  return bothWrote(
    {
      clock: world.clock,
      hasStopped: () =>
        world.leader?.controller
          .status()
          .paused.some(
            ({ reason, activities }) => reason === 'conflictingWriter' && activities.includes('allocation'),
          ) === true,
      changes: () => world.writes.map(({ at }) => at),
      want: async () => {
        other.stop();
        await scene.wanting(world, 'late', 1);
      },
    },
    world.clock.monotonic(),
  );
}

describe.each(scenes)('beside another allocator in the mode $mode', (scene) => {
  test('stops within 15 s of its first block, although nobody wants anything any more', async () => {
    const world = await leading(scene);

    expect(await afterOne(world, scene, 'd', 1)).toBeLessThan(longestBothWrite);
    expect(world.bugs).toEqual([]);
  });

  test('stops under a new leader too, as soon as that leads', async () => {
    const world = await leading(scene);
    world.leader?.process.kill();
    world.startReplica();
    await world.until('the next one leads', () => world.leader !== undefined);
    await world.clock.advance(1000);

    expect(await afterOne(world, scene, 'd', 1)).toBeLessThan(longestBothWrite);
  });

  test('goes on while the other one only writes other fields of what has its blocks', async () => {
    const world = await scene.open();
    await standIn(world, scene.mode).see(await scene.wanting(world, 'old', 1), []);
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await scene.wanting(world, 'new', 1);
    await world.clock.advance(10_000);
    const program = scene.mode === 'nodeipam' ? 'kube-controller-manager' : 'cilium-operator-generic';
    const other = new KubernetesClient(world.model.handle, program);
    for (const name of ['old', 'new', 'old', 'new']) {
      const path = `${world.path}/${name}`;
      const node = await world.ask('GET', path);
      const annotations = { at: String(world.clock.monotonic()) };
      const metadata = { ...objectAt(node, 'metadata'), annotations };
      await other.replace(path, { ...node, metadata }, new AbortController().signal);
      await world.clock.advance(1000);
    }

    expect(world.leader?.controller.status().paused).toEqual([]);
    expect(world.bugs).toEqual([]);
  });
});

test('after another allocator that has ended, goes on although its name is on the blocks that it gave', async () => {
  const [scene] = scenes;
  if (scene === undefined) throw new Error('there is no such mode');
  const world = await scene.open();
  const other = standIn(world, scene.mode);
  for (const name of ['a', 'b']) await other.see(await scene.wanting(world, name, 1), []);
  other.stop();
  world.startReplica();
  await world.until('it leads', () => world.leader !== undefined);
  for (const name of ['a', 'b'])
    await world.ask('PATCH', `${world.path}/${name}`, { metadata: { labels: { zone: 'one' } } });
  await world.clock.advance(1000);
  await scene.wanting(world, 'c', 1);
  await world.clock.advance(10_000);

  expect(world.leader?.controller.status().paused).toEqual([]);
  expect(world.leader?.controller.node('c')).toMatchObject({ standing: 'served' });
});

test('beside another allocator of pools, stops although that gives one node all of its blocks', async () => {
  const [, scene] = scenes;
  if (scene === undefined) throw new Error('there is no such mode');
  const world = await leading(scene);

  expect(await afterOne(world, scene, 'a', 2)).toBeLessThan(longestBothWrite);
});

test('beside another allocator that ended before a dry run did, goes on although it sees its last block late', async () => {
  let dryRun = true;
  const world = new BlockWorld({
    seed: 'one',
    command: 'run',
    flags: { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/16', 'dry-run': 'true' },
    readLiveOptions: (): LiveReading => ({ values: { dryRun }, problems: [] }),
  });
  const { controller, log } = world.startReplica();
  const node = await created(world, 'a', {});
  await world.clock.advance(60_000);
  world.model.faults.inject({
    path: /ciliumnodes\?.*watch/,
    times: Infinity,
    effect: { kind: 'delayEvents', ms: 60_000 },
  });
  const other = standIn(world, 'cluster-pool');
  await other.see(node, []);
  dryRun = false;
  await world.until('it is live', () => controller.status().dryRun === undefined);
  await world.clock.advance(10_000);

  expect(log.lines.map(({ message }) => message)).toContain(
    'a node has blocks that Headwater did not give it',
  );
  expect(controller.status().paused).toEqual([]);

  world.model.faults.clear();
  await world.clock.advance(310_000);
  await other.see(await created(world, 'b', {}), []);
  await world.clock.advance(longestBothWrite);
  expect(controller.status().paused).toMatchObject([{ reason: 'conflictingWriter' }]);
});
