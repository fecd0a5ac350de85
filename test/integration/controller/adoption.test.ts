import { describe, expect, test } from '@jest/globals';
import { CallError } from '../../../src/providers/gate/cloud-call.ts';
import { ownershipTags } from '../../../src/providers/orphans/ownership-tags.ts';
import { attach } from '../../../src/simulator/cloud/attachments.ts';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { belongingTo, found, leave } from '../../support/orphaned-interfaces.ts';
import { ids, instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import {
  type ControllerSetup,
  startController,
  type WorldController,
} from '../../support/world-controller.ts';

const minute = 60_000;
const blue = belongingTo('blue');
/** More than the nine addresses of the first interface. */
const needy = { spec: { ipam: { 'min-allocate': 15 } } };

function worldOf(fields: Readonly<Record<string, unknown>> = {}): World {
  return new World({ cloud: testCloud(fields) });
}

function start(world: World, setup: ControllerSetup = {}): WorldController {
  return startController(world, { ...setup, flags: { 'cluster-name': 'blue', ...setup.flags } });
}

function calls(controller: WorldController, action: string): unknown[] {
  return controller.calls
    .filter((call) => call.action === action)
    .map(({ input, result }) => [input['NetworkInterfaceId'], result]);
}

/** An interface that an earlier process created for the machine. */
function leaveFor(
  world: World,
  { instanceId }: NodeFacts,
  change: Partial<Parameters<typeof leave>[1]> = {},
): string {
  const tags = { ...blue, ...ownershipTags(instanceId, 'of-before') };
  return leave(world, { tags, description: `Cilium-CNI (${instanceId})`, ...change });
}

function lost(effect: 'before' | 'after' | 'late', connection: 'drop' | 'hang', delayMs = 0): Fault {
  return { kind: 'lost', effect, connection, delayMs };
}

const odd: Fault = { kind: 'error', code: 'Odd', status: 400, message: 'odd' };

describe('a controller that is killed for good', () => {
  /** The event that ends it. */
  const ends: readonly (readonly [string, string, Fault | undefined, number])[] = [
    [
      'after the interface was created, before the answer',
      'CreateNetworkInterface',
      lost('before', 'hang'),
      1500,
    ],
    [
      'before the interface is created, which happens 5 s later',
      'CreateNetworkInterface',
      lost('late', 'hang', 5000),
      1500,
    ],
    ['after the answer, before the interface is attached', 'CreateNetworkInterface', undefined, 0],
    [
      'after the interface is attached, before the answer',
      'AttachNetworkInterface',
      lost('before', 'hang'),
      4000,
    ],
    ['before the interface is attached', 'AttachNetworkInterface', lost('after', 'hang'), 4000],
    ['after the interface was attached', 'AttachNetworkInterface', undefined, 0],
  ];

  test.each(ends.flatMap((end) => ['blue', 'default'].map((name) => [...end, name] as const)))(
    '%s (%s) leaks no interface, whatever the name of the cluster (case %#)',
    async (_, action, fault, after, clusterName) => {
      const world = worldOf();
      const machine = world.machine();
      const flags = { 'cluster-name': clusterName };
      const first = start(world, {
        flags,
        onCall: (called, __, result) => {
          if (fault === undefined && called === action && result === 'OK') first.kill();
        },
      });
      await world.advance(5000);
      if (fault !== undefined) world.fault(action, fault);
      await world.announce(machine, needy);
      await world.until(
        'it makes an interface',
        () =>
          first.calls.some((call) => call.action === action) ||
          (fault !== undefined && world.clock.monotonic() > 9000),
      );
      await world.advance(after);
      first.kill();
      world.cluster.ec2.gateway.faults.clear();

      const second = start(world, { identity: 'headwater-1', flags });
      await world.advance(2 * minute);

      expect(world.orphaned()).toEqual([]);
      expect(world.interfaces(machine)).toHaveLength(2);
      expect(world.pool(machine).size).toBe(15);
      expect(calls(second, 'CreateNetworkInterface')).toEqual([]);
      expect(world.interfaces(machine)[1]?.attachment?.deleteOnTermination).toBe(true);
      expect(second.warnings()).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );
});

describe('an orphaned interface that was made for an instance', () => {
  test('is attached instead of a new one, filled and published', async () => {
    const world = worldOf();
    const machine = world.machine();
    const id = leaveFor(world, machine, { addresses: 2 });
    await world.advance(minute);
    const controller = start(world);

    await world.announce(machine, needy);
    await world.advance(2 * minute);

    expect(world.interfaces(machine).map((item) => item.id)[1]).toBe(id);
    expect(world.pool(machine).size).toBe(15);
    expect([...world.pool(machine).values()].filter((each) => each === id)).toHaveLength(6);
    expect(calls(controller, 'CreateNetworkInterface')).toEqual([]);
    expect(await controller.metric('headwater_orphan_adoptions_total{result="attached"}')).toBe(1);
    expect(controller.logged.map(({ message }) => message)).toContain('attached orphaned interface');
    expect(await controller.metric('headwater_orphaned_interfaces')).toBe(0);
    expect(world.broken()).toEqual([]);
  });

  test('delays its own node by one consistency window at most, and no other node', async () => {
    const world = worldOf({ instances: [instance({ count: 2 })] });
    const [machine, other] = [world.machine(0), world.machine(1)];
    leaveFor(world, machine);
    await world.advance(minute);
    const controller = start(world);
    const leads = (): boolean => controller.controller.state === 'leading';
    for (const each of [machine, other]) await world.announce(each, needy);
    await world.until('it leads', leads);
    const led = world.clock.monotonic();

    await world.until('the other is served', () => world.pool(other).size === 15);
    const first = world.clock.monotonic() - led;
    await world.until('it is served', () => world.pool(machine).size >= 13);
    const second = world.clock.monotonic() - led;

    expect(first).toBeLessThan(8000);
    expect(second).toBeGreaterThan(30_000);
    expect(second).toBeLessThan(38_000);
    expect(world.broken()).toEqual([]);
  });

  test('is left alone while its instance needs none, attached when the instance does, and deleted otherwise', async () => {
    const world = worldOf({ instances: [instance({ count: 2 })] });
    const [machine, other] = [world.machine(0), world.machine(1)];
    const [wanted, unwanted] = [leaveFor(world, machine), leaveFor(world, other)];
    await world.advance(minute);
    const controller = start(world);
    for (const each of [machine, other]) await world.announce(each);
    await world.advance(3 * minute);
    const before = [found(world, wanted)?.status, found(world, unwanted)?.status];

    await world.request(machine, 13);
    await world.advance(10 * minute);

    expect(before).toEqual(['available', 'available']);
    expect(found(world, wanted)?.instanceId).toBe(machine.instanceId);
    expect(found(world, unwanted)).toBeUndefined();
    expect(calls(controller, 'CreateNetworkInterface')).toEqual([]);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test.each<
    [
      string,
      Readonly<Record<string, unknown>>,
      Parameters<typeof leave>[1] | undefined,
      Readonly<Record<string, string>>,
    ]
  >([
    ['in a subnet that is no longer for pods', {}, undefined, { 'subnet-ids-filter': ids.pods }],
    [
      'in another zone',
      {
        subnets: [
          ...Object.values(subnets),
          { name: 'far', id: 'subnet-0000000000000000f', zone: 'us-east-1b', block: '10.0.48.0/24' },
        ],
      },
      { tags: {}, subnetId: 'subnet-0000000000000000f' },
      {},
    ],
    ['of another cluster', {}, { tags: belongingTo('green') }, {}],
    ['of cilium-operator, whose tags name no instance', {}, { tags: blue }, {}],
  ])('is not attached when it is %s', async (_, fields, orphan, flags) => {
    const world = worldOf(fields);
    const machine = world.machine();
    const marks = ownershipTags(machine.instanceId, 'of-before');
    const tags =
      orphan?.tags['io.cilium/cluster-name'] === 'blue'
        ? orphan.tags
        : { ...blue, ...marks, ...orphan?.tags };
    const id = leave(world, { ...orphan, tags });
    await world.advance(minute);
    const controller = start(world, { flags });

    await world.announce(machine, needy);
    await world.advance(2 * minute);

    expect(found(world, id)?.status).toBe('available');
    expect(world.pool(machine).size).toBe(15);
    expect(JSON.stringify(calls(controller, 'AttachNetworkInterface'))).not.toContain(id);
    expect(world.broken()).toEqual([]);
  });

  test('is left to another process that attaches it', async () => {
    const world = worldOf();
    const machine = world.machine();
    const id = leaveFor(world, machine, { addresses: 9 });
    await world.advance(minute);
    const controller = start(world);
    await world.announce(machine, needy);

    await world.advance(15_000);
    attach(world.cluster.ec2.network, {
      interfaceId: id,
      instanceId: machine.instanceId,
      deviceIndex: 1,
      cardIndex: 0,
    });
    await world.advance(15 * minute);

    expect(
      calls(controller, 'AttachNetworkInterface').filter((call) => JSON.stringify(call).includes(id)),
    ).toEqual([]);
    expect(found(world, id)?.instanceId).toBe(machine.instanceId);
    expect(world.pool(machine).size).toBeGreaterThanOrEqual(15);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is replaced by a new one when another client attaches it at the last moment', async () => {
    const world = worldOf({ instances: [instance({ count: 2 })] });
    const [machine, other] = [world.machine(0), world.machine(1)];
    const id = leaveFor(world, machine);
    world.fault(
      'AttachNetworkInterface',
      { kind: 'error', code: 'InvalidNetworkInterface.InUse', status: 400, message: 'in use' },
      20,
    );
    await world.advance(minute);
    const controller = start(world);
    await world.announce(machine, needy);
    await world.until('it tries', () =>
      controller.calls.some(({ action }) => action === 'AttachNetworkInterface'),
    );
    attach(world.cluster.ec2.network, {
      interfaceId: id,
      instanceId: other.instanceId,
      deviceIndex: 1,
      cardIndex: 0,
    });
    world.cluster.ec2.gateway.faults.clear();

    await world.advance(3 * minute);

    expect(found(world, id)?.instanceId).toBe(other.instanceId);
    expect(await controller.metric('headwater_orphan_adoptions_total{result="failed"}')).toBe(1);
    expect(world.pool(machine).size).toBe(15);
    expect(calls(controller, 'CreateNetworkInterface')).toHaveLength(1);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('goes to the next device index when another client takes the first one', async () => {
    const world = worldOf({ instances: [instance({ type: 'm5.xlarge' })] });
    const machine = world.machine();
    const id = leaveFor(world, machine, { addresses: 10 });
    await world.advance(minute);
    const controller = start(world);
    await world.announce(machine);
    await world.advance(35_000);
    const unmarked = leave(world, { tags: {}, addresses: 0 });
    await world.advance(5000);
    attach(world.cluster.ec2.network, {
      interfaceId: unmarked,
      instanceId: machine.instanceId,
      deviceIndex: 1,
      cardIndex: 0,
    });

    await world.request(machine, 24);
    await world.advance(minute);

    expect(found(world, id)?.attachment?.deviceIndex).toBe(2);
    expect(calls(controller, 'AttachNetworkInterface').length).toBeGreaterThan(1);
    expect(world.pool(machine).size).toBe(24);
    expect(world.broken()).toEqual([]);
  });

  test('delays no node when it cannot be searched for', async () => {
    const world = worldOf();
    const machine = world.machine();
    leaveFor(world, machine);
    await world.advance(minute);
    const controller = start(world, {
      tamper: (_, output, input) => {
        if (!JSON.stringify(input).includes('"available"')) return output;
        throw new CallError({
          result: 'refused',
          code: 'UnauthorizedOperation',
          message: 'no',
          status: 403,
        });
      },
    });
    await world.announce(machine, needy);

    await world.until('it is served', () => world.pool(machine).size === 15, 15_000);

    expect(controller.warnings()).toContain('cannot read orphaned interfaces');
    expect(world.broken()).toEqual([]);
  });
});

describe('a creation whose outcome is unknown', () => {
  test.each([
    ['whose answers all got lost', 'CreateNetworkInterface', lost('before', 'drop'), 5],
    [
      'whose answers all got lost after one request took effect',
      'CreateNetworkInterface',
      lost('before', 'hang'),
      5,
    ],
    [
      'whose request takes effect after its time-out',
      'CreateNetworkInterface',
      lost('late', 'hang', 30_000),
      5,
    ],
  ] as const)('%s is found, and its interface is attached or deleted', async (_, action, fault, times) => {
    const world = worldOf();
    const machine = world.machine();
    const controller = start(world);
    await world.advance(25_000);

    world.fault(action, fault, times);
    await world.announce(machine, needy);
    await world.advance(15 * minute);

    expect(world.orphaned()).toEqual([]);
    expect(world.interfaces(machine)).toHaveLength(2);
    expect(world.pool(machine).size).toBe(15);
    expect(controller.logged.filter(({ level }) => level === 'error')).toEqual([]);
    expect(controller.logged.map(({ message }) => message)).toContain(
      'an interface may have been created, but the answer was lost: it is attached or deleted once it is found',
    );
    expect(world.broken()).toEqual([]);
  });

  test.each(['blue', 'default'])(
    'leads to an attachment later when the interface could be neither attached nor deleted (%s)',
    async (clusterName) => {
      const world = worldOf();
      const machine = world.machine();
      const controller = start(world, { flags: { 'cluster-name': clusterName } });
      await world.advance(25_000);

      world.fault('AttachNetworkInterface', odd, 1);
      world.fault('DeleteNetworkInterface', odd, 5);
      await world.announce(machine, needy);
      await world.advance(2 * minute);

      expect(world.orphaned()).toEqual([]);
      expect(world.pool(machine).size).toBe(15);
      expect(calls(controller, 'CreateNetworkInterface')).toHaveLength(1);
      const undone = controller.calls.findLast(({ action }) => action === 'DeleteNetworkInterface');
      const attached = controller.calls.findLast(({ action }) => action === 'AttachNetworkInterface');
      expect(attached?.result).toBe('OK');
      expect((attached?.at ?? Infinity) - (undone?.at ?? 0)).toBeLessThan(10_000);
      // A person must act only if orphans are never deleted.
      expect(controller.logged.some(({ level }) => level === 'error')).toBe(clusterName === 'default');
      expect(world.broken()).toEqual([]);
    },
  );

  test('sets the tags by which its interface is found', async () => {
    const world = worldOf();
    const machine = world.machine();
    const controller = start(world);

    await world.announce(machine, needy);
    await world.advance(20_000);

    const token = controller.calls.find(({ action }) => action === 'CreateNetworkInterface')?.input[
      'ClientToken'
    ];
    expect(world.interfaces(machine)[1]?.tags).toEqual({
      ...blue,
      'headwater/instance-id': machine.instanceId,
      'headwater/operation-id': token,
    });
  });
});
