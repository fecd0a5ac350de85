import { describe, expect, test } from '@jest/globals';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { textMapAt } from '../../../src/simulator/workload/json.ts';
import { oneMore } from '../../support/arm-hand.ts';
import { startController } from '../../support/world-controller.ts';

const minute = 60_000;

/** A scale set of two nodes with pods, of which the first is about to be changed by others. */
async function servedWorld() {
  const world = new AzureClusterWorld({ cloud: testAzure({ scaleSets: [scaleSet({ count: 2 })] }) });
  const controller = startController(world, { flags: { 'resync-interval': '60s' } });
  await world.startAgents();
  world.addLivingPods(12);
  await world.advance(10 * minute);
  expect(world.waiting()).toEqual([]);
  const machine = world.machine();
  const { path } = world.cluster.arm.cloud.machine(machine.instanceId);
  return { world, controller, machine, path, before: [...world.pool(machine).keys()] };
}

describe('an upgrade of a VM to the model of its scale set', () => {
  test('takes its addresses, which are withdrawn once Azure shows it, and Headwater adds others', async () => {
    const { world, machine, path, before } = await servedWorld();
    const set = path.split('/virtualMachines/')[0] ?? '';

    void world.hand.send('POST', `${set}/manualupgrade`, { instanceIds: [path.split('/').at(-1) ?? ''] });
    await world.advance(90_000);
    const during = world.held(machine);
    await world.advance(30 * minute);

    expect(before.length).toBeGreaterThanOrEqual(8);
    expect(during.filter((address) => before.includes(address))).toEqual([]);
    expect([...world.pool(machine).keys()].sort()).toEqual([...world.held(machine)].sort());
    expect(world.pool(machine).size).toBeGreaterThanOrEqual(8);
    const others = world.pool(world.machine(1));
    expect([...world.pool(machine).keys()].filter((address) => others.has(address))).toEqual([]);
    expect(world.operatorError(machine)).toBe('');
    expect(world.bugs).toEqual([]);
  });

  test('is waited for by what pods need meanwhile, and no update of Headwater meets it', async () => {
    const { world, controller, machine, path } = await servedWorld();
    const set = path.split('/virtualMachines/')[0] ?? '';

    void world.hand.send('POST', `${set}/manualupgrade`, { instanceIds: [path.split('/').at(-1) ?? ''] });
    await world.advance(1000);
    const sentBefore = controller.calls.length;
    world.addLivingPods(20, 'later');
    await world.advance(15 * minute);

    expect(world.waiting()).toEqual([]);
    const refused = controller.calls
      .slice(sentBefore)
      .filter(({ result }) => result === 'OperationNotAllowed');
    expect(refused).toEqual([]);
    expect(world.pool(machine).size).toBe(world.held(machine).length);
  });
});

describe('a change that others make while addresses leave', () => {
  test.each(['crd-allocator', 'multi-pool'] as const)(
    'shows none of them to an agent of %s again, and they go once it has ended',
    async (protocol) => {
      const world = new AzureClusterWorld({ configure: () => ({ protocol }) });
      const flags = {
        'azure-release-excess-ips': 'true',
        'excess-ip-release-delay': '20s',
        'resync-interval': '30s',
      };
      startController(world, { flags });
      await world.startAgents();
      world.addLivingPods(12);
      await world.advance(10 * minute);
      await world.deleteLivingPods(12);
      const machine = world.machine();
      const held = [...world.held(machine)];
      const { arm } = world.cluster;
      arm.cloud.times = { ...arm.cloud.times, machineMs: { min: 5 * minute, max: 5 * minute } };
      const isLeaving = (): boolean =>
        world.pool(machine).size < held.length || releaseIps(world, machine).size > 0;
      await world.until('addresses leave', isLeaving, 10 * minute);
      const leaving = held.filter(
        (address) => !world.pool(machine).has(address) || releaseIps(world, machine).has(address),
      );

      void world.hand.change(arm.cloud.machine(machine.instanceId).path, oneMore('by-hand'));
      const shownAgain: string[] = [];
      for (let at = 0; at < 4.5 * minute; at += 5000) {
        await world.advance(5000);
        const handshake = releaseIps(world, machine);
        const stays = (address: string): boolean =>
          protocol === 'multi-pool' ? !world.pool(machine).has(address) : handshake.has(address);
        shownAgain.push(...leaving.filter((address) => !stays(address)));
      }
      await world.advance(30 * minute);

      expect(leaving.length).toBeGreaterThan(0);
      expect(shownAgain).toEqual([]);
      expect(world.held(machine).filter((address) => leaving.includes(address))).toEqual([]);
      expect(world.bugs).toEqual([]);
    },
  );
});

function releaseIps(world: AzureClusterWorld, machine: Parameters<AzureClusterWorld['ciliumNode']>[0]) {
  return textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips');
}
