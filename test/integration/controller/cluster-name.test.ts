// The name of the cluster, read from a tag of instances before a process stands for election.
import { describe, expect, test } from '@jest/globals';
import type { Tags } from '../../../src/simulator/cloud/records.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { belongingTo, found, joinWith, leave } from '../../support/orphaned-interfaces.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import {
  type ControllerSetup,
  startController,
  type WorldController,
} from '../../support/world-controller.ts';

const minute = 60_000;
const key = 'aws:eks:cluster-name';
const named = 'the cluster has the name that its instances carry';
const unnamed = 'the name of the cluster is not known yet: trying again';

/** A cloud of two machines with this name. The second one is no node. */
function worldOf(name = 'blue'): World {
  const tags = { [key]: name };
  return new World({
    cloud: testCloud({
      consistency: { visibilityDelayMs: 0, listingLagMs: 0 },
      instances: [instance({ tags }), instance({ name: 'spare', tags })],
    }),
  });
}

/** A cluster of that name whose leader is killed, and the process that stands by. */
async function standbyOf(
  name: string,
): Promise<{ readonly world: World; readonly standby: WorldController }> {
  const world = worldOf(name);
  await joinWith(world, world.machine(0), belongingTo(name));
  const first = start(world);
  await world.advance(minute);
  const standby = start(world, { identity: 'headwater-1', audited: true });
  await world.advance(minute);
  first.kill();
  return { world, standby };
}

/** EC2 changes the tags of the instance by itself. */
function retag(world: World, { instanceId }: NodeFacts, tags: Tags): void {
  const { network } = world.cluster.ec2;
  network.put('instances', { ...network.find('instances', instanceId), tags });
}

function start(world: World, { flags, ...setup }: ControllerSetup = {}): WorldController {
  return startController(world, { ...setup, flags: { 'cluster-name': `tag=${key}`, ...flags } });
}

function linesOf({ logged }: WorldController, message: string): readonly Readonly<Record<string, unknown>>[] {
  return logged.filter((line) => line.message === message).map(({ details }) => details);
}

describe('the name of the cluster in the tag of its instances', () => {
  test('decides which orphaned interfaces are collected', async () => {
    const world = worldOf();
    await joinWith(world, world.machine(0), belongingTo('blue'));
    const own = leave(world, { tags: belongingTo('blue') });
    const others = ['default', `tag=${key}`, 'green'].map((name) =>
      leave(world, { tags: belongingTo(name) }),
    );
    const controller = start(world);

    await world.advance(11 * minute);

    expect(found(world, own)).toBeUndefined();
    expect(others.map((id) => found(world, id)?.id)).toEqual(others);
    expect(linesOf(controller, named)).toEqual([{ name: 'blue', tag: key, instances: 1 }]);
    expect(controller.controller.status()).toMatchObject({
      cluster: { name: 'blue', tag: key, instances: 1 },
    });
    expect(controller.warnings()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is written to the tags of new interfaces, and to the audit', async () => {
    const world = worldOf();
    await world.announce(world.machine(0), { spec: { eni: { 'first-interface-index': 1 } } });
    const controller = start(world, { audited: true });

    await world.advance(minute);

    const [, made] = world.interfaces(world.machine(0));
    expect(made?.tags).toMatchObject(belongingTo('blue'));
    expect([...new Set(controller.audited.map(({ cluster }) => cluster))]).toEqual(['blue']);
  });

  test('is read by a process that stands by, too, and again by the next one', async () => {
    const world = worldOf();
    await world.announce(world.machine(0));
    const first = start(world);
    await world.advance(minute);
    const standby = start(world, { identity: 'headwater-1' });
    await world.advance(minute);
    retag(world, world.machine(0), { [key]: 'renamed' });
    await world.advance(minute);
    const third = start(world, { identity: 'headwater-2' });

    await world.advance(minute);

    const names = [first, standby, third].map((each) => linesOf(each, named).map(({ name }) => name));
    expect(names).toEqual([['blue'], ['blue'], ['renamed']]);
  });

  test('is read again by a process that begins to lead, however long it stood by', async () => {
    const { world, standby } = await standbyOf('blue');
    retag(world, world.machine(0), { [key]: 'renamed' });
    retag(world, world.machine(1), { [key]: 'renamed' });

    await world.advance(minute);
    await world.announce(world.machine(1), { spec: { eni: { 'first-interface-index': 1 } } });
    await world.advance(minute);

    const [, made] = world.interfaces(world.machine(1));
    expect(made?.tags).toMatchObject(belongingTo('renamed'));
    expect([...new Set(standby.audited.map(({ cluster }) => cluster))]).toEqual(['renamed']);
    expect(standby.controller.status().cluster).toEqual({ name: 'renamed', tag: key, instances: 1 });
    expect(standby.logged).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: 'the cluster has another name than before: its instances carry it',
        details: expect.objectContaining({ name: 'renamed', before: 'blue' }),
      }),
    );
  });

  test.each<[string, RegExp, (world: World) => () => unknown]>([
    [
      'EC2 does not answer',
      /^it is being read again from the tag/,
      (world) =>
        world.fault('DescribeInstances', { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 }),
    ],
    [
      'EC2 denies the read',
      /cannot be read: allow ec2:DescribeInstances to Headwater's role/,
      (world) =>
        world.fault('DescribeInstances', {
          kind: 'error',
          code: 'UnauthorizedOperation',
          status: 403,
          message: 'no',
        }),
    ],
    [
      'a Node names an instance of another cluster',
      /carry 2 names in the tag/,
      (world) => {
        retag(world, world.machine(1), { [key]: 'green' });
        void world.register(world.machine(1));
        return () => world.call('DELETE', `/api/v1/nodes/${world.machine(1).name}`);
      },
    ],
  ])('stays the former one while %s to a new leader, which deletes nothing by it', async (_, why, begin) => {
    const { world, standby } = await standbyOf('blue');
    const orphan = leave(world, { tags: belongingTo('blue') });
    const end = begin(world);
    await world.until('it leads', () => standby.controller.state === 'leading');
    const { cluster } = standby.controller.status();

    await world.advance(30 * minute);
    const kept = found(world, orphan);
    await end();
    await world.advance(30 * minute);

    expect(cluster).toMatchObject({ name: 'blue', doubt: expect.stringMatching(why) });
    expect(standby.controller.unreadiness()).toBeUndefined();
    expect(kept).toBeDefined();
    expect(found(world, orphan)).toBeUndefined();
    expect(standby.controller.status().cluster).toEqual({ name: 'blue', tag: key, instances: 1 });
    expect(standby.removals.map(({ action }) => action)).toEqual(['DeleteNetworkInterface']);
  });

  test.each<[string, (world: World) => unknown, RegExp]>([
    [
      'a Node that joins later contradicts the first one',
      (world) => {
        retag(world, world.machine(1), { [key]: 'green' });
        return world.register(world.machine(1));
      },
      /carry 2 names in the tag/,
    ],
    [
      'all of them carry another one',
      (world) => retag(world, world.machine(0), { [key]: 'green' }),
      /now carry "green" in the tag .*: restart Headwater/,
    ],
  ])('deletes nothing any longer once %s, and the leader says so', async (_, change, why) => {
    const world = worldOf();
    await joinWith(world, world.machine(0), belongingTo('blue'));
    const controller = start(world);
    await world.advance(minute);
    await change(world);
    await world.advance(61 * minute);
    const orphan = leave(world, { tags: belongingTo('blue') });

    await world.advance(30 * minute);

    expect(controller.controller.status().cluster).toMatchObject({
      name: 'blue',
      doubt: expect.stringMatching(why),
    });
    expect(found(world, orphan)).toBeDefined();
    expect(controller.warnings()).toEqual([
      'the name of the cluster is in doubt: no orphaned interface is deleted meanwhile',
    ]);
    expect([controller.controller.unreadiness(), controller.controller.state]).toEqual([
      undefined,
      'leading',
    ]);
  });

  test('is awaited where EKS has not set it yet', async () => {
    const world = worldOf();
    const machine = world.machine(0);
    retag(world, machine, {});
    await world.announce(machine);
    const controller = start(world);
    await world.advance(5 * minute);
    const before = [controller.controller.unreadiness(), controller.controller.state, controller.changes];

    retag(world, machine, { [key]: 'blue' });
    await world.advance(minute);

    expect(before).toEqual([
      expect.stringContaining('none of the instances that Nodes name carries'),
      'starting',
      [],
    ]);
    expect(controller.warnings()).toEqual([unnamed]);
    expect([controller.controller.unreadiness(), controller.controller.state]).toEqual([
      undefined,
      'leading',
    ]);
  });

  test('is not taken from instances that no Node names: they may be those of another cluster', async () => {
    const world = worldOf();
    await world.announceAlone(world.machine(0));
    const controller = start(world);

    await world.advance(5 * minute);

    expect(controller.controller.unreadiness()).toContain('no Node names an instance by its provider ID');
    expect(controller.calls.filter(({ action }) => action === 'DescribeInstances')).toEqual([]);
    expect(controller.controller.state).toBe('starting');
  });

  test.each<[string, (world: World) => unknown, RegExp]>([
    [
      'EC2 denies the read',
      ({ cluster }) => void (cluster.ec2.gateway.allowedActions = new Set(['DescribeVpcs'])),
      /cannot be read: allow ec2:DescribeInstances to Headwater's role: /,
    ],
    [
      'the API server denies the read of Nodes',
      (world) => world.refuse(403, 'GET', /^\/api\/v1\/nodes/),
      /: Nodes cannot be read: .*: allow Headwater to list and watch nodes$/,
    ],
    [
      'EC2 fails',
      (world) =>
        world.fault('DescribeInstances', {
          kind: 'error',
          code: 'InternalError',
          status: 500,
          message: 'no',
        }),
      /cannot be read: .*InternalError/,
    ],
  ])('is nothing else while %s', async (_, prepare, why) => {
    const world = worldOf();
    await world.announce(world.machine(0));
    prepare(world);
    const controller = start(world);

    await world.advance(5 * minute);

    expect(controller.controller.unreadiness()).toMatch(why);
    expect([controller.controller.state, controller.changes]).toEqual(['starting', []]);
    expect(await controller.metric('headwater_leader')).toBe(0);
  });

  test('is said to be read while EC2 does not answer', async () => {
    const world = worldOf();
    await world.announce(world.machine(0));
    world.fault('DescribeInstances', { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 });
    const controller = start(world);

    await world.advance(10_000);

    expect(controller.controller.unreadiness()).toBe(
      `it reads the cluster: the name of the cluster is being read from the tag ${key}`,
    );
  });

  test('may not be one that exclude-interface-tags leaves to other controllers', async () => {
    const world = worldOf();
    await world.announce(world.machine(0));
    const controller = start(world, { flags: { 'exclude-interface-tags': 'io.cilium/cluster-name=blue' } });

    await world.advance(minute);

    expect(controller.controller.unreadiness()).toMatch(
      /"io.cilium\/cluster-name=blue", which exclude-interface-tags has: set/,
    );
    expect(controller.controller.state).toBe('starting');
  });

  test('collects nothing if it is default, the name of any cluster without one', async () => {
    const world = worldOf('default');
    await joinWith(world, world.machine(0), belongingTo('default'));
    const orphan = leave(world, { tags: belongingTo('default') });
    const controller = start(world);

    await world.advance(11 * minute);

    expect(found(world, orphan)).toBeDefined();
    expect(controller.warnings()).toEqual(['orphaned interfaces are not deleted']);
  });

  test('is compared with that of every Node, however many there are', async () => {
    const count = 450;
    const world = new World({
      cloud: testCloud({
        subnets: [{ name: 'nodes', zone: 'us-east-1a', block: '10.0.0.0/20' }],
        routeTables: [],
        instances: [
          instance({ count, tags: { [key]: 'blue' } }),
          instance({ name: 'last', tags: { [key]: 'green' } }),
        ],
      }),
    });
    for (const machine of world.machines) await world.register(machine);
    const controller = start(world);

    await world.advance(minute);

    expect(controller.controller.unreadiness()).toMatch(
      /carry 2 names in the tag .*: "blue" on i-.*, i-.*, i-.* and 447 more, "green" on i-/,
    );
  });
});
