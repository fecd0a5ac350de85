import { describe, expect, test } from '@jest/globals';
import { assign } from '../../../src/simulator/cloud/assignments.ts';
import { nothing } from '../../../src/simulator/cloud/claims.ts';
import { numberAt, objectAt } from '../../../src/simulator/workload/json.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

/** Resolves once every process has acted on the events so far. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function worldOf(count: number): World {
  return new World({ cloud: testCloud({ instances: [instance({ count })] }) });
}

/** Two machines; a CiliumNode of the first is served and has `before`. */
async function oneOfTwoServed() {
  const world = worldOf(2);
  const [machine, other] = [world.machine(0), world.machine(1)];
  startController(world);
  await world.announce(machine);
  await world.advance(30_000);
  return { world, machine, other, before: world.held(machine) };
}

describe('a node', () => {
  test('keeps what it has when its agent is upgraded in place, and is served by its new demand', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    startController(world);
    void world.cluster.workload.start();
    await world.advance(60_000);
    const before = world.held(machine);

    void world.cluster.workload.changeAgent(machine.name, 'multi-pool');
    await world.advance(120_000);
    const load = { kind: 'burst', name: 'web', at: 0, pods: 10, over: 2000 } as const;
    void world.cluster.workload.run(load, new AbortController().signal);
    await world.advance(120_000);

    expect(world.held(machine)).toEqual(expect.arrayContaining([...before]));
    expect(world.held(machine)).toHaveLength(20);
    expect(world.cluster.workload.waits.count).toBe(10);
    expect(world.broken()).toEqual([]);
  });

  test('is offered what its instance has when its object is deleted and created again', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    const before = new Map(world.pool(machine));

    await world.delete(machine);
    await world.announce(machine);
    await world.advance(30_000);

    expect(world.pool(machine)).toEqual(before);
    expect(numberAt(world.ciliumNode(machine), 'spec', 'ipam', 'pre-allocate')).toBe(8);
    expect(controller.changes).toHaveLength(1);
    expect(world.broken()).toEqual([]);
  });

  test('leaves its addresses to others when its object is deleted in the middle of a write', async () => {
    const world = worldOf(2);
    const [machine, other] = [world.machine(0), world.machine(1)];
    let isDeleted = false;
    startController(world, {
      beforeAnswer: async ({ path }) => {
        if (isDeleted || !path.endsWith(`${machine.name}/status`) || world.held(machine).length === 0) return;
        isDeleted = true;
        await world.delete(machine);
        await settled();
      },
    });
    await world.announce(machine);
    await world.until('the object is deleted', () => isDeleted);
    const [address = ''] = world.held(machine);
    const [target] = world.interfaces(other);

    assign(world.cluster.ec2.network, target?.id ?? '', { ...nothing, addresses: [address] }, true);
    await world.advance(5000);
    await world.announce(other);
    await world.advance(60_000);

    expect([...world.pool(other).keys()]).toContain(address);
    expect(world.pool(other).size).toBe(8);
    expect(world.broken()).toEqual([]);
  });

  test('is offered what its instance has once it is back after a while', async () => {
    const world = worldOf(2);
    const machine = world.machine();
    const controller = startController(world);
    for (const each of world.machines) await world.announce(each);
    await world.advance(30_000);
    const before = [...world.pool(machine).keys()];

    await world.delete(machine);
    await world.advance(700_000);
    await world.announce(machine);
    await world.advance(30_000);

    expect([...world.pool(machine).keys()].toSorted()).toEqual(before.toSorted());
    expect(controller.changes).toHaveLength(2);
    expect(world.broken()).toEqual([]);
  });

  test('is offered nothing of its former instance when its name goes to another one', async () => {
    const { world, machine, other, before } = await oneOfTwoServed();

    await world.register({ ...machine, instanceId: other.instanceId });
    await world.patch(machine, { spec: { 'instance-id': other.instanceId } });
    await world.advance(30_000);

    const offered = [...world.pool(machine).keys()];
    expect(offered.toSorted()).toEqual(world.held(other).toSorted());
    expect(offered.filter((address) => before.includes(address))).toEqual([]);
    expect(Object.keys(world.enis(machine))).toEqual(world.interfaces(other).map(({ id }) => id));
    expect(world.held(machine)).toEqual(before);
    expect(world.broken()).toEqual([]);
  });

  test('is offered nothing of its former instance when its status is wiped at the moment its name goes to another one', async () => {
    const { world, machine, other, before } = await oneOfTwoServed();
    world.fault('DescribeNetworkInterfaces', { kind: 'slow', ms: 20_000 });

    await world.register({ ...machine, instanceId: other.instanceId });
    await world.patchStatus(machine, { eni: { enis: null } });
    await world.patch(machine, { spec: { 'instance-id': other.instanceId } });
    await world.advance(10_000);

    const offered = [...world.pool(machine).keys()];
    expect(offered.filter((address) => before.includes(address))).toEqual([]);
    expect(world.bugs).toEqual([]);
  });

  test('is named and not served while another node has its instance, and served afterwards', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const twin = { ...machine, name: 'twin' };
    const controller = startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    await world.announce(twin);
    await world.advance(30_000);
    const meanwhile = { offered: world.pool(twin).size, events: world.events('twin') };
    const status = controller.controller.status();

    await world.delete(machine);
    await world.advance(60_000);

    expect(meanwhile.offered).toBe(0);
    expect(meanwhile.events).toEqual(
      expect.arrayContaining([expect.stringMatching(/^CiliumNode DuplicateInstance: .* CiliumNode ip-/)]),
    );
    expect(status.inDeficit).toEqual([
      expect.objectContaining({ name: 'twin', reason: 'DuplicateInstance' }),
    ]);
    expect(world.pool(twin).size).toBe(8);
    expect(world.broken()).toEqual([]);
  });

  test('is served at startup, of two that name one instance, if it is the one with addresses', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const twin = { ...machine, name: 'a-twin' };
    const first = startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    first.stop();
    await world.advance(30_000);
    await world.announce(twin);

    startController(world, { identity: 'headwater-1' });
    await world.advance(60_000);

    expect(world.pool(machine).size).toBe(8);
    expect(world.pool(twin).size).toBe(0);
    expect(world.broken()).toEqual([]);
  });

  test('is served at startup, of two that name one instance, if its own Node has the primary address', async () => {
    const world = worldOf(1);
    const machine = { ...world.machine(), withoutProviderId: true };
    const twin = { ...machine, name: 'a-twin', primaryAddress: '192.0.2.10' };
    const first = startController(world);
    await world.announce(twin);
    await world.advance(30_000);
    await world.announce(machine);
    await world.advance(60_000);
    first.stop();
    await world.advance(30_000);
    const before = world.events(machine.name);

    startController(world, { identity: 'headwater-1' });
    await world.advance(60_000);

    expect(world.events(machine.name)).toEqual(before);
    expect(world.pool(machine).size).toBe(8);
  });

  test('is left as it is with the annotation to ignore it, and served once the annotation is gone', async () => {
    const world = worldOf(2);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, { metadata: { annotations: { 'ipam.cilium.io/ignore': 'True' } } });
    await world.announce(world.machine(1));
    await world.advance(60_000);
    const ignored = { offered: world.pool(machine).size, states: world.history.of(machine.name).length };

    await world.patch(machine, { metadata: { annotations: { 'ipam.cilium.io/ignore': null } } });
    await world.advance(30_000);
    const served = world.pool(machine).size;
    await world.patch(machine, { metadata: { annotations: { 'ipam.cilium.io/ignore': 'true' } } });
    await world.request(machine, 25);
    await world.advance(60_000);

    expect(ignored).toEqual({ offered: 0, states: 2 });
    expect(served).toBe(8);
    expect(world.pool(machine).size).toBe(8);
    expect(world.held(machine)).toHaveLength(8);
    expect(controller.warnings()).toEqual([]);
    expect(world.pool(world.machine(1)).size).toBe(8);
    expect(world.broken()).toEqual([]);
  });

  test('no longer counts as blocked while it is ignored', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, { spec: { eni: { 'vpc-id': null }, 'instance-id': null } });
    await world.advance(30_000);
    const before = controller.controller.status().nodes;

    await world.patch(machine, { metadata: { annotations: { 'ipam.cilium.io/ignore': 'true' } } });
    await world.advance(30_000);

    expect(before).toMatchObject({ total: 1, blocked: 1 });
    expect(controller.controller.status().nodes).toMatchObject({ total: 0, blocked: 0 });
  });

  test('is left as it is while it is being deleted', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, { metadata: { finalizers: ['example.com/wait'] } });
    await world.advance(30_000);
    const before = world.held(machine);

    await world.delete(machine);
    await world.patchStatus(machine, {
      ipam: { used: objectAt(world.ciliumNode(machine), 'spec', 'ipam', 'pool') },
    });
    await world.advance(60_000);

    expect(world.held(machine)).toEqual(before);
    expect([...world.pool(machine).keys()].toSorted()).toEqual(before.toSorted());
    expect(controller.warnings()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is served without waiting for the next listing when it is the first of another network', async () => {
    const cloud = testCloud({
      vpcs: [
        { name: 'main', blocks: ['10.0.0.0/16'] },
        { name: 'second', blocks: ['10.9.0.0/16'] },
      ],
      subnets: [
        { name: 'nodes', vpc: 'main', zone: 'us-east-1a', block: '10.0.0.0/24' },
        { name: 'others', vpc: 'second', zone: 'us-east-1a', block: '10.9.0.0/24' },
      ],
      routeTables: [],
      securityGroups: [],
      instances: [
        instance({ securityGroups: [] }),
        instance({ name: 'other', subnet: 'others', securityGroups: [] }),
      ],
    });
    const world = new World({ cloud });
    startController(world);
    await world.announce(world.machine(0));
    await world.advance(60_000);

    await world.announce(world.machine(1));
    await world.advance(20_000);

    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([8, 8]);
    expect(world.broken()).toEqual([]);
  });

  test('is served soon after it names the right network instead of a wrong one', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce({ ...machine, vpcId: 'vpc-00000000000000009' });
    await world.advance(60_000);
    const before = { offered: world.pool(machine).size, error: world.operatorError(machine) };

    await world.patch(machine, { spec: { eni: { 'vpc-id': machine.vpcId } } });
    await world.advance(20_000);

    expect(before.offered).toBe(0);
    expect(before.error).toContain('vpc-00000000000000009');
    expect(world.pool(machine).size).toBe(8);
    expect(world.operatorError(machine)).toBe('');
    // At the start, once more because the network may be new, and for the right one.
    expect(controller.calls.filter(({ action }) => action === 'DescribeVpcs').length).toBeLessThanOrEqual(3);
    expect(world.broken()).toEqual([]);
  });
});
