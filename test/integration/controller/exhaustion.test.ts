import { describe, expect, test } from '@jest/globals';
import { ids, instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { type CloudCall, startController } from '../../support/world-controller.ts';

const podSubnets = { eni: { subnetTags: { purpose: 'pods' } } };

/** Nodes whose first interface carries no pods, so that every address comes from the subnets for pods. */
function worldOf(count: number): World {
  return new World({
    cloud: testCloud({ instances: [instance({ count })] }),
    configure: () => ({ eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } }),
  });
}

/** The call is repeated while EC2 does not know yet what it has just created. */
function isSettled({ result }: CloudCall): boolean {
  return result !== 'InvalidNetworkInterfaceID.NotFound';
}

describe('a subnet that runs out', () => {
  test.each([
    { what: 'before the call', known: true },
    { what: 'between the count and the call', known: false },
  ])('$what is skipped for the next best one at once', async ({ known }) => {
    const world = worldOf(1);
    const machine = world.machine();
    if (known) world.occupy(ids.pods);
    await world.advance(5000);
    const controller = startController(world);
    // Another node causes a count of the subnets.
    await world.announce({ ...machine, name: 'other', instanceId: 'i-00000000000000000' });
    await world.advance(10_000);
    if (!known) world.occupy(ids.pods);
    const began = world.clock.monotonic();

    await world.announce(machine);
    await world.until('8 addresses are offered', () => world.pool(machine).size === 8);

    const attached = controller.changes.find(({ action }) => action === 'AttachNetworkInterface');
    expect((attached?.at ?? Infinity) - began).toBeLessThan(5000);
    expect(world.interfaces(machine)[1]?.subnetId).toBe(ids.morePods);
    const changes = controller.changes.filter(isSettled);
    expect(changes.map(({ action, result }) => `${action} ${result}`)).toEqual([
      ...(known ? [] : ['CreateNetworkInterface InsufficientFreeAddressesInSubnet']),
      'CreateNetworkInterface OK',
      'AttachNetworkInterface OK',
      'ModifyNetworkInterfaceAttribute OK',
    ]);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('sends a node with room on its interface to a new interface in another subnet at once', async () => {
    const world = new World({ configure: () => podSubnets });
    const machine = world.machine();
    startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    world.occupy(ids.nodes);
    await world.advance(610_000);
    const began = world.clock.monotonic();

    await world.request(machine, 15);
    await world.until('15 addresses are offered', () => world.pool(machine).size === 15);

    expect(world.clock.monotonic() - began).toBeLessThan(6000);
    expect(world.interfaces(machine).map(({ subnetId }) => subnetId)).toEqual([ids.nodes, ids.pods]);
    expect(world.broken()).toEqual([]);
  });

  test('is shared by a fleet without a failed call', async () => {
    const world = worldOf(12);
    world.occupy(ids.pods, 40);
    world.occupy(ids.morePods, 80);
    await world.advance(5000);
    const controller = startController(world);

    for (const machine of world.machines) await world.announce(machine);
    await world.advance(60_000);

    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual(Array(12).fill(8));
    const failed = controller.changes.filter((call) => isSettled(call) && call.result !== 'OK');
    expect(failed).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('fails no node that another subnet can serve', async () => {
    const cloud = testCloud({
      subnets: [
        ...Object.values(subnets),
        { name: 'far', zone: 'us-east-1b', block: '10.0.64.0/20', tags: { purpose: 'pods' } },
      ],
      instances: [instance(), instance({ name: 'far', subnet: 'far' })],
    });
    const world = new World({
      cloud,
      configure: () => ({ eni: { ...podSubnets.eni, firstInterfaceIndex: 1 } }),
    });
    world.occupy(ids.pods);
    world.occupy(ids.morePods);
    startController(world);

    for (const machine of world.machines) await world.announce(machine);
    await world.advance(10_000);

    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([0, 8]);
  });
});

describe('a node whose subnets have all run out', () => {
  test.each([
    { what: 'known before the call', known: true },
    { what: 'found by the call', known: false },
  ])('says so when it is $what, and is served once there is space', async ({ known }) => {
    const world = worldOf(2);
    const [machine, other] = [world.machine(0), world.machine(1)];
    const controller = startController(world);
    await world.announce(other);
    await world.advance(30_000);
    const freed = [world.occupy(ids.pods), world.occupy(ids.morePods)];
    if (known) await world.advance(610_000);

    await world.announce(machine);
    await world.advance(20_000);
    const reported = {
      error: world.operatorError(machine),
      events: world.events(machine.name).toSorted(),
      metric: await controller.metric('headwater_blocked{resource="node",reason="SubnetsExhausted"}'),
      status: controller.controller.status().inDeficit,
      states: world.history.of(machine.name).length,
    };
    await world.advance(600_000);
    const later = { states: world.history.of(machine.name).length, changes: controller.changes.length };
    freed.forEach((give) => give());
    await world.until('it is served', () => world.pool(machine).size === 8, 200_000);
    await world.advance(5000);

    expect(reported.error).toBe(
      `no address is left in ${ids.pods}, ${ids.morePods} (all in us-east-1a with the tags purpose=pods): add a subnet that the node's subnet selection matches, or free addresses there`,
    );
    expect(reported.events).toEqual([
      `CiliumNode SubnetsExhausted: ${reported.error}`,
      `Node SubnetsExhausted: ${reported.error}`,
    ]);
    expect(reported.metric).toBe(1);
    expect(reported.status).toEqual([
      expect.objectContaining({ name: machine.name, reason: 'SubnetsExhausted' }),
    ]);
    expect(later.states).toBe(reported.states);
    expect(controller.warnings()).toEqual(['node cannot be satisfied']);
    expect(world.operatorError(machine)).toBe('');
    expect(controller.controller.status().inDeficit).toEqual([]);
    expect(world.pool(other).size).toBe(8);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is told that the cloud counts free addresses there, and is told so once', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    startController(world);
    const code = 'InsufficientFreeAddressesInSubnet';
    world.fault('CreateNetworkInterface', { kind: 'error', code, message: 'not enough', status: 400 });

    await world.announce(machine);
    await world.advance(600_000);

    expect(world.operatorError(machine)).toMatch(
      `the cloud calls ${ids.pods}, ${ids.morePods} full, although it counts free addresses there: `,
    );
    expect(world.events(machine.name).filter((event) => event.startsWith('Node '))).toEqual([
      expect.stringMatching(/^Node SubnetsRefused: /),
    ]);
  });

  test('says so and keeps what it has when it has only part of what it needs', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    startController(world);
    world.occupy(ids.pods, 4);
    world.occupy(ids.morePods, 0);

    await world.announce(machine);
    await world.advance(300_000);

    expect(world.pool(machine).size).toBe(3);
    expect(world.operatorError(machine)).toContain('no address is left');
    expect(world.broken()).toEqual([]);
  });

  test('gets freed addresses before a node that only tops up, if it has none', async () => {
    const world = worldOf(2);
    const [supplied, bare] = [world.machine(0), world.machine(1)];
    startController(world);
    await world.announce(supplied);
    await world.advance(30_000);
    world.occupy(ids.morePods);
    world.occupy(ids.pods, 8);
    const giveEight = world.occupy(ids.pods);
    await world.advance(610_000);
    await world.request(supplied, 16);
    await world.announce(bare);
    await world.advance(60_000);
    const before = [supplied, bare].map((machine) => world.pool(machine).size);

    giveEight();
    await world.advance(120_000);

    expect(before).toEqual([8, 0]);
    expect([supplied, bare].map((machine) => world.pool(machine).size)).toEqual([8, 7]);
    expect(world.broken()).toEqual([]);
  });

  test('uses a new subnet after the next listing', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    startController(world, { flags: { 'resync-interval': '60s' } });
    world.occupy(ids.pods);
    world.occupy(ids.morePods);
    await world.announce(machine);
    await world.advance(90_000);
    const before = world.pool(machine).size;

    world.cluster.ec2.network.addSubnet({
      id: 'subnet-0000000000000000d',
      vpcId: ids.vpc,
      zone: 'us-east-1a',
      block: '10.0.96.0/24',
      tags: { purpose: 'pods' },
    });
    await world.advance(90_000);

    expect(before).toBe(0);
    expect(world.pool(machine).size).toBe(8);
    expect(world.operatorError(machine)).toBe('');
    expect(world.broken()).toEqual([]);
  });
});
