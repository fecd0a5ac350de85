import { describe, expect, test } from '@jest/globals';
import { type Json, objectAt, textAt } from '../../../src/simulator/workload/json.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import type { ArmHand } from '../../support/arm-hand.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { startController } from '../../support/world-controller.ts';

type Configurations = readonly Json[];

function without(address: string): (configurations: Configurations) => Configurations {
  return (configurations) =>
    configurations.filter((each) => textAt(each, 'properties', 'privateIPAddress') !== address);
}

function withStatic(address: string): (configurations: Configurations) => Configurations {
  return (configurations) => {
    const { subnet, privateIPAddressVersion } = objectAt(configurations[0], 'properties');
    const fixed = { privateIPAddress: address, privateIPAllocationMethod: 'Static' };
    const more = { name: 'moved', properties: { privateIPAddressVersion, subnet, ...fixed } };
    return [...configurations, more];
  };
}

/** An address of one node that another client moved to another one while no controller ran. */
async function withMovedAddress() {
  const sets = ['a', 'b'].map((name) => scaleSet({ name, mode: 'Flexible' }));
  const world = new AzureClusterWorld({ cloud: testAzure({ scaleSets: sets }) });
  const [former, next] = [world.machine(0), world.machine(1)];
  const controller = startController(world);
  for (const each of world.machines) await world.announce(each);
  await world.advance(180_000);
  const [address = ''] = world.pool(former).keys();
  const [from = '', to = ''] = [former, next].map((each) => [...world.pool(each).values()][0]);
  controller.kill();
  const change = async (path: string, edit: Parameters<ArmHand['change']>[1]): Promise<void> => {
    const answer = world.hand.change(path, edit);
    await world.advance(120_000);
    expect(await answer).toBeLessThan(300);
  };
  await change(from, without(address));
  await change(to, withStatic(address));
  expect([former, next].map((each) => world.held(each).includes(address))).toEqual([false, true]);
  const shownBy: (readonly boolean[])[] = [];
  world.cluster.kubernetes.follow('ciliumnodes.cilium.io', () => {
    shownBy.push([former, next].map((each) => world.pool(each).has(address)));
  });
  return { world, former, shownBy };
}

// Agents on Azure do not say in which network their node is.
describe('an address that another client of Azure moved to another VM while no controller ran', () => {
  test('is not shown there while the API server gives no answer to its removal here', async () => {
    const { world, former, shownBy } = await withMovedAddress();
    const endRefusals = world.refuse(503, 'PATCH', new RegExp(`${former.name}(?:/status)?$`));
    startController(world, { identity: 'headwater-1' });

    await world.advance(300_000);
    endRefusals();
    await world.advance(120_000);

    expect(shownBy).not.toContainEqual([true, true]);
    expect(shownBy.at(-1)).toEqual([false, true]);
    expect(world.broken()).toEqual([]);
  });
});
