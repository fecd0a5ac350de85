import { describe, expect, test } from '@jest/globals';
import { CallError } from '../../../src/providers/gate/cloud-call.ts';
import { attach } from '../../../src/simulator/cloud/attachments.ts';
import { deleteInterface } from '../../../src/simulator/cloud/network-interfaces.ts';
import { ownershipTags } from '../../../src/providers/orphans/ownership-tags.ts';
import { controllerArn } from '../../support/in-process-ec2.ts';
import { belongingTo, found, joinWith, leave } from '../../support/orphaned-interfaces.ts';
import { shippedPolicy, withoutTagConditions } from '../../support/shipped-policy.ts';
import { ids, instance, subnets, testBlock, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import {
  type ControllerSetup,
  startController,
  type WorldController,
} from '../../support/world-controller.ts';

const minute = 60_000;
const blue = belongingTo('blue');
const deleted = 'deleted orphaned interface';

async function worldOf(): Promise<World> {
  const world = new World({
    cloud: testCloud({
      consistency: { visibilityDelayMs: 0, listingLagMs: 0 },
      instances: [instance(), instance({ name: 'member' })],
    }),
  });
  await joinWith(world, world.machine(1), { ...blue, mine: 'yes' });
  return world;
}

function start(world: World, setup: ControllerSetup = {}): WorldController {
  return startController(world, { ...setup, flags: { 'cluster-name': 'blue', ...setup.flags } });
}

function deletions({ calls }: WorldController): unknown[] {
  return calls
    .filter(({ action }) => action === 'DeleteNetworkInterface')
    .map(({ input, result }) => [input['NetworkInterfaceId'], result]);
}

/** Reads of detached interfaces, without those by id. */
function readings({ calls }: WorldController, byId = false): number[] {
  return calls
    .filter(({ action, input }) => action === 'DescribeNetworkInterfaces' && asksForDetached(input))
    .filter(({ input }) => JSON.stringify(input).includes('network-interface-id') === byId)
    .map(({ at }) => at);
}

function asksForDetached(input: object): boolean {
  return JSON.stringify(input).includes('"available"');
}

function collected(controller: WorldController, result: string): Promise<number | undefined> {
  return controller.metric(`headwater_orphan_deletions_total{result="${result}"}`);
}

function linesOf({ logged }: WorldController, message: string): unknown[] {
  return logged.filter((line) => line.message === message).map(({ details }) => details['interface']);
}

describe('an orphaned interface', () => {
  test('is deleted once it was seen as orphaned for the interval, and not before', async () => {
    const world = await worldOf();
    const old = leave(world, { tags: blue });
    const controller = start(world);
    await world.advance(2 * minute);
    const young = leave(world, { tags: blue });

    await world.advance(3 * minute - 5000);
    const before = found(world, old);
    const gauge = await controller.metric('headwater_orphaned_interfaces');
    await world.advance(10_000);
    const then = [found(world, old), found(world, young)];
    await world.advance(5 * minute - 20_000);
    const younger = found(world, young);
    await world.advance(minute);

    expect(before).toBeDefined();
    expect(gauge).toBe(1);
    expect(then).toEqual([undefined, expect.anything()]);
    expect(younger).toBeDefined();
    expect(found(world, young)).toBeUndefined();
    expect(deletions(controller)).toEqual([
      [old, 'OK'],
      [young, 'OK'],
    ]);
    expect(await collected(controller, 'deleted')).toBe(2);
    expect(linesOf(controller, deleted)).toEqual([old, young]);
    expect(controller.warnings()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is never touched when it belongs to another cluster', async () => {
    const world = await worldOf();
    const others = [
      leave(world, { tags: belongingTo('green') }),
      leave(world, { tags: { 'io.cilium/cilium-managed': 'true' } }),
      leave(world, { tags: { ...blue, 'io.cilium/cilium-managed': 'false' } }),
      leave(world, { tags: {} }),
      leave(world, { tags: {}, description: 'Cilium-CNI (i-0123456789abcdef0)' }),
    ];
    const ours = leave(world, { tags: { ...blue, team: 'net' } });
    const controller = start(world);

    await world.advance(30 * minute);

    expect(others.map((id) => found(world, id) !== undefined)).toEqual(others.map(() => true));
    expect(deletions(controller)).toEqual([[ours, 'OK']]);
  });

  test('is not counted as this cluster’s because a CiliumNode without a Node names an instance of its network', async () => {
    const far = { name: 'far', id: 'subnet-0000000000000000d', zone: 'us-east-1a', block: '10.9.0.0/24' };
    const world = new World({
      cloud: testCloud({
        vpcs: [
          { name: 'main', id: ids.vpc, blocks: [testBlock] },
          { name: 'other', blocks: ['10.9.0.0/16'] },
        ],
        subnets: [
          { ...subnets.nodes, vpc: 'main' },
          { ...far, vpc: 'other' },
        ],
        routeTables: [],
        consistency: { visibilityDelayMs: 0, listingLagMs: 0 },
        securityGroups: [
          { name: 'nodes', id: ids.nodeGroup, vpc: 'main' },
          { name: 'far', id: 'sg-00000000000000003', vpc: 'other' },
        ],
        instances: [instance(), instance({ name: 'stranger', subnet: 'far', securityGroups: ['far'] })],
      }),
    });
    await joinWith(world, world.machine(0), { ...blue, mine: 'yes' });
    const [near, others] = [
      leave(world, { tags: blue }),
      leave(world, { tags: blue, subnetId: far.id, groupId: 'sg-00000000000000003' }),
    ];
    await world.announceAlone({ ...world.machine(1), name: 'a-fake' });
    const controller = start(world);

    await world.advance(30 * minute);

    expect(found(world, others)).toBeDefined();
    expect(deletions(controller)).toEqual([[near, 'OK']]);
  });

  test('is ignored in the answer of a server that ignores filters', async () => {
    const world = await worldOf();
    const [own, other] = [leave(world, { tags: blue }), leave(world, { tags: belongingTo('green') })];
    const machine = world.machine();
    const everything = (): readonly object[] =>
      [own, other].map((id) => ({
        NetworkInterfaceId: id,
        VpcId: machine.vpcId,
        SubnetId: 'subnet-1',
        MacAddress: '02:00:00:00:00:09',
        PrivateIpAddress: '10.0.0.9',
        TagSet: Object.entries(found(world, id)?.tags ?? {}).map(([Key, Value]) => ({ Key, Value })),
      }));
    const controller = start(world, {
      tamper: (_, output, input) => (asksForDetached(input) ? { NetworkInterfaces: everything() } : output),
    });

    await world.advance(6 * minute);

    expect(deletions(controller)).toEqual([[own, 'OK']]);
  });

  test.each<[string, Readonly<Record<string, string>>, boolean]>([
    ['by tags given instead of the name', { 'eni-gc-tags': 'mine=yes', 'cluster-name': 'default' }, true],
    ['not by the tags of the name when other tags are given', { 'eni-gc-tags': 'yours=yes' }, false],
  ])('is recognized %s', async (_, flags, taken) => {
    const world = await worldOf();
    const id = leave(world, { tags: { ...blue, mine: 'yes' } });

    start(world, { flags });
    await world.advance(10 * minute);

    expect(found(world, id) === undefined).toBe(taken);
  });

  test('is one of at most 25 that are deleted at a time', async () => {
    const world = await worldOf();
    const ids = Array.from({ length: 30 }, () => leave(world, { tags: blue, addresses: 0 }));
    const controller = start(world);
    const left = (): number => ids.filter((id) => found(world, id) !== undefined).length;

    await world.advance(9 * minute);
    const afterFirst = left();
    await world.advance(5 * minute);

    expect(afterFirst).toBe(5);
    expect(left()).toBe(0);
    expect(readings(controller, true)).toHaveLength(2);
  });

  test('stays when the cluster has no name of its own or when collection is off', async () => {
    for (const flags of [{ 'cluster-name': 'default' }, { 'eni-gc-interval': '0' }]) {
      const world = await worldOf();
      const id = leave(world, { tags: belongingTo(flags['cluster-name'] ?? 'blue') });
      const controller = start(world, { flags });

      await world.advance(60 * minute);

      expect(found(world, id)).toBeDefined();
      expect(deletions(controller)).toEqual([]);
      // Interfaces that an instance of ours may need are still listed.
      expect(readings(controller)).toHaveLength(2);
    }
  });

  test.each(['dry-run', 'eni-gc-dry-run'])('is only logged, once, with --%s', async (option) => {
    const world = await worldOf();
    const id = leave(world, { tags: blue });
    const controller = start(world, { flags: { [option]: 'true' } });

    await world.advance(60 * minute);

    expect(found(world, id)).toBeDefined();
    expect(deletions(controller)).toEqual([]);
    expect(linesOf(controller, 'dry run: would delete orphaned interface')).toEqual([id]);
    expect(await collected(controller, 'would_delete')).toBe(1);
  });
});

describe('an orphaned interface between the listing and the deletion', () => {
  const inNothing = (world: World, id: string): void => deleteInterface(world.cluster.ec2.network, id);
  const inUse = (world: World, interfaceId: string): void => {
    const { instanceId } = world.machine();
    attach(world.cluster.ec2.network, { interfaceId, instanceId, deviceIndex: 1, cardIndex: 0 });
  };

  test.each<[string, (world: World, id: string) => void, boolean, string]>([
    ['attached, before the second read', inUse, true, 'changed'],
    ['attached, after the second read', inUse, false, 'in_use'],
    ['deleted, before the second read', inNothing, true, 'changed'],
    ['deleted, after the second read', inNothing, false, 'not_found'],
  ])('is taken by another client (%s), which is no failure', async (_, act, beforeLook, result) => {
    const world = await worldOf();
    const id = leave(world, { tags: blue });
    let acted = false;
    const controller = start(world, {
      tamper: (action, output, input) => {
        const isSecond = action === 'DescribeNetworkInterfaces' && JSON.stringify(input).includes(id);
        if (!isSecond || acted) return output;
        acted = true;
        act(world, id);
        return beforeLook ? { NetworkInterfaces: [] } : output;
      },
    });

    await world.advance(8 * minute);

    expect(acted).toBe(true);
    expect(await collected(controller, result)).toBe(1);
    expect(deletions(controller)).toHaveLength(beforeLook ? 0 : 1);
    expect(controller.warnings()).toEqual([]);
    expect(world.interfaces(world.machine())).toHaveLength(act === inUse ? 2 : 1);
  });

  test('is not deleted once another client has removed its tags', async () => {
    const world = await worldOf();
    const id = leave(world, { tags: blue });
    const controller = start(world);
    await world.advance(4 * minute);

    const item = found(world, id);
    if (item !== undefined) world.cluster.ec2.network.put('interfaces', { ...item, tags: {} });
    await world.advance(10 * minute);

    expect(found(world, id)).toBeDefined();
    expect(deletions(controller)).toEqual([]);
  });

  test('is not deleted when the leader loses its lease', async () => {
    const world = await worldOf();
    const id = leave(world, { tags: blue });
    const controller = start(world);
    await world.advance(5 * minute - 15_000);

    world.kubernetesFault({ path: /\/leases\//, effect: { kind: 'dropBefore' } });
    await world.advance(minute);

    expect(found(world, id)).toBeDefined();
    expect(deletions(controller)).toEqual([]);
  });
});

describe('a listing of orphaned interfaces', () => {
  test('is reported and tried again when it fails', async () => {
    const world = await worldOf();
    const id = leave(world, { tags: blue });
    let failing = true;
    const controller = start(world, {
      tamper: (_, output, input) => {
        if (!asksForDetached(input) || !failing) return output;
        throw new CallError({ result: 'refused', code: 'InternalError', message: 'odd', status: 500 });
      },
    });

    await world.announce(world.machine(), { spec: { ipam: { 'min-allocate': 15 } } });
    await world.advance(10 * minute);
    const during = { calls: readings(controller).length, held: world.held(world.machine()).length };
    failing = false;
    await world.advance(8 * minute);

    expect(during.calls).toBeGreaterThan(8);
    expect(during.calls).toBeLessThan(30);
    // No node needs one.
    expect(during.held).toBe(15);
    expect(new Set(controller.warnings())).toEqual(new Set(['cannot read orphaned interfaces']));
    expect(found(world, id)).toBeUndefined();
  });

  test('is made by the leader only, and once for the whole fleet', async () => {
    const world = new World({
      cloud: testCloud({
        instances: [{ name: 'w', type: 'm5.large', subnet: 'nodes', securityGroups: ['nodes'], count: 20 }],
      }),
    });
    const controllers = ['a', 'b'].map((identity) => start(world, { identity }));
    await world.announce(world.machine());

    await world.advance(60 * minute);

    const counts = controllers.map((controller) => readings(controller).length).toSorted((a, b) => a - b);
    expect(counts[0]).toBe(0);
    expect(counts[1]).toBeLessThanOrEqual(13);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('delete-on-termination of an interface that was attached', () => {
  test.each<[string, (instanceId: string) => Readonly<Record<string, string>>]>([
    ['by an earlier process', (instanceId) => ({ ...blue, ...ownershipTags(instanceId, 'earlier') })],
    ['by cilium-operator', () => blue],
    ['by cilium-operator without tags', () => ({})],
  ])('is set on an interface created %s', async (_, tagsOf) => {
    const world = await worldOf();
    const { policies } = world.cluster.ec2.gateway;
    if (Object.keys(tagsOf('')).length === 0)
      policies.set(controllerArn, withoutTagConditions(shippedPolicy));
    const { instanceId } = world.machine();
    const description = `Cilium-CNI (${instanceId})`;
    const interfaceId = leave(world, { tags: tagsOf(instanceId), description });
    attach(world.cluster.ec2.network, { interfaceId, instanceId, deviceIndex: 1, cardIndex: 0 });
    const before = found(world, interfaceId)?.attachment?.deleteOnTermination;

    start(world);
    await world.announce(world.machine());
    // An interface that is shown as attaching is read again a while later.
    await world.advance(minute);

    expect(before).toBe(false);
    expect(found(world, interfaceId)?.attachment?.deleteOnTermination).toBe(true);
    expect(world.broken()).toEqual([]);
  });

  test('is set by the next process when the previous one died between the two calls', async () => {
    const world = await worldOf();
    const machine = world.machine();
    const first = start(world, {
      onCall: (action, _, result) => {
        if (action === 'AttachNetworkInterface' && result === 'OK') first.kill();
      },
    });
    await world.announce(machine, { spec: { ipam: { 'min-allocate': 15 } } });
    await world.advance(30_000);
    const before = world.interfaces(machine)[1]?.attachment?.deleteOnTermination;

    const second = start(world, { identity: 'headwater-1' });
    await world.advance(minute);

    expect(before).toBe(false);
    expect(world.interfaces(machine).map(({ attachment: at }) => at?.deleteOnTermination)).toEqual([
      true,
      true,
    ]);
    expect(second.changes.map(({ action }) => action)).toContain('ModifyNetworkInterfaceAttribute');
    expect(world.broken()).toEqual([]);
  });
});
