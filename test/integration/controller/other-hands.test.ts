import { describe, expect, test } from '@jest/globals';
import { attach, detach } from '../../../src/simulator/cloud/attachments.ts';
import { plainInterface, stop, start, terminate } from '../../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../../src/simulator/cloud/network-interfaces.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { ids, instance, subnets, testBlock, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

/** Another client attaches an interface of its own. */
function attachUnmarked(world: World, { instanceId }: NodeFacts, deviceIndex: number): string {
  const { network } = world.cluster.ec2;
  const { id } = createInterface(network, plainInterface(ids.nodes, [ids.nodeGroup]));
  attach(network, { interfaceId: id, instanceId, deviceIndex, cardIndex: 0 });
  return id;
}

function at(fields: object): ReturnType<typeof testCloud> {
  return testCloud({ ...fields, consistency: { visibilityDelayMs: 0, listingLagMs: 0 } });
}

describe('a person or client with the same account', () => {
  test('attaches an interface where the next one was to go: Headwater uses the next device index', async () => {
    const world = new World({ cloud: at({ instances: [instance({ type: 'm5.xlarge' })] }) });
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    const theirs = attachUnmarked(world, machine, 1);

    await world.request(machine, 20);
    await world.advance(60_000);

    expect(world.interfaces(machine).map(({ id, deviceIndex }) => [deviceIndex, id === theirs])).toEqual([
      [0, false],
      [1, true],
      [2, false],
    ]);
    expect(world.pool(machine).size).toBe(20);
    expect(Object.keys(world.enis(machine))).toHaveLength(3);
    expect(controller.calls.filter(({ action }) => action === 'DeleteNetworkInterface')).toEqual([]);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('attaches as many interfaces as the instance takes: the new one is deleted, and the node says why', async () => {
    const world = new World({ cloud: at({}) });
    const machine = world.machine();
    startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    attachUnmarked(world, machine, 1);
    attachUnmarked(world, machine, 2);

    await world.request(machine, 20);
    await world.advance(60_000);

    // The two interfaces of the other client carry pods as any other one does.
    expect(world.interfaces(machine)).toHaveLength(3);
    expect(world.pool(machine).size).toBe(20);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('detaches an interface whose slot the node needs, which takes long: the node says so once, with one remedy', async () => {
    const world = new World({ cloud: at({ times: { detachMs: 1_800_000 } }) });
    const machine = world.machine();
    const { controller } = startController(world);
    await world.announce(machine);
    await world.request(machine, 24);
    await world.advance(60_000);
    const last = world.interfaces(machine).at(-1);
    const { network } = world.cluster.ec2;
    detach(network, last?.attachment?.id ?? '');
    // It is read by then.
    await world.advance(600_000);
    await world.request(machine, 26);

    await world.advance(900_000);

    expect(world.operatorError(machine)).toMatch(
      new RegExp(`^wait until ${last?.id} is detached, or detach it by force`),
    );
    expect(controller.node(machine.name)).toMatchObject({ reason: 'InterfaceChanging' });
    expect(controller.status().warnings).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('stops and starts the instance: it keeps what it has and is served again', async () => {
    const world = new World();
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    const before = [...world.pool(machine).keys()];
    const { network } = world.cluster.ec2;

    stop(network, [machine.instanceId]);
    await world.request(machine, 20);
    await world.advance(5000);
    const stopping = controller.calls.filter(({ result }) => result === 'IncorrectState').length;
    await world.advance(60_000);
    start(network, [machine.instanceId]);
    await world.advance(180_000);

    expect(stopping).toBeLessThanOrEqual(2);
    expect([...world.pool(machine).keys()]).toEqual(expect.arrayContaining(before));
    expect(world.pool(machine).size).toBe(20);
    expect(world.operatorError(machine)).toBe('');
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('terminates the instance: nothing more is requested for it, and the node says why', async () => {
    const world = new World({ cloud: at({ instances: [instance({ count: 2 })] }) });
    const machine = world.machine();
    const controller = startController(world, { flags: { 'resync-interval': '30s' } });
    for (const each of world.machines) await world.announce(each);
    await world.advance(20_000);
    terminate(world.cluster.ec2.network, [machine.instanceId]);
    await world.advance(120_000);
    const changes = controller.changes.length;

    await world.request(machine, 20);
    await world.advance(300_000);

    expect(controller.changes).toHaveLength(changes);
    expect(world.pool(machine).size).toBe(0);
    expect(world.operatorError(machine)).toContain(`instance ${machine.instanceId} is terminated`);
    expect(world.pool(world.machine(1)).size).toBe(8);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('selects instances by tags: the others are reported, and stay as they are', async () => {
    const tags = { role: 'worker' };
    const world = new World({ cloud: at({ instances: [instance({ tags }), instance({ name: 'other' })] }) });
    const controller = startController(world, { flags: { 'instance-tags-filter': 'role=worker' } });
    const [machine, other] = [world.machine(0), world.machine(1)];

    for (const each of world.machines) await world.announce(each);
    await world.advance(60_000);

    expect(world.pool(machine).size).toBe(8);
    expect(world.held(other)).toEqual([]);
    const [announced, , ...later] = world.history.of(other.name).map(({ object }) => object);
    const error = `instance ${other.instanceId} does not carry the tags of --instance-tags-filter`;
    expect(world.operatorError(other)).toBe(error);
    expect(world.ciliumNode(other)?.['spec']).toEqual(announced?.['spec']);
    expect(later).toEqual([]);

    // Headwater does not overwrite an operator that serves it instead.
    await world.patchStatus(other, { ipam: { 'operator-status': null } });
    await world.advance(600_000);
    expect(world.operatorError(other)).toBe('');
    expect(controller.controller.status().inDeficit).toEqual([
      expect.objectContaining({ name: other.name, reason: 'InstanceNotManaged' }),
    ]);
    expect(world.broken()).toEqual([]);
  });

  test('restricts Headwater to one network: a node of another network is reported, and stays as it is', async () => {
    const outside = 'vpc-00000000000000009';
    const network = at({
      vpcs: [
        { name: 'main', id: ids.vpc, blocks: [testBlock] },
        { name: 'outside', id: outside, blocks: ['10.9.0.0/16'] },
      ],
      subnets: [
        ...Object.values(subnets).map((subnet) => ({ ...subnet, vpc: 'main' })),
        { name: 'outside', zone: 'us-east-1a', vpc: 'outside', block: '10.9.0.0/24' },
      ],
      routeTables: [],
      securityGroups: [],
      instances: [
        instance({ securityGroups: [] }),
        instance({ name: 'other', subnet: 'outside', securityGroups: [] }),
      ],
    });
    const world = new World({ cloud: network });
    const controller = startController(world, { flags: { 'vpc-id': ids.vpc } });
    const [machine, other] = [world.machine(0), world.machine(1)];

    await world.announce(machine);
    await world.announce(other);
    await world.advance(300_000);
    await world.request(other, 20);
    await world.advance(290_000);

    expect(world.pool(machine).size).toBe(8);
    expect(world.held(other)).toEqual([]);
    expect(controller.controller.status().inDeficit).toEqual([
      expect.objectContaining({ name: other.name, reason: 'OutsideNetwork' }),
    ]);
    expect(controller.calls.filter(({ action }) => action === 'DescribeVpcs')).toHaveLength(1);
    expect(world.broken()).toEqual([]);
  });
});
