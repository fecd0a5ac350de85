import { describe, expect, test } from '@jest/globals';
import { assign, unassign } from '../../../src/simulator/cloud/assignments.ts';
import { nothing } from '../../../src/simulator/cloud/claims.ts';
import type { MsRange } from '../../../src/simulator/cloud/topology-fields.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const resyncOften = { 'resync-interval': '60s' };

function worldOf(count: number): World {
  return new World({
    cloud: testCloud({ instances: [instance({ count })] }),
    configure: () => ({ ipam: { preAllocate: 7 } }),
  });
}

async function servedWorld(count: number): Promise<{ world: World; controller: WorldController }> {
  const world = worldOf(count);
  const controller = startController(world, { flags: resyncOften });
  for (const machine of world.machines) await world.announce(machine);
  await world.advance(50_000);
  return { world, controller };
}

/** Makes listings this old. */
function lag(world: World, listingLagMs: MsRange): void {
  const { network } = world.cluster.ec2;
  Object.assign(network, { consistency: { ...network.consistency, listingLagMs } });
}

function takeAway(world: World, machine: NodeFacts, address: string): void {
  const holder = world.interfaces(machine).find((item) => item.addresses.includes(address));
  unassign(world.cluster.ec2.network, holder?.id ?? '', { addresses: [address], prefixes: [] });
}

function move(world: World, address: string, to: NodeFacts): void {
  const [first] = world.interfaces(to);
  assign(world.cluster.ec2.network, first?.id ?? '', { ...nothing, addresses: [address] }, true);
}

/** When the pool lost the address, in monotonic ms; undefined if it did not within that time. */
async function struckAt(
  world: World,
  machine: NodeFacts,
  address: string,
  limit: number,
): Promise<number | undefined> {
  const isStruck = await world.clock.runUntil(() => !world.pool(machine).has(address), limit);
  return isStruck ? world.clock.monotonic() : undefined;
}

describe('an address that was taken away in the cloud', () => {
  test('is withdrawn after two reads a consistency window apart, and replaced', async () => {
    const { world, controller } = await servedWorld(1);
    const machine = world.machine();
    const [address = ''] = world.held(machine);
    const from = world.clock.monotonic();

    takeAway(world, machine, address);
    const struck = await struckAt(world, machine, address, 200_000);
    await world.advance(20_000);

    const looks = controller.calls.filter(
      ({ at, action, input }) =>
        at > from &&
        action === 'DescribeNetworkInterfaces' &&
        JSON.stringify(input).includes('attachment.instance-id'),
    );
    const [first, second] = looks.map(({ at }) => at);
    expect(looks).toHaveLength(2);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(29_000);
    expect(struck).toBeGreaterThanOrEqual(second ?? Infinity);
    expect(world.pool(machine).size).toBe(7);
    expect(world.held(machine).toSorted()).toEqual([...world.pool(machine).keys()].toSorted());
    expect(world.broken()).toEqual([]);
  });

  test('stays when the second read shows it again', async () => {
    const { world } = await servedWorld(1);
    const machine = world.machine();
    const [address = ''] = world.held(machine);

    takeAway(world, machine, address);
    await world.advance(25_000);
    move(world, address, machine);
    const struck = await struckAt(world, machine, address, 300_000);

    expect(struck).toBeUndefined();
    expect(world.broken()).toEqual([]);
  });

  test('leaves the pool before the status when its whole interface is gone', async () => {
    const interfaces = [{ deviceIndex: 1, addresses: 4 }];
    const world = new World({
      cloud: testCloud({ instances: [instance({ interfaces })], times: { detachMs: 0 } }),
    });
    startController(world, { flags: resyncOften });
    const machine = world.machine();
    await world.announce(machine);
    await world.advance(50_000);
    const [, second] = world.interfaces(machine);
    const detach = { AttachmentId: second?.attachment?.id ?? '', Force: true };

    void world.cluster.ec2.gateway.call('DetachNetworkInterface', detach, { arn: 'arn' });
    await world.until(
      'the interface is gone from the status',
      () => Object.keys(world.enis(machine)).length === 1,
    );
    await world.advance(30_000);

    expect([...world.pool(machine).values()]).not.toContain(second?.id);
    expect(world.pool(machine).size).toBe(8);
    expect(world.broken()).toEqual([]);
  });
});

describe('a full listing', () => {
  test.each([
    { what: 'that lags by half a minute', listingLagMs: { min: 29_000, max: 29_000 } },
    { what: 'that lags by a varying time', listingLagMs: { min: 0, max: 29_000 } },
  ])('$what withdraws nothing that was assigned since', async ({ listingLagMs }) => {
    const { world } = await servedWorld(2);
    lag(world, listingLagMs);
    // The model keeps as much history as configured.
    await world.advance(120_000);
    const machine = world.machine();

    for (const count of [11, 15, 19, 24]) {
      await world.request(machine, count);
      await world.advance(50_000);
    }
    const offered = world.pool(machine).size;
    await world.advance(600_000);

    const states = world.history.of(machine.name).map(({ object }) => new Set(Object.keys(poolOf(object))));
    const lost = states
      .slice(1)
      .filter((pool, index) => [...(states[index] ?? [])].some((address) => !pool.has(address)));
    expect(offered).toBe(24);
    expect(lost).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('withdraws nothing when it has a torn page or fails', async () => {
    const { world, controller } = await servedWorld(3);
    const before = world.machines.map((machine) => [...world.pool(machine).keys()]);

    for (const form of ['truncated', 'empty', 'idsMissing', 'unknownEnum', 'html502'] as const) {
      const end = world.fault('DescribeNetworkInterfaces', { kind: 'garbled', form });
      await world.advance(200_000);
      end();
      await world.advance(100_000);
    }

    const after = world.machines.map((machine) => [...world.pool(machine).keys()]);
    expect(after).toEqual(before);
    expect(controller.changes.filter(({ at }) => at > 50_000)).toEqual([]);
    expect(world.history.states.filter(({ object }) => object === undefined)).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

function poolOf(node: unknown): object {
  return (node as { spec?: { ipam?: { pool?: object } } } | undefined)?.spec?.ipam?.pool ?? {};
}

describe('an address that two nodes claim', () => {
  test('goes to the node that has it in the cloud, and is never on both', async () => {
    const { world } = await servedWorld(2);
    const [from, to] = [world.machine(0), world.machine(1)];
    const [address = ''] = world.held(from);

    move(world, address, to);
    await world.until('it is offered where it is', () => world.pool(to).has(address), 200_000);
    await world.advance(60_000);

    expect(world.pool(from).has(address)).toBe(false);
    expect(world.pool(to).has(address)).toBe(true);
    expect(world.pool(from).size).toBe(7);
    expect(world.broken()).toEqual([]);
  });

  test('is offered again on the first node when it comes back there', async () => {
    const { world } = await servedWorld(2);
    const [from, to] = [world.machine(0), world.machine(1)];
    const [address = ''] = world.held(from);

    move(world, address, to);
    await world.until('it is offered on the second', () => world.pool(to).has(address), 200_000);
    move(world, address, from);
    await world.until('it is offered on the first', () => world.pool(from).has(address), 200_000);
    await world.advance(60_000);

    expect(world.pool(to).has(address)).toBe(false);
    expect(world.broken()).toEqual([]);
  });

  test('is settled although the listings lag', async () => {
    const { world } = await servedWorld(2);
    lag(world, { min: 0, max: 20_000 });
    await world.advance(60_000);
    const [from, to] = [world.machine(0), world.machine(1)];
    const [first = '', second = ''] = world.held(from);

    move(world, first, to);
    await world.advance(7000);
    move(world, second, to);
    const settled = (): boolean => [first, second].every((address) => world.pool(to).has(address));
    await world.until('both are offered where they are', settled, 400_000);

    expect([first, second].filter((address) => world.pool(from).has(address))).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is offered where the cloud shows it, although a node that cannot be served shows it too', async () => {
    const { world } = await servedWorld(2);
    const [from, to] = [world.machine(0), world.machine(1)];
    const [address = ''] = world.held(from);
    await world.patch(from, { spec: { eni: { 'availability-zone': null } } });

    move(world, address, to);
    await world.advance(200_000);
    const meanwhile = { offered: world.pool(to).has(address), error: world.operatorError(to) };
    await world.patch(from, { spec: { eni: { 'availability-zone': 'us-east-1a' } } });
    await world.until('it is struck there once it can be', () => !world.pool(from).has(address), 200_000);

    expect(meanwhile).toEqual({ offered: true, error: '' });
    expect(world.pool(from).has(address)).toBe(false);
    expect(world.bugs).toEqual([]);
  });

  test('is no conflict when the nodes are in different networks', async () => {
    const twin = (name: string): object => ({ name, zone: 'us-east-1a', vpc: name, block: '10.0.0.0/28' });
    const cloud = testCloud({
      vpcs: [
        { name: 'one', blocks: ['10.0.0.0/16'] },
        { name: 'two', blocks: ['10.0.0.0/16'] },
      ],
      subnets: [twin('one'), twin('two')],
      routeTables: [],
      securityGroups: [],
      instances: ['one', 'two'].map((name) => instance({ name, subnet: name, securityGroups: [] })),
    });
    const world = new World({ cloud });
    startController(world);

    for (const machine of world.machines) await world.announce(machine);
    await world.advance(60_000);

    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([8, 8]);
    expect(world.machines.map((machine) => world.operatorError(machine))).toEqual(['', '']);
    expect(ids.vpc).not.toBe(world.machine(1).vpcId);
  });
});
