import { describe, expect, test } from '@jest/globals';
import { objectAt, textAt } from '../../../src/simulator/workload/json.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { startController, takeOver } from '../../support/world-controller.ts';

const minute = 60_000;

/** What agents are shown, in the spelling in which they are shown it. */
function publishedIn(world: AzureClusterWorld): readonly unknown[] {
  return world.machines.map((machine) => {
    const node = world.ciliumNode(machine);
    return [objectAt(node, 'spec', 'ipam', 'pool'), objectAt(node, 'status', 'azure')];
  });
}

/** Three nodes of a leader to whom Azure shows every id as it was made. */
async function servedWorld(): Promise<{
  world: AzureClusterWorld;
  former: ReturnType<typeof startController>;
}> {
  const cloud = testAzure({ scaleSets: [scaleSet({ count: 3 })], respelled: 0 });
  const world = new AzureClusterWorld({ cloud });
  const former = startController(world);
  for (const machine of world.machines) await world.announce(machine);
  await world.advance(5 * minute);
  expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([8, 8, 8]);
  return { world, former };
}

describe('a new leader to whom Azure shows every id in another case', () => {
  test('writes nothing', async () => {
    const { world, former } = await servedWorld();
    const before = publishedIn(world);
    world.cluster.arm.cloud.respelled = 1;

    const controller = takeOver(world, former);
    await world.advance(20 * minute);

    expect(controller.publications).toEqual([]);
    expect(controller.changes.filter(({ action }) => action.endsWith('Update'))).toEqual([]);
    expect(publishedIn(world)).toEqual(before);
    expect(world.broken()).toEqual([]);
  });

  test('keeps the spelling of a node that it serves only after it read the cloud', async () => {
    const { world, former } = await servedWorld();
    const before = publishedIn(world);
    const late = world.machine(0);
    world.cluster.arm.cloud.respelled = 1;
    await world.call('DELETE', `/api/v1/nodes/${late.name}`);

    const controller = takeOver(world, former, { flags: { 'require-node': 'true' } });
    await world.advance(10 * minute);
    const meanwhile = world.operatorError(late);
    await world.register(late);
    await world.advance(10 * minute);

    expect(meanwhile).toContain('--require-node is set');
    expect(world.operatorError(late)).toBe('');
    expect(publishedIn(world)).toEqual(before);
    expect(controller.publications.map(({ path }) => path.endsWith(`/${late.name}/status`))).toEqual([
      true,
      true,
    ]);
    expect(textAt(world.ciliumNode(late), 'spec', 'instance-id')).toBe(late.instanceId.toLowerCase());
    expect(world.broken()).toEqual([]);
  });
});
