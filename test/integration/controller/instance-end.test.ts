import { describe, expect, test } from '@jest/globals';
import { start, stop, terminate } from '../../../src/simulator/cloud/instances.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const resyncOften = { 'resync-interval': '60s' };

/** Worlds whose nodes have two interfaces each. */
async function servedWorld(count: number): Promise<{ world: World; controller: WorldController }> {
  const world = new World({
    cloud: testCloud({ instances: [instance({ count })] }),
    configure: () => ({ ipam: { preAllocate: 12 } }),
  });
  const controller = startController(world, { flags: resyncOften });
  for (const machine of world.machines) await world.announce(machine);
  await world.advance(60_000);
  return { world, controller };
}

function end(world: World, { instanceId }: NodeFacts): void {
  terminate(world.cluster.ec2.network, [instanceId]);
}

/** Calls that name the instance, or one of these interfaces. */
function callsAbout(controller: WorldController, names: readonly string[], from: number): readonly string[] {
  return controller.calls
    .filter(({ at, input }) => at > from && names.some((name) => JSON.stringify(input).includes(name)))
    .map(({ action }) => action);
}

describe('an instance that is shutting down', () => {
  test('is called at most twice a minute, while others grow at full pace', async () => {
    const { world, controller } = await servedWorld(2);
    const [machine, other] = [world.machine(0), world.machine(1)];
    const message = `Instance '${machine.instanceId}' is shutting-down.`;
    const fault = { kind: 'error', code: 'IncorrectState', status: 400, message } as const;
    const before = world.clock.monotonic();
    world.cluster.ec2.gateway.faults.add({
      action: 'AttachNetworkInterface',
      rate: 1,
      match: { InstanceId: machine.instanceId },
      fault,
    });

    await world.request(machine, 25);
    await world.request(other, 25);
    await world.advance(55_000);

    const attached = callsAbout(controller, [machine.instanceId], before);
    expect([1, 2]).toContain(attached.filter((action) => action === 'AttachNetworkInterface').length);
    expect(world.pool(other).size).toBeGreaterThanOrEqual(25);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('a CiliumNode whose instance is terminated', () => {
  test('is emptied, pool first, is reported, and costs no further call', async () => {
    const { world, controller } = await servedWorld(2);
    const machine = world.machine();
    const enis = Object.keys(world.enis(machine));

    end(world, machine);
    await world.until('it is emptied', () => Object.keys(world.enis(machine)).length === 0, 300_000);
    const emptiedAt = world.clock.monotonic();
    await world.request(machine, 25);
    await world.advance(1_800_000);

    expect(enis).toHaveLength(2);
    expect(world.pool(machine).size).toBe(0);
    expect(world.operatorError(machine)).toMatch(/is terminated/);
    expect(world.events(machine.name)).toEqual([
      expect.stringMatching(/^Node InstanceTerminated: /),
      expect.stringMatching(/^CiliumNode InstanceTerminated: instance i-\w+ is terminated: delete the Node/),
    ]);
    expect(callsAbout(controller, [machine.instanceId, ...enis], emptiedAt)).toEqual([]);
    expect(controller.controller.status().inDeficit).toEqual([
      expect.objectContaining({ name: machine.name, reason: 'InstanceTerminated' }),
    ]);
    expect(world.pool(world.machine(1)).size).toBe(12);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('keeps what it shows under a controller that starts after the cloud has forgotten the instance, and is reported', async () => {
    const { world, controller } = await servedWorld(1);
    const machine = world.machine();
    controller.kill();
    end(world, machine);
    await world.advance(2 * 3_600_000);

    const shown = { pool: world.pool(machine), enis: world.enis(machine) };

    startController(world, { identity: 'headwater-1', flags: resyncOften });
    await world.advance(900_000);

    expect({ pool: world.pool(machine), enis: world.enis(machine) }).toEqual(shown);
    expect(world.pool(machine).size).toBeGreaterThan(0);
    expect(world.operatorError(machine)).toMatch(/is not found: check Headwater's region, account and role/);
    expect(world.bugs).toEqual([]);
  });

  test('is forgotten when it is deleted afterwards', async () => {
    const { world, controller } = await servedWorld(2);
    const machine = world.machine();

    end(world, machine);
    await world.until('it is emptied', () => Object.keys(world.enis(machine)).length === 0, 300_000);
    await world.delete(machine);
    await world.advance(600_000);

    expect(controller.controller.status()).toMatchObject({
      nodes: { total: 1, satisfied: 1 },
      inDeficit: [],
    });
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('leaves nothing behind when it is deleted before the instance is terminated', async () => {
    const { world, controller } = await servedWorld(2);
    const machine = world.machine();

    await world.delete(machine);
    await world.advance(60_000);
    const deletedAt = world.clock.monotonic();
    const had = world.interfaces(machine).length;
    end(world, machine);
    await world.advance(600_000);

    expect(had).toBe(2);
    expect(world.interfaces(machine)).toEqual([]);
    expect(callsAbout(controller, [machine.instanceId], deletedAt)).toEqual([]);
    expect(controller.controller.status()).toMatchObject({
      nodes: { total: 1, satisfied: 1 },
      inDeficit: [],
    });
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('leaks no interface when it was just getting one', async () => {
    const { world } = await servedWorld(1);
    const machine = world.machine();
    const slow = world.fault('AttachNetworkInterface', { kind: 'slow', ms: 3000 });

    await world.request(machine, 25);
    await world.until('it is created', () => world.orphaned().length === 1);
    end(world, machine);
    await world.advance(300_000);
    slow();

    expect(world.pool(machine).size).toBe(0);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

test('an instance that is stopped for a while keeps what it has', async () => {
  const { world } = await servedWorld(1);
  const machine = world.machine();
  const before = [...world.pool(machine)];

  stop(world.cluster.ec2.network, [machine.instanceId]);
  await world.advance(600_000);
  start(world.cluster.ec2.network, [machine.instanceId]);
  await world.advance(600_000);

  expect([...world.pool(machine)]).toEqual(before);
  expect(world.broken()).toEqual([]);
});
