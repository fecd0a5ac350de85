import { describe, expect, test } from '@jest/globals';
import type { EniOptions } from '../../../src/simulator/workload/node-facts.ts';
import { objectAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { ids, instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

/** A world whose first machine needs a second interface. */
function worldWith(eni: EniOptions, cloud: Parameters<typeof testCloud>[0] = {}): World {
  return new World({ cloud: testCloud(cloud), configure: () => ({ eni, ipam: { preAllocate: 12 } }) });
}

const zones = [...Object.values(subnets), { name: 'far', zone: 'us-east-1b', block: '10.0.64.0/20' }];

describe('a choice of subnet', () => {
  test.each<{ what: string; eni: EniOptions; cloud?: Parameters<typeof testCloud>[0]; subnet: string }>([
    { what: 'the subnet of the node', eni: {}, subnet: ids.nodes },
    { what: 'a subnet named by id', eni: { subnetIds: [ids.morePods] }, subnet: ids.morePods },
    { what: 'the emptiest of those named', eni: { subnetIds: [ids.morePods, ids.pods] }, subnet: ids.pods },
    { what: 'a subnet with the tags', eni: { subnetTags: { more: 'yes' } }, subnet: ids.morePods },
    { what: 'the emptiest with the tags', eni: { subnetTags: { purpose: 'pods' } }, subnet: ids.pods },
    {
      what: 'the one named by id, whatever tags the node names',
      eni: { subnetIds: [ids.nodes], subnetTags: { purpose: 'pods' } },
      subnet: ids.nodes,
    },
    {
      what: 'the subnet of the node when no tags match',
      eni: { subnetTags: { purpose: 'none' } },
      subnet: ids.nodes,
    },
    {
      what: 'a subnet of the same route table when that of the node has too little',
      eni: {},
      cloud: {
        subnets: [{ ...subnets.nodes, block: '10.0.0.0/28' }, subnets.pods, subnets.morePods],
        routeTables: [{ name: 'private', subnets: ['nodes', 'more-pods'] }],
      },
      subnet: ids.morePods,
    },
    {
      what: 'any subnet of the zone when no route table helps',
      eni: {},
      cloud: {
        subnets: [{ ...subnets.nodes, block: '10.0.0.0/28' }, ...zones.slice(1)],
        routeTables: [],
      },
      subnet: ids.pods,
    },
  ])('takes $what', async ({ eni, cloud = {}, subnet }) => {
    const world = worldWith(eni, cloud);
    const machine = world.machine();
    startController(world);

    await world.announce(machine);
    await world.advance(30_000);

    expect(world.interfaces(machine).map(({ subnetId }) => subnetId)).toEqual([ids.nodes, subnet]);
    expect(world.pool(machine).size).toBe(12);
    expect(world.broken()).toEqual([]);
  });
});

describe('a choice of security groups', () => {
  test.each<{ what: string; eni: EniOptions; groups: readonly string[] }>([
    { what: 'those of the first interface', eni: {}, groups: [ids.nodeGroup] },
    { what: 'those named by id', eni: { securityGroups: [ids.podGroup] }, groups: [ids.podGroup] },
    { what: 'those with the tags', eni: { securityGroupTags: { purpose: 'pods' } }, groups: [ids.podGroup] },
    {
      what: 'those named by id, whatever tags the node names',
      eni: { securityGroups: [ids.nodeGroup], securityGroupTags: { purpose: 'pods' } },
      groups: [ids.nodeGroup],
    },
  ])('takes $what', async ({ eni, groups }) => {
    const world = worldWith(eni);
    const machine = world.machine();
    startController(world);

    await world.announce(machine);
    await world.advance(30_000);

    const [, second] = world.interfaces(machine);
    expect(second?.groupIds).toEqual(groups);
    expect(textsAt(objectAt(world.enis(machine), second?.id ?? ''), 'security-groups')).toEqual(groups);
  });

  test('leaves a node without a new interface while no group has the tags, and the node says so, until its tags match', async () => {
    const world = worldWith({ securityGroupTags: { purpose: 'other' } });
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.advance(60_000);
    const before = { interfaces: world.interfaces(machine).length, error: world.operatorError(machine) };

    await world.patch(machine, { spec: { eni: { 'security-group-tags': { purpose: 'pods' } } } });
    await world.advance(30_000);

    expect(before.interfaces).toBe(1);
    expect(before.error).toContain('no security group');
    expect(before.error).toContain('purpose=other');
    expect(world.interfaces(machine)).toHaveLength(2);
    expect(world.operatorError(machine)).toBe('');
    expect(controller.warnings()).toEqual(['node cannot be satisfied']);
  });

  test('concerns only nodes that need a new interface when its tags match nothing', async () => {
    const world = new World({
      configure: () => ({ eni: { securityGroupTags: { purpose: 'other' } }, ipam: { preAllocate: 9 } }),
    });
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    const before = { pool: world.pool(machine).size, error: world.operatorError(machine) };

    await world.request(machine, 12);
    await world.advance(60_000);

    expect(before).toEqual({ pool: 9, error: '' });
    expect(world.pool(machine).size).toBe(9);
    expect(world.interfaces(machine)).toHaveLength(1);
    expect(world.events(machine.name)).toContainEqual(
      expect.stringMatching(/^CiliumNode NoSecurityGroupMatches: .*purpose=other: tag one, or correct/),
    );
    expect(controller.changes.map(({ action }) => action)).toEqual(['AssignPrivateIpAddresses']);
    expect(world.broken()).toEqual([]);
  });

  test('comes with tags and a description that identify the interface', async () => {
    const world = worldWith({});
    const machine = world.machine();
    const flags = { 'cluster-name': 'blue', 'eni-tags': 'team=net' };
    startController(world, { flags });

    await world.announce(machine);
    await world.advance(30_000);

    expect(world.interfaces(machine)[1]).toMatchObject({
      description: `Cilium-CNI (${machine.instanceId})`,
      tags: { 'io.cilium/cilium-managed': 'true', 'io.cilium/cluster-name': 'blue', team: 'net' },
    });
  });
});

describe('delete-on-termination', () => {
  test.each<{ what: string; eni: EniOptions; set: boolean }>([
    { what: 'is set once on each interface that Headwater creates', eni: {}, set: true },
    { what: 'is not set when the node turns it off', eni: { deleteOnTermination: false }, set: false },
  ])('$what', async ({ eni, set }) => {
    const world = new World({ configure: () => ({ eni, ipam: { minAllocate: 27 } }) });
    const machine = world.machine();
    const controller = startController(world);

    await world.announce(machine);
    await world.advance(1_300_000);

    const created = world.interfaces(machine).slice(1);
    const modified = controller.calls.filter(({ action }) => action === 'ModifyNetworkInterfaceAttribute');
    expect(created.map(({ attachment }) => attachment?.deleteOnTermination)).toEqual([set, set]);
    expect(modified.map(({ input }) => textAt(input, 'NetworkInterfaceId')).toSorted()).toEqual(
      set ? created.map(({ id }) => id).toSorted() : [],
    );
  });

  test('stays as it is on interfaces that other clients attached', async () => {
    const interfaces = [{ deviceIndex: 1, deleteOnTermination: false, addresses: 2 }];
    const world = new World({ cloud: testCloud({ instances: [instance({ interfaces })] }) });
    const machine = world.machine();
    const controller = startController(world);

    await world.announce(machine);
    await world.advance(60_000);

    expect(world.pool(machine).size).toBe(8);
    expect(controller.changes.map(({ action }) => action)).toEqual(['AssignPrivateIpAddresses']);
  });
});

describe('an interface that carries no pods is still published and counted when it', () => {
  test.each<{ what: string; type?: string; traits: object; eni?: EniOptions; why: string }>([
    { what: 'is an EFA', type: 'm5n.24xlarge', traits: { type: 'efa' }, why: 'efa' },
    { what: 'is a trunk', traits: { type: 'trunk' }, why: 'trunk' },
    { what: 'another service manages', traits: { requesterManaged: true }, why: 'requester-managed' },
    {
      what: 'has the tags that exclude it',
      traits: { tags: { role: 'storage', more: 'yes' } },
      eni: { excludeInterfaceTags: { role: 'storage' } },
      why: 'exclude-interface-tags',
    },
    {
      what: 'is on another network card',
      type: 'c6in.32xlarge',
      traits: { cardIndex: 1 },
      why: 'network card 1',
    },
  ])('$what', async ({ type = 'm5.large', traits, eni = {}, why }) => {
    const interfaces = [{ deviceIndex: 1, addresses: 3, ...traits }];
    const world = new World({
      cloud: testCloud({ instances: [instance({ type, interfaces })] }),
      configure: () => ({ eni, ipam: { preAllocate: 60 } }),
    });
    const machine = world.machine();
    const controller = startController(world, { flags: { 'resync-interval': '60s' } });

    await world.announce(machine);
    await world.advance(300_000);

    const [first, second, third] = world.interfaces(machine);
    const carrying = new Set(world.pool(machine).values());
    expect(Object.keys(world.enis(machine)).toSorted()).toEqual(
      world
        .interfaces(machine)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(second?.addresses).toHaveLength(4);
    expect(carrying).toEqual(new Set([first?.id, third?.id]));
    const shown = textsAt(objectAt(world.enis(machine), second?.id ?? ''), 'addresses');
    expect(shown).toEqual([]);
    expect(controller.controller.status().excluded).toEqual([
      { node: machine.name, interface: second?.id, deviceIndex: 1, why: expect.stringContaining(why) },
    ]);
    expect(
      controller.logged.filter(({ message }) => message === 'interfaces of a node carry no pods'),
    ).toEqual([expect.objectContaining({ level: 'info' })]);
    expect(world.events(machine.name).filter((event) => !event.includes('NoInterfaceSlots'))).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is below first-interface-index', async () => {
    const world = new World({
      configure: () => ({ eni: { firstInterfaceIndex: 2 }, ipam: { minAllocate: 9 } }),
    });
    const machine = world.machine();
    const controller = startController(world);

    await world.announce(machine);
    await world.advance(60_000);

    expect(controller.controller.status().excluded).toEqual([
      expect.objectContaining({
        deviceIndex: 0,
        why: 'device index 0 is below first-interface-index 2',
      }),
    ]);
    expect(
      world.interfaces(machine).map(({ deviceIndex, addresses }) => [deviceIndex, addresses.length]),
    ).toEqual([
      [0, 1],
      [2, 10],
    ]);
    expect(world.pool(machine).size).toBe(9);
  });
});
