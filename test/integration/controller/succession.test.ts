import { describe, expect, test } from '@jest/globals';
import { terminate } from '../../../src/simulator/cloud/instances.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

function worldOf(count: number): World {
  return new World({
    cloud: testCloud({ instances: [instance({ count })] }),
    configure: () => ({ ipam: { preAllocate: 12 } }),
  });
}

/** Addresses that the object offers, in order. */
function offered(world: World, machine: { readonly name: string }): readonly string[] {
  return [...world.pool(machine).keys()].toSorted();
}

describe('a CiliumNode that is deleted and created again', () => {
  test.each(['CreateNetworkInterface', 'AttachNetworkInterface', 'AssignPrivateIpAddresses'])(
    'is offered, once, the result of a call that was in flight: %s',
    async (action) => {
      const world = worldOf(1);
      const machine = world.machine();
      const controller = startController(world);
      const restore = world.fault(action, { kind: 'slow', ms: 4000 });
      const { counters } = world.cluster.ec2.gateway;
      const started = (): boolean => counters.get(action).calls > 0;
      await world.announce(machine);
      await world.until('the call is under way', started);
      await world.delete(machine);
      await world.announce(machine);
      restore();
      await world.advance(120_000);

      expect(world.pool(machine).size).toBe(12);
      expect(offered(world, machine)).toEqual(world.held(machine).toSorted());
      expect(controller.changes.map((call) => call.action).toSorted()).toEqual([
        'AssignPrivateIpAddresses',
        'AttachNetworkInterface',
        'CreateNetworkInterface',
        'ModifyNetworkInterfaceAttribute',
      ]);
      expect(world.orphaned()).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );

  test('is not supplied twice when listings lag', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const { network } = world.cluster.ec2;
    const controller = startController(world);
    await world.announce(machine);
    await world.until('it is supplied', () => world.pool(machine).size === 12);
    Object.assign(network, {
      consistency: { ...network.consistency, listingLagMs: { min: 20_000, max: 20_000 } },
    });

    await world.delete(machine);
    await world.advance(1000);
    await world.announce(machine);
    await world.advance(180_000);

    expect(world.held(machine)).toHaveLength(12);
    expect(controller.changes).toHaveLength(4);
    expect(world.broken()).toEqual([]);
  });
});

test('a node that comes back and lacks an interface again gets a new one, not its former one', async () => {
  const world = worldOf(1);
  const machine = world.machine();
  const controller = startController(world);
  await world.announce(machine);
  await world.advance(60_000);

  await world.delete(machine);
  await world.advance(600_000);
  await world.announce(machine);
  await world.request(machine, 25);
  await world.advance(120_000);

  const tokens = controller.changes
    .filter(({ action }) => action === 'CreateNetworkInterface')
    .map(({ input }) => input['ClientToken']);
  expect(world.pool(machine).size).toBe(25);
  expect(tokens).toHaveLength(2);
  expect(new Set(tokens).size).toBe(2);
  expect(world.orphaned()).toEqual([]);
  expect(world.broken()).toEqual([]);
});

test('a CiliumNode that the API server no longer finds causes no error', async () => {
  const world = worldOf(2);
  const machine = world.machine();
  const controller = startController(world);
  world.refuse(404, 'PATCH', new RegExp(`/ciliumnodes/${machine.name}`));

  for (const each of world.machines) await world.announce(each);
  await world.advance(120_000);

  expect(controller.publications.filter(({ path }) => path.includes(machine.name)).length).toBeGreaterThan(0);
  expect(controller.warnings()).toEqual([]);
  expect(world.pool(world.machine(1)).size).toBe(12);
  expect(world.broken()).toEqual([]);
});

describe('a node name that goes to another instance', () => {
  test('has its CiliumNode emptied at once, even if the cloud does not answer', async () => {
    const world = worldOf(2);
    const [machine, other] = [world.machine(0), world.machine(1)];
    startController(world);
    await world.announce(machine);
    await world.advance(60_000);
    const restore = world.fault('DescribeNetworkInterfaces', {
      kind: 'error',
      code: 'InternalError',
      status: 500,
      message: 'away',
    });

    await world.register({ ...machine, instanceId: other.instanceId });
    await world.patch(machine, { spec: { 'instance-id': other.instanceId } });
    await world.advance(60_000);
    const meanwhile = { pool: world.pool(machine).size, enis: Object.keys(world.enis(machine)) };
    restore();
    await world.advance(120_000);

    expect(meanwhile).toEqual({ pool: 0, enis: [] });
    expect(offered(world, machine)).toEqual(world.held(other).toSorted());
    expect(world.broken()).toEqual([]);
  });

  test('is soon offered nothing of the former instance when no controller ran meanwhile', async () => {
    const world = worldOf(2);
    const [machine, other] = [world.machine(0), world.machine(1)];
    const first = startController(world);
    await world.announce(machine);
    await world.advance(60_000);
    const before = offered(world, machine);
    first.kill();
    await world.register({ ...machine, instanceId: other.instanceId });
    await world.patch(machine, { spec: { 'instance-id': other.instanceId } });
    await world.advance(20_000);

    const second = startController(world, { identity: 'headwater-1' });
    const isFree = (): boolean => offered(world, machine).every((address) => !before.includes(address));
    await world.until('the new controller leads', () => second.calls.length > 0);
    await world.until('the name is free of the former one', isFree, 20_000);
    await world.advance(60_000);

    expect(offered(world, machine)).toEqual(world.held(other).toSorted());
    expect(Object.keys(world.enis(machine)).toSorted()).toEqual(
      world
        .interfaces(other)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(world.broken()).toEqual([]);
  });

  test('takes no address of either instance when both have pods and the CiliumNode is new', async () => {
    const world = worldOf(2);
    const [machine, other] = [world.machine(0), world.machine(1)];
    const successor = { ...other, name: machine.name };
    startController(world);
    await world.announce(machine);
    await world.advance(60_000);
    await world.use(machine, 10);
    await world.advance(30_000);
    const ofFormer = world.held(machine);

    await world.delete(machine);
    await world.announce(successor);
    await world.until('it is supplied', () => world.pool(successor).size === 12);
    await world.use(successor, 12);
    await world.advance(60_000);
    terminate(world.cluster.ec2.network, [machine.instanceId]);
    await world.advance(120_000);

    expect(ofFormer.length).toBeGreaterThanOrEqual(22);
    expect(offered(world, successor)).toEqual(world.held(other).toSorted());
    expect(offered(world, successor).filter((address) => ofFormer.includes(address))).toEqual([]);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});
