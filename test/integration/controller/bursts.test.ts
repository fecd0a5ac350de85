import { describe, expect, test } from '@jest/globals';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

/** Advances time; returns the most addresses that the machine had at any instant. */
async function mostHeld(world: World, machine: NodeFacts, ms: number): Promise<number> {
  let max = 0;
  await world.clock.runUntil(() => {
    max = Math.max(max, world.held(machine).length);
    return false;
  }, ms);
  return max;
}

function xlarge(ipam: NonNullable<NodeFacts['ipam']> = {}): World {
  return new World({
    cloud: testCloud({ instances: [instance({ type: 'm5.xlarge' })] }),
    configure: () => ({ ipam }),
  });
}

describe('a burst', () => {
  test.each([
    { what: 'gets an address for each pending pod', pods: 30, ipam: {}, offered: 30 },
    { what: 'never gets more than max-allocate', pods: 30, ipam: { maxAllocate: 20 }, offered: 20 },
    { what: 'gets max-above-watermark in addition', pods: 30, ipam: { maxAboveWatermark: 5 }, offered: 35 },
    { what: 'gets no more than the instance holds', pods: 70, ipam: {}, offered: 56 },
  ])('$what', async ({ pods, ipam, offered }) => {
    const world = xlarge(ipam);
    const machine = world.machine();
    startController(world);
    await world.addPods(machine, { count: pods });

    await world.announce(machine);
    const max = await mostHeld(world, machine, 60_000);

    expect(world.pool(machine).size).toBe(offered);
    expect(max).toBe(offered);
    expect(world.broken()).toEqual([]);
  });

  test('counts a pod once that its agent gave an address and whose status shows none yet', async () => {
    const world = xlarge();
    const machine = world.machine();
    startController(world);
    await world.addPods(machine, { count: 30 });
    await world.announce(machine);
    await world.advance(60_000);

    await world.use(machine, 30);
    const max = await mostHeld(world, machine, 60_000);

    expect(max).toBe(30 + 8);
  });

  test('causes no call when its pods use the host network', async () => {
    const world = xlarge();
    const machine = world.machine();
    startController(world);
    await world.addPods(machine, { count: 30, hostNetwork: true });

    await world.announce(machine);
    await world.advance(60_000);

    expect(world.pool(machine).size).toBe(8);
  });

  test('fills and creates interfaces at the same time', async () => {
    const world = xlarge();
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, { spec: { ipam: { 'min-allocate': 50 } } });
    const began = world.clock.monotonic();

    await world.until('50 addresses are offered', () => world.pool(machine).size === 50);

    const attached = controller.changes.filter(({ action }) => action === 'AttachNetworkInterface');
    expect((attached.at(-1)?.at ?? Infinity) - began).toBeLessThan(5000);
    // The attachment is repeated while EC2 does not know the interface yet.
    const carriedOut = controller.changes.filter(({ result }) => result === 'OK');
    const actions = carriedOut.map(({ action }) => action);
    expect(actions.filter((action) => !action.startsWith('Modify')).toSorted()).toEqual([
      'AssignPrivateIpAddresses',
      ...Array<string>(3).fill('AttachNetworkInterface'),
      ...Array<string>(3).fill('CreateNetworkInterface'),
    ]);
    expect(world.interfaces(machine).map(({ deviceIndex }) => deviceIndex)).toEqual([0, 1, 2, 3]);
  });

  test('never exceeds max-allocate, and ends at the demand, when the demand keeps changing', async () => {
    const world = xlarge({ maxAllocate: 40 });
    const machine = world.machine();
    startController(world);
    await world.announce(machine);
    let max = 0;

    for (const count of [12, 30, 8, 55, 20, 60, 9, 38]) {
      await world.request(machine, count);
      max = Math.max(max, await mostHeld(world, machine, 700));
    }
    max = Math.max(max, await mostHeld(world, machine, 60_000));

    expect(max).toBe(40);
    expect(world.pool(machine).size).toBe(40);
    expect(world.interfaces(machine).length).toBeLessThanOrEqual(4);
    expect(world.broken()).toEqual([]);
  });

  test('is served as its pods come one by one, and the addresses stay after the pods go', async () => {
    const world = xlarge();
    const machine = world.machine();
    startController(world);
    void world.cluster.workload.addNode(machine);
    await world.advance(60_000);

    const load = { kind: 'burst', name: 'web', at: 0, pods: 40, over: 20_000, lifetime: 60_000 } as const;
    void world.cluster.workload.run(load, new AbortController().signal);
    await world.advance(55_000);
    const served = world.cluster.workload.waits;
    await world.advance(120_000);

    expect(served.count).toBe(40);
    expect(world.held(machine)).toHaveLength(50);
    expect(world.broken()).toEqual([]);
  });
});

describe('a controller without permission to read pods', () => {
  test('serves nodes by their watermarks alone, and logs that once', async () => {
    const world = xlarge();
    const machine = world.machine();
    const end = world.refuse(403, 'GET', /^\/api\/v1\/pods/);
    const controller = startController(world);
    await world.addPods(machine, { count: 30 });
    await world.announce(machine);
    await world.advance(300_000);
    const denied = world.pool(machine).size;
    const warnings = [...controller.warnings()];

    end();
    await world.advance(60_000);

    expect(denied).toBe(8);
    expect(warnings).toEqual(['cannot read pods: nodes get no addresses in advance for pending pods']);
    expect(world.pool(machine).size).toBe(30);
    expect(controller.warnings()).toEqual(warnings);
    expect(world.broken()).toEqual([]);
  });

  test('keeps what nodes have when it loses the permission later', async () => {
    const world = xlarge();
    const machine = world.machine();
    const controller = startController(world);
    await world.addPods(machine, { count: 30 });
    await world.announce(machine);
    await world.advance(30_000);

    world.refuse(403, 'GET', /^\/api\/v1\/pods/);
    world.cluster.kubernetes.faults.closeWatches(/^\/api\/v1\/pods/);
    await world.advance(120_000);

    expect(world.pool(machine).size).toBe(30);
    expect(controller.warnings()).toHaveLength(1);
    expect(world.broken()).toEqual([]);
  });
});
