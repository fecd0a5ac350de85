import { describe, expect, test } from '@jest/globals';
import { plainInterface } from '../../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../../src/simulator/cloud/network-interfaces.ts';
import { allocateAddress, associate, disassociate } from '../../../src/simulator/cloud/public-addresses.ts';
import type { PublicAddress } from '../../../src/simulator/cloud/records.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { type JsonObject, objectAt, textAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const tags = { pool: 'egress' };
const ipam = { 'static-ip-tags': tags };

function worldOf(nodes: number, addresses: number): World {
  const publicAddresses = [
    { count: 1, tags: { pool: 'other' } },
    ...(addresses > 0 ? [{ count: addresses, tags: { ...tags, more: 'yes' } }] : []),
  ];
  return new World({ cloud: testCloud({ instances: [instance({ count: nodes })], publicAddresses }) });
}

function publicAddresses(world: World): readonly PublicAddress[] {
  const all = [...world.cluster.ec2.network.all('publicAddresses').values()];
  return all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The public address of the instance in the cloud. */
function publicAddressOf(world: World, machine: NodeFacts): string | undefined {
  const [first] = world.interfaces(machine);
  return publicAddresses(world).find(({ association }) => association?.interfaceId === first?.id)?.address;
}

function assigned(world: World, machine: NodeFacts): string {
  return textAt(world.ciliumNode(machine), 'status', 'ipam', 'assigned-static-ip');
}

function count(controller: WorldController, action: string): number {
  return controller.calls.filter((call) => call.action === action).length;
}

/** An interface of another client. */
async function othersInterface(world: World): Promise<string> {
  const { network } = world.cluster.ec2;
  const { id } = createInterface(network, plainInterface(ids.nodes, []));
  // Until the cloud shows it.
  await world.advance(1000);
  return id;
}

async function served(
  world: World,
  setup: Parameters<typeof startController>[1] = {},
): Promise<WorldController> {
  const controller = startController(world, { flags: { 'resync-interval': '60s' }, ...setup });
  for (const machine of world.machines) await world.announce(machine, { spec: { ipam } });
  await world.advance(60_000);
  return controller;
}

describe('a node with static-ip-tags', () => {
  test('gets no static address while no Node names its instance, and gets one once a Node does', async () => {
    const world = worldOf(2, 2);
    const [machine, other] = world.machines as [NodeFacts, NodeFacts];
    // Nodes are known, but none is of this name.
    await world.register(other);
    const controller = startController(world, { flags: { 'resync-interval': '60s' } });
    await world.announceAlone(machine, { spec: { ipam } });
    await world.advance(300_000);
    const before = publicAddressOf(world, machine);
    const { unverified } = controller.controller.status();

    await world.register(machine);
    await world.advance(60_000);

    expect(before).toBeUndefined();
    expect(JSON.stringify(unverified)).toContain(machine.name);
    expect(publicAddressOf(world, machine)).toBeDefined();
  });

  test('gets a free one with the tags, shown on its interface and in its status', async () => {
    const world = worldOf(1, 2);
    const machine = world.machine();

    const controller = await served(world);
    await world.advance(600_000);

    const [first] = world.interfaces(machine);
    const address = publicAddressOf(world, machine) ?? '';
    expect(publicAddresses(world).find((each) => each.address === address)?.tags).toMatchObject(tags);
    expect(assigned(world, machine)).toBe(address);
    expect(textAt(objectAt(world.enis(machine), first?.id ?? ''), 'public-ip')).toBe(address);
    expect(world.pool(machine).size).toBe(8);
    expect([count(controller, 'DescribeAddresses'), count(controller, 'AssociateAddress')]).toEqual([1, 1]);
    expect(controller.calls.find(({ action }) => action === 'AssociateAddress')?.input).toMatchObject({
      AllowReassociation: false,
    });
    expect(controller.warnings()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('keeps the one that it has', async () => {
    const world = worldOf(1, 2);
    const machine = world.machine();
    const { network } = world.cluster.ec2;
    const other = allocateAddress(network, { tags: {} });
    await world.advance(1000);
    const [first] = world.interfaces(machine);
    associate(network, { id: other.id, interfaceId: first?.id ?? '', reassociate: false });
    await world.advance(60_000);

    const controller = await served(world);

    expect(assigned(world, machine)).toBe(other.address);
    expect(count(controller, 'DescribeAddresses') + count(controller, 'AssociateAddress')).toBe(0);
  });

  test('gets one on its primary interface even when pods may not use that interface', async () => {
    const world = worldOf(1, 1);
    const machine = world.machine();
    startController(world);
    await world.announce(machine, { spec: { eni: { 'first-interface-index': 1 }, ipam } });
    await world.advance(60_000);

    expect(assigned(world, machine)).toBe(publicAddressOf(world, machine));
    expect(world.pool(machine).size).toBe(8);
  });

  test('does not show it when the schema has no field for it', async () => {
    const world = worldOf(1, 1);
    const machine = world.machine();
    const schema = JSON.parse(
      JSON.stringify(ciliumNodeCrd.spec.versions[0]?.schema.openAPIV3Schema),
    ) as JsonObject;
    delete (
      objectAt(schema, 'properties', 'status', 'properties', 'ipam', 'properties') as Record<string, unknown>
    )['assigned-static-ip'];
    await world.installSchema(schema);

    const controller = await served(world);
    const before = controller.publications.length;
    await world.advance(600_000);

    expect(publicAddressOf(world, machine)).toBeDefined();
    expect(assigned(world, machine)).toBe('');
    expect(controller.publications).toHaveLength(before);
    expect(controller.warnings()).toEqual([]);
  });

  test('gets another one when its own is taken from it', async () => {
    const world = worldOf(1, 2);
    const machine = world.machine();
    await served(world);
    const { network } = world.cluster.ec2;
    const before = publicAddressOf(world, machine);
    const { id, association } = publicAddresses(world).find(({ address }) => address === before) ?? {};
    const [, other] = world.machines;

    disassociate(network, association?.id ?? '');
    network.put('publicAddresses', { id: id ?? '', address: before ?? '', tags: {} });
    await world.until('it has another', () => publicAddressOf(world, machine) !== undefined, 400_000);
    await world.advance(10_000);

    expect(other).toBeUndefined();
    expect(publicAddressOf(world, machine)).not.toBe(before);
    expect(assigned(world, machine)).toBe(publicAddressOf(world, machine));
    expect(world.broken()).toEqual([]);
  });
});

describe('a node that cannot get its static address', () => {
  test.each([
    {
      what: 'no address carries the tags',
      addresses: 0,
      reason: 'NoStaticIpMatches',
      says: /no Elastic IP .* pool=egress: tag one/,
    },
    {
      what: 'none is free',
      addresses: 1,
      reason: 'StaticIpsTaken',
      says: /every Elastic IP .* pool=egress .* allocate and tag/,
    },
  ])('gets its pod addresses, says so once, and tries more and more rarely when $what', async (row) => {
    const world = worldOf(1, row.addresses);
    const machine = world.machine();
    const { network } = world.cluster.ec2;
    const [taken] = publicAddresses(world).filter(({ tags: { pool } }) => pool === 'egress');
    if (taken !== undefined) {
      const interfaceId = await othersInterface(world);
      associate(network, { id: taken.id, interfaceId, reassociate: false });
    }

    const controller = await served(world);
    const early = { pool: world.pool(machine).size, events: world.events(machine.name) };
    await world.advance(2 * 3_600_000);
    const asked = count(controller, 'DescribeAddresses');
    allocateAddress(network, { tags });
    await world.advance(700_000);

    expect(early.pool).toBe(8);
    expect(early.events).toEqual([
      expect.stringContaining(`Node ${row.reason}: `),
      expect.stringMatching(row.says),
    ]);
    expect(world.operatorError(machine)).toBe('');
    expect(controller.controller.status().warnings).toEqual([]);
    expect(asked).toBeGreaterThan(10);
    expect(asked).toBeLessThan(30);
    expect(controller.warnings()).toHaveLength(1);
    expect(assigned(world, machine)).toBe(publicAddressOf(world, machine));
    expect(assigned(world, machine)).not.toBe('');
    expect(world.broken()).toEqual([]);
  });

  test('says so, and serves its pods, when Headwater may not associate it', async () => {
    const world = worldOf(1, 1);
    const machine = world.machine();
    const restore = world.fault('AssociateAddress', {
      kind: 'error',
      code: 'UnauthorizedOperation',
      status: 403,
      message: 'You are not authorized to perform this operation.',
    });

    const controller = await served(world);
    const { reasons } = controller.controller.status();
    const error = world.operatorError(machine);
    const early = world.pool(machine).size;
    restore();
    await world.advance(400_000);

    expect(early).toBe(8);
    expect(reasons).toEqual({ StaticIpNotAssociated: 1 });
    expect(error).toContain("Headwater's role");
    expect(world.operatorError(machine)).toBe('');
    expect(assigned(world, machine)).toBe(publicAddressOf(world, machine));
    expect(world.broken()).toEqual([]);
  });
});

test('a node whose agent runs without its static address has a warning, and is not blocked', async () => {
  const world = worldOf(1, 0);
  const machine = world.machine();
  const controller = startController(world);
  await world.announce(machine);
  await world.advance(60_000);
  await world.use(machine, 2);

  await world.patch(machine, { spec: { ipam } });
  await world.advance(60_000);

  const { reasons, warnings } = controller.controller.status();
  expect(reasons).toEqual({});
  expect(warnings).toEqual([expect.objectContaining({ reason: 'NoStaticIpMatches' })]);
});

test('a static address that an agent waits for comes while the node still lacks addresses', async () => {
  const world = worldOf(1, 1);
  const machine = world.machine();
  world.fault('AssignPrivateIpAddresses', { kind: 'throttle' });

  startController(world);
  await world.announce(machine, { spec: { ipam } });
  await world.advance(10_000);

  expect(publicAddressOf(world, machine)).toBeDefined();
});

describe('many nodes with the same static-ip-tags', () => {
  test('share listings, and get one static address each', async () => {
    const world = worldOf(30, 40);

    const controller = await served(world);

    const given = world.machines.map((machine) => publicAddressOf(world, machine));
    expect(new Set(given).size).toBe(30);
    expect(given).not.toContain(undefined);
    expect(world.machines.map((machine) => assigned(world, machine))).toEqual(given);
    expect(count(controller, 'DescribeAddresses')).toBeLessThanOrEqual(3);
    expect(count(controller, 'AssociateAddress')).toBe(30);
    expect(world.broken()).toEqual([]);
  });

  test('get one each as far as there are addresses, and the others say so', async () => {
    const world = worldOf(20, 12);

    const controller = await served(world);
    await world.advance(600_000);

    const given = world.machines.map((machine) => publicAddressOf(world, machine));
    const without = world.machines.filter((_, index) => given[index] === undefined);
    expect(without).toHaveLength(8);
    const blocked = world.machines.filter((machine) => world.operatorError(machine) !== '');
    expect(blocked).toEqual(without);
    expect(controller.controller.status().reasons).toEqual({ StaticIpsTaken: 8 });
    expect(count(controller, 'AssociateAddress')).toBe(12);
    expect(count(controller, 'DescribeAddresses')).toBeLessThan(10);
    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual(world.machines.map(() => 8));
    expect(world.broken()).toEqual([]);
  });

  test('get the next address when they lose a race with another client', async () => {
    const world = worldOf(1, 3);
    const machine = world.machine();
    const { network } = world.cluster.ec2;
    Object.assign(network, {
      consistency: { ...network.consistency, listingLagMs: { min: 10_000, max: 10_000 } },
    });
    const theirs = await othersInterface(world);
    const [first] = publicAddresses(world).filter(({ tags: { pool } }) => pool === 'egress');

    const controller = startController(world);
    await world.announce(machine, { spec: { ipam } });
    await world.until('addresses are listed', () => count(controller, 'DescribeAddresses') > 0);
    associate(network, { id: first?.id ?? '', interfaceId: theirs, reassociate: false });
    await world.advance(60_000);

    const results = controller.calls
      .filter(({ action }) => action === 'AssociateAddress')
      .map(({ result }) => result);
    expect(results).toEqual(['Resource.AlreadyAssociated', 'OK']);
    expect(count(controller, 'DescribeAddresses')).toBe(1);
    expect(assigned(world, machine)).toBe(publicAddressOf(world, machine));
    expect(controller.warnings()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('an association whose answer gets lost', () => {
  test.each([
    { what: 'after it takes effect', effect: 'before' },
    { what: 'and that never takes effect', effect: 'after' },
    { what: 'and that takes effect late', effect: 'late' },
  ] as const)('$what leaves the node with one address', async ({ effect }) => {
    const world = worldOf(1, 3);
    const machine = world.machine();
    world.fault('AssociateAddress', { kind: 'lost', effect, connection: 'hang', delayMs: 15_000 }, 1);

    const controller = await served(world);
    await world.advance(600_000);

    const ours = publicAddresses(world).filter(({ association }) => association !== undefined);
    const asked = new Set(
      controller.calls
        .filter(({ action }) => action === 'AssociateAddress')
        .map(({ input }) => textAt(input, 'AllocationId')),
    );
    expect(ours).toHaveLength(1);
    expect(asked.size).toBe(1);
    expect(assigned(world, machine)).toBe(publicAddressOf(world, machine));
    expect(world.broken()).toEqual([]);
  });

  test('is not followed by another after the controller dies', async () => {
    const world = worldOf(1, 3);
    const machine = world.machine();
    const { network } = world.cluster.ec2;
    Object.assign(network, {
      consistency: { ...network.consistency, listingLagMs: { min: 25_000, max: 25_000 } },
    });
    const first = startController(world);
    await world.announce(machine, { spec: { ipam } });
    await world.until('it has one', () => publicAddressOf(world, machine) !== undefined);
    const before = publicAddressOf(world, machine);
    first.kill();

    startController(world, { identity: 'headwater-1' });
    await world.advance(300_000);

    expect(publicAddressOf(world, machine)).toBe(before);
    expect(assigned(world, machine)).toBe(before);
    expect(world.broken()).toEqual([]);
  });
});

test('listings that lag never withdraw a static address', async () => {
  const world = worldOf(1, 3);
  const machine = world.machine();
  const { network } = world.cluster.ec2;
  Object.assign(network, { consistency: { ...network.consistency, listingLagMs: { min: 0, max: 29_000 } } });
  await world.advance(60_000);

  const controller = await served(world);
  await world.until('it is assigned', () => assigned(world, machine) !== '');
  const from = world.history.of(machine.name).length;
  await world.advance(900_000);

  const later = world.history.of(machine.name).slice(from);
  const reported = later.map(({ object }) => textAt(object, 'status', 'ipam', 'assigned-static-ip'));
  expect(reported.filter((address) => address === '')).toEqual([]);
  expect(assigned(world, machine)).toBe(publicAddressOf(world, machine));
  expect(count(controller, 'AssociateAddress')).toBe(1);
});
