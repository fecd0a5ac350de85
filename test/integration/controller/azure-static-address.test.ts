import { describe, expect, test } from '@jest/globals';
import { textAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { startController, takeOver } from '../../support/world-controller.ts';

const update = 'VirtualMachineScaleSetVMs.Update';
const minute = 60_000;
const asks = { spec: { ipam: { 'static-ip-tags': { pool: 'egress' } } } };

/** A cluster with a prefix of two addresses with the tags that nodes ask for, and another one. */
function worldOf(nodes: number): AzureClusterWorld {
  const publicIpPrefixes = [
    { name: 'egress', block: '203.0.113.8/31', tags: { pool: 'egress', more: 'yes' } },
    { name: 'other', block: '203.0.113.0/30', tags: { pool: 'other' } },
  ];
  return new AzureClusterWorld({
    cloud: testAzure({ scaleSets: [scaleSet({ count: nodes })], publicIpPrefixes }),
  });
}

function assigned(world: AzureClusterWorld, machine: NodeFacts): string {
  return textAt(world.ciliumNode(machine), 'status', 'ipam', 'assigned-static-ip');
}

/** Addresses out of prefixes, by the instances that have them. */
function inAzure({ cluster }: AzureClusterWorld): readonly (readonly [string, string])[] {
  return [...cluster.arm.cloud.publicAddresses.values()].map(({ id, address }) => [
    id.split('/networkinterfaces/')[0] ?? '',
    address,
  ]);
}

function updatesOf({ changes }: ReturnType<typeof startController>): number {
  return changes.filter(({ action }) => action === update).length;
}

/** Why nodes are blocked: their agents wait for an address. */
function reasonsOf({ controller }: ReturnType<typeof startController>): readonly string[] {
  return Object.keys(controller.status().reasons ?? {});
}

function warningsOf({ controller }: ReturnType<typeof startController>): readonly string[] {
  return (controller.status().warnings ?? []).map(({ reason }) => reason);
}

describe('a node on Azure with static-ip-tags', () => {
  test('gets an address of a prefix with the tags, by one update, shown in its status', async () => {
    const world = worldOf(1);
    const controller = startController(world);
    const machine = world.machine();
    await world.announce(machine, asks);
    await world.advance(20 * minute);

    expect(inAzure(world)).toEqual([[machine.instanceId, '203.0.113.8']]);
    expect(assigned(world, machine)).toBe('203.0.113.8');
    expect(world.pool(machine).size).toBe(8);
    // One for the addresses of pods, and one for this.
    expect(updatesOf(controller)).toBe(2);
    expect(controller.calls.filter(({ action }) => action === 'PublicIPPrefixes.List')).toHaveLength(1);
    expect(controller.warnings()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('keeps it under the next leader, which changes nothing', async () => {
    const world = worldOf(1);
    const former = startController(world);
    const machine = world.machine();
    await world.announce(machine, asks);
    await world.advance(10 * minute);
    const before = inAzure(world);

    const controller = takeOver(world, former);
    await world.advance(20 * minute);

    expect(inAzure(world)).toEqual(before);
    expect(assigned(world, machine)).toBe('203.0.113.8');
    expect(updatesOf(controller)).toBe(0);
    expect(controller.publications).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test.each([500, 3000, 20_000])(
    'gets one address although its leader dies %d ms after it asked, and the next one asks too',
    async (after) => {
      const world = worldOf(1);
      const former = startController(world);
      const machine = world.machine();
      await world.announce(machine);
      await world.advance(5 * minute);
      await world.patch(machine, asks);
      await world.advance(after);
      former.kill();

      const next = startController(world, { identity: 'headwater-1' });
      await world.advance(20 * minute);

      expect(inAzure(world)).toHaveLength(1);
      expect(assigned(world, machine)).toBe('203.0.113.8');
      expect(warningsOf(next)).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );

  test('is blocked once every prefix is used up, and gets an address once another node has left', async () => {
    const world = worldOf(3);
    const controller = startController(world, { flags: { 'resync-interval': '60s' } });
    for (const machine of world.machines) await world.announce(machine, asks);
    await world.advance(15 * minute);
    const served = world.machines.filter((machine) => assigned(world, machine) !== '');
    const left = world.machines.find((machine) => assigned(world, machine) === '');
    const during = { served: served.length, reasons: reasonsOf(controller), given: inAzure(world).length };

    const [first] = served;
    if (first === undefined || left === undefined) throw new Error('no node was served, or all were');
    void world.hand.send('DELETE', world.cluster.arm.cloud.machine(first.instanceId).path);
    await world.delete(first);
    await world.advance(40 * minute);

    expect(during).toEqual({ served: 2, reasons: ['StaticIpsTaken'], given: 2 });
    expect(assigned(world, left)).not.toBe('');
    expect([...reasonsOf(controller), ...warningsOf(controller)]).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is blocked if no prefix has its tags', async () => {
    const world = worldOf(1);
    const controller = startController(world);
    const machine = world.machine();
    await world.announce(machine, { spec: { ipam: { 'static-ip-tags': { pool: 'none' } } } });
    await world.advance(10 * minute);

    expect(reasonsOf(controller)).toEqual(['NoStaticIpMatches']);
    expect(world.pool(machine).size).toBe(8);
    expect(assigned(world, machine)).toBe('');
  });

  test('outside Uniform scale sets gets none, takes none from the others, and is told what to do instead', async () => {
    const machines = [{ name: 'single', interfaces: [{ name: 'nic0', subnet: 'pods' }] }];
    const publicIpPrefixes = [{ name: 'egress', block: '203.0.113.8/31', tags: { pool: 'egress' } }];
    const world = new AzureClusterWorld({ cloud: testAzure({ machines, publicIpPrefixes }) });
    const controller = startController(world);
    for (const machine of world.machines) await world.announce(machine, asks);
    await world.advance(10 * minute);

    const errors = world.machines
      .map((machine) => world.operatorError(machine))
      .filter((text) => text !== '');
    expect(reasonsOf(controller)).toEqual(['StaticIpNotAssociated']);
    expect(errors).toEqual([expect.stringContaining('associate one with the interface of this VM yourself')]);
    expect(inAzure(world)).toHaveLength(1);
    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([8, 8]);
    expect(world.broken()).toEqual([]);
  });

  test('gets one again after the late change of another client took it', async () => {
    const world = worldOf(1);
    const controller = startController(world, { flags: { 'resync-interval': '60s' } });
    const machine = world.machine();
    await world.announce(machine, asks);
    const { path } = world.cluster.arm.cloud.machine(machine.instanceId);
    const read = world.hand.send('GET', path);
    await world.advance(10 * minute);
    const had = inAzure(world);

    void world.hand.send('PUT', path, (await read).body);
    await world.advance(5000);
    const during = inAzure(world);
    await world.advance(20 * minute);

    expect([had.length, during.length]).toEqual([1, 0]);
    expect(inAzure(world)).toEqual([[machine.instanceId, assigned(world, machine)]]);
    expect(warningsOf(controller)).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('never waits with the addresses of its pods for longer than the one update', async () => {
    const world = worldOf(1);
    const controller = startController(world);
    await world.startAgents();
    const machine = world.machine();
    await world.advance(2 * minute);
    const before = updatesOf(controller);
    await world.patch(machine, asks);
    await world.advance(5000);
    world.addLivingPods(30);
    await world.advance(5 * minute);

    expect(world.waiting()).toEqual([]);
    expect(assigned(world, machine)).toBe('203.0.113.8');
    // No request met a change that was under way.
    expect(controller.calls.filter(({ result }) => result !== 'OK')).toEqual([]);
    expect(updatesOf(controller) - before).toBeLessThanOrEqual(1 + 2);
    expect(world.broken()).toEqual([]);
  });
});
