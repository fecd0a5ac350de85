import { describe, expect, test } from '@jest/globals';
import { isObject, type Json, listAt, objectAt, textAt } from '../../../src/simulator/workload/json.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { startController } from '../../support/world-controller.ts';

const update = 'VirtualMachineScaleSetVMs.Update';

describe('a controller on Azure', () => {
  test.each(['crd-allocator', 'multi-pool'] as const)(
    'gives pods addresses beside agents of %s',
    async (protocol) => {
      const world = new AzureClusterWorld({
        cloud: testAzure({ scaleSets: [scaleSet({ count: 3 })] }),
        configure: () => ({ protocol }),
      });
      const controller = startController(world);
      await world.startAgents();
      await world.advance(180_000);
      world.addLivingPods(30);
      await world.advance(300_000);

      expect(world.views.map(({ phase }) => phase)).toEqual(['serving', 'serving', 'serving']);
      expect(world.waiting()).toEqual([]);
      expect(world.used(0).length + world.used(1).length + world.used(2).length).toBe(30 + 6);
      for (const machine of world.machines) {
        expect([...world.pool(machine).keys()].sort()).toEqual([...world.held(machine)].sort());
        expect(world.shown(machine).map((item) => textAt(item, 'gateway'))).toEqual(['10.0.16.1']);
      }
      expect(controller.warnings()).toEqual([]);
      expect(controller.removals).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );

  test('grows a node by at most two updates in a burst', async () => {
    const world = new AzureClusterWorld();
    const controller = startController(world);
    await world.startAgents();
    await world.advance(180_000);
    const before = controller.changes.length;

    world.addLivingPods(30);
    await world.advance(300_000);

    expect(world.waiting()).toEqual([]);
    const updates = controller.changes.slice(before).filter(({ action }) => action === update);
    expect(updates.length).toBeLessThanOrEqual(2);
    expect(world.broken()).toEqual([]);
  });

  test('fills an interface that has an address of IPv6, too, with all that is left', async () => {
    const interfaces = [{ name: 'nic0', subnet: 'pods', addresses: 244 }];
    const world = new AzureClusterWorld({ cloud: testAzure({ scaleSets: [scaleSet({ interfaces })] }) });
    const machine = world.machine();
    const { path } = world.cluster.arm.cloud.machine(machine.instanceId);
    void world.hand.change(path, (configurations) => {
      const { subnet } = objectAt(configurations[0], 'properties');
      return [...configurations, { name: 'v6', properties: { privateIPAddressVersion: 'IPv6', subnet } }];
    });
    await world.advance(180_000);
    const controller = startController(world);
    await world.startAgents();
    await world.patch(machine, { spec: { ipam: { 'min-allocate': 255 } } });
    await world.advance(600_000);

    expect(world.pool(machine).size).toBe(256 - 1 - 1);
    expect(controller.changes.filter(({ action }) => action === update)).toHaveLength(1);
    expect(JSON.stringify(controller.logged)).toContain('use more nodes');
    expect(world.broken()).toEqual([]);
  });

  test('counts pods that wait once beside an agent that counts them, too', async () => {
    const world = new AzureClusterWorld({ configure: () => ({ protocol: 'multi-pool' }) });
    const controller = startController(world);
    await world.startAgents();
    await world.advance(180_000);
    const before = controller.changes.length;

    const burst = { kind: 'burst', name: 'web', at: 0, pods: 30, over: 1000 } as const;
    void world.cluster.workload.run(burst, new AbortController().signal);
    let max = 0;
    await world.clock.runUntil(() => {
      max = Math.max(max, world.held(world.machine()).length);
      return false;
    }, 300_000);

    expect(world.waiting()).toEqual([]);
    const updates = controller.changes.slice(before).filter(({ action }) => action === update);
    expect(updates.length).toBeLessThanOrEqual(2);
    expect(max).toBe(30 + 2 + 8);
    expect(world.broken()).toEqual([]);
  });

  test('reports no change of others while its own takes long', async () => {
    const interfaces = ['nic0', 'nic1'].map((name) => ({ name, subnet: 'pods' }));
    const world = new AzureClusterWorld({ cloud: testAzure({ scaleSets: [scaleSet({ interfaces })] }) });
    startController(world, { flags: { 'resync-interval': '30s' } });
    await world.startAgents();
    await world.advance(180_000);
    const { arm } = world.cluster;
    arm.cloud.times = { ...arm.cloud.times, machineMs: { min: 480_000, max: 480_000 } };

    world.addLivingPods(30);
    await world.advance(450_000);
    const during = { waiting: world.waiting().length, events: world.events(world.machine().name) };
    await world.advance(1_000_000);

    expect(during.waiting).toBeGreaterThan(0);
    expect(during.events).toEqual([]);
    expect(world.events(world.machine().name)).toEqual([]);
    expect(world.waiting()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('adds nothing to a VM before its lists of interfaces show the primary one', async () => {
    const interfaces = [{ name: 'nic0', addresses: 8 }, { name: 'nic1' }];
    const world = new AzureClusterWorld({
      cloud: testAzure({
        scaleSets: [scaleSet({ interfaces: interfaces.map((each) => ({ ...each, subnet: 'pods' })) })],
      }),
    });
    let hides = true;
    const isShown = (item: Json): boolean => !hides || objectAt(item, 'properties')['primary'] !== true;
    const tamper = (_: string, answer: object): object => {
      const { body } = answer as { readonly body?: Json };
      const shown = { ...objectAt(body), value: listAt(body, 'value').filter(isShown) };
      return isObject(body) && 'value' in body ? { ...answer, body: shown } : answer;
    };
    const controller = startController(world, { tamper });

    await world.announce(world.machine());
    await world.advance(600_000);
    const during = { updates: updatesOf(controller), events: world.events(world.machine().name) };
    hides = false;
    await world.advance(60_000);

    expect(during.updates).toBe(0);
    expect(during.events).toEqual(
      ['Node', 'CiliumNode'].map(
        (kind) =>
          `${kind} CallFailed: Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces answers UnreadableAnswer: cannot understand the answer: the primary interface is missing`,
      ),
    );
    expect(updatesOf(controller)).toBe(0);
    expect(world.pool(world.machine()).size).toBe(8);
    expect(world.broken()).toEqual([]);
  });
});

function updatesOf({ changes }: ReturnType<typeof startController>): number {
  return changes.filter(({ action }) => action === update).length;
}
