import { describe, expect, test } from '@jest/globals';
import type { ScaleSet } from '../../../src/simulator/arm/arm-records.ts';
import { deleteMachine, removeMachine } from '../../../src/simulator/arm/machine-changes.ts';
import { scale } from '../../../src/simulator/arm/scale-set-changes.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { startController, takeOver } from '../../support/world-controller.ts';

const minute = 60_000;
const flags = { 'resync-interval': '60s' };
const setList = 'Interfaces.ListVirtualMachineScaleSetNetworkInterfaces';

function setOf({ cluster }: AzureClusterWorld, name: string): ScaleSet {
  const found = [...cluster.arm.cloud.scaleSets.current.values()].find(({ path }) => path.endsWith(name));
  if (found === undefined) throw new Error(`no scale set ${name}`);
  return found;
}

async function servedWorld(...sets: readonly Parameters<typeof scaleSet>[0][]) {
  const world = new AzureClusterWorld({ cloud: testAzure({ scaleSets: sets.map(scaleSet) }) });
  const controller = startController(world, { flags });
  for (const machine of world.machines) await world.announce(machine);
  await world.advance(5 * minute);
  return { world, controller };
}

describe('the CiliumNodes of a scale set that is scaled in to no VM', () => {
  test.each([
    ['a few', 2],
    ['so many that its list is read for them', 12],
  ])('are emptied and reported, and cost and hinder nothing any longer: %s', async (_, count) => {
    const { world, controller } = await servedWorld({ name: 'left', count }, { name: 'kept' });
    const [kept, ...left] = [world.machine(count), ...world.machines.slice(0, count)];

    scale(world.cluster.arm.cloud, setOf(world, 'left'), 0);
    await world.advance(10 * minute);
    const emptied = left.map((machine) => world.pool(machine).size);
    const sent = controller.calls.length;
    await world.request(kept, 100);
    await world.advance(30 * minute);

    expect(new Set(emptied)).toEqual(new Set([0]));
    for (const machine of left)
      expect(world.operatorError(machine)).toMatch(/ is terminated: delete the Node/);
    expect(controller.controller.status().nodes).toMatchObject({
      total: count + 1,
      satisfied: 1,
      blocked: count,
    });
    expect(world.pool(kept).size).toBe(100);
    expect(world.events(kept.name)).toEqual([]);
    const later = controller.calls.slice(sent).filter(({ input }) => JSON.stringify(input).includes('/left'));
    expect(new Set(later.map(({ action }) => action))).toEqual(new Set([setList]));
    expect(world.broken()).toEqual([]);
  });

  test('are emptied and reported if there are no others, and under a new leader, too', async () => {
    const { world, controller } = await servedWorld({ name: 'left', count: 2 });

    scale(world.cluster.arm.cloud, setOf(world, 'left'), 0);
    await world.advance(10 * minute);
    const before = [controller.controller.status().nodes, controller.controller.unreadiness()];
    const next = takeOver(world, controller, { flags });
    await world.advance(10 * minute);

    const after = [next.controller.status().nodes, next.controller.unreadiness()];
    const blocked = [expect.objectContaining({ total: 2, blocked: 2 }), undefined];
    expect([before, after]).toEqual([blocked, blocked]);
    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([0, 0]);
    expect(world.broken()).toEqual([]);
  });
});

describe('a VM that vanishes', () => {
  test.each([
    ['while it is changed', 'removeMachine', 0],
    ['while it is deleted', 'deleteMachine', 1000],
  ] as const)('%s is not followed for minutes', async (_, how, after) => {
    const { world, controller } = await servedWorld({ name: 'left', count: 1 }, { name: 'kept' });
    const machine = world.machine(0);
    const { cloud } = world.cluster.arm;
    cloud.times = { ...cloud.times, machineMs: { min: 30_000, max: 30_000 } };
    await world.request(machine, 50);
    await world.clock.runUntil(() => cloud.machine(machine.instanceId).state === 'Updating', minute);
    await world.advance(after);

    if (how === 'removeMachine') removeMachine(cloud, machine.instanceId);
    else deleteMachine(cloud, cloud.machine(machine.instanceId));
    await world.advance(2 * minute);
    const sent = controller.calls.length;
    await world.advance(4 * minute);

    const about = (calls: typeof controller.calls) =>
      calls.filter(({ input }) => JSON.stringify(input).toLowerCase().includes('/left/virtualmachines/'));
    expect(world.operatorError(machine)).toMatch(/ is terminated: delete the Node/);
    expect(about(controller.calls.slice(sent))).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});
