import { describe, expect, test } from '@jest/globals';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import { ids, instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

type Shown = Record<string, unknown>;

/** Changes each interface in the answers of EC2. */
function showing(change: (shown: Shown) => Shown) {
  return (action: string, output: object): object => {
    const { NetworkInterfaces: list } = output as { NetworkInterfaces?: readonly Shown[] };
    if (action !== 'DescribeNetworkInterfaces' || list === undefined) return output;
    return { ...output, NetworkInterfaces: list.map(change) };
  };
}

function deviceIndexOf({ Attachment }: Shown): unknown {
  return (Attachment as { DeviceIndex?: number } | undefined)?.DeviceIndex;
}

describe('one node of a fleet', () => {
  test('costs calls and writes of its own only when it changes, however large the fleet', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 25 })] }) });
    const controller = startController(world);
    for (const machine of world.machines) await world.announce(machine);
    await world.until('all are served', () => world.machines.every((each) => world.pool(each).size === 8));
    await world.advance(30_000);
    const machine = world.machine(7);
    const before = { calls: controller.calls.length, writes: controller.publications.length };

    await world.request(machine, 9);
    await world.advance(20_000);

    expect(world.pool(machine).size).toBe(9);
    expect(controller.calls.slice(before.calls).map(({ action }) => action)).toEqual([
      'AssignPrivateIpAddresses',
    ]);
    const written = controller.publications.slice(before.writes).map(({ path }) => path);
    expect(written.length).toBeLessThanOrEqual(2);
    expect(written.filter((path) => !path.includes(machine.name))).toEqual([]);
  });

  test.each([
    ['on its first interface', 0],
    ['on a new one', 1],
  ])('is written twice when it joins and gets its addresses %s', async (_, firstInterfaceIndex) => {
    const world = new World({ cloud: testCloud({ instances: [instance()] }) });
    const controller = startController(world);
    const machine = world.machine();

    await world.announce(machine, { spec: { eni: { 'first-interface-index': firstInterfaceIndex } } });
    await world.advance(120_000);

    expect(world.pool(machine).size).toBe(8);
    const path = `/apis/cilium.io/v2/ciliumnodes/${machine.name}`;
    expect(controller.publications.map((write) => write.path)).toEqual([`${path}/status`, path]);
  });

  test('does not delay other nodes when its instance cannot be read', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 3 })] }) });
    const controller = startController(world);
    await world.announce(world.machine(0));
    await world.announce(world.machine(1));
    await world.advance(30_000);
    const ends = ['DescribeNetworkInterfaces', 'DescribeInstances'].map((action) =>
      world.fault(action, { kind: 'error', code: 'InvalidInstanceID.NotFound', status: 400, message: 'odd' }),
    );

    await world.announce(world.machine(2));
    await world.request(world.machine(0), 9);
    await world.advance(15_000);
    const during = world.machines.map((machine) => world.pool(machine).size);
    for (const end of ends) end();
    await world.advance(120_000);

    expect(during).toEqual([9, 8, 0]);
    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([9, 8, 8]);
    expect(controller.controller.state).toBe('leading');
    expect(world.broken()).toEqual([]);
  });

  test.each<{ what: string; change: Shown; isUsual?: boolean }>([
    {
      what: 'has only IPv6 addresses',
      isUsual: true,
      change: {
        PrivateIpAddress: undefined,
        PrivateIpAddresses: [],
        Ipv6Addresses: [{ Ipv6Address: 'fd00::1' }],
      },
    },
    {
      what: 'has a malformed address',
      change: { PrivateIpAddresses: [{ PrivateIpAddress: '10.0.0.999' }] },
    },
    { what: 'is in an unknown state', change: { Attachment: { Status: 'odd' } } },
  ])('is served, as the other nodes are, when its interface $what', async ({ change, isUsual = false }) => {
    const interfaces = [{ deviceIndex: 1, addresses: 3 }];
    const world = new World({
      cloud: testCloud({ instances: [instance({ interfaces }), instance({ name: 'other' })] }),
      configure: () => ({ ipam: { preAllocate: 12 } }),
    });
    const spoil = (shown: Shown): Shown => {
      if (deviceIndexOf(shown) !== 1) return shown;
      const { Attachment: attachment, ...rest } = change;
      const { Attachment: own } = shown;
      return {
        ...shown,
        ...rest,
        Attachment: { ...(own as object), ...(attachment as object | undefined) },
      };
    };
    const [machine, other] = [world.machine(0), world.machine(1)];
    const instanceId = machine.instanceId;
    const isOurs = ({ Attachment }: Shown): boolean =>
      textAt(Attachment as JsonObject, 'InstanceId') === instanceId;
    const controller = startController(world, {
      tamper: showing((shown) => (isOurs(shown) ? spoil(shown) : shown)),
      flags: { 'resync-interval': '30s' },
    });

    for (const each of world.machines) await world.announce(each);
    await world.advance(120_000);

    // Its slot counts as taken: the new interface is the third.
    expect(world.interfaces(machine).map(({ deviceIndex }) => deviceIndex)).toEqual([0, 1, 2]);
    expect([machine, other].map((each) => world.pool(each).size)).toEqual([12, 12]);
    expect(controller.warnings()).toEqual(isUsual ? [] : ['node has warnings']);
    expect(controller.changes.filter(({ result }) => result !== 'OK')).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('causes no log line for 32 EFAs without IP, and each EFA takes a slot of its own card', async () => {
    const efas = Array.from({ length: 32 }, (_, cardIndex) => ({
      deviceIndex: 1,
      cardIndex,
      type: 'efa-only',
    }));
    const world = new World({
      cloud: testCloud({ instances: [instance({ type: 'p5.48xlarge', interfaces: efas })] }),
    });
    const withoutIp = (shown: Shown): Shown => ({
      ...shown,
      PrivateIpAddress: undefined,
      PrivateIpAddresses: [],
    });
    const controller = startController(world, {
      tamper: showing((shown) => (shown['InterfaceType'] === 'efa-only' ? withoutIp(shown) : shown)),
      flags: { 'resync-interval': '30s' },
    });
    const machine = world.machine(0);

    await world.announce(machine);
    await world.request(machine, 49);
    await world.advance(120_000);

    // Card 0 carries two interfaces: no slot is left beside the primary one.
    expect(world.interfaces(machine)).toHaveLength(33);
    expect(world.pool(machine).size).toBe(49);
    expect(controller.warnings()).toEqual([]);
    expect(world.events(machine.name)).toEqual([]);
    expect(await controller.metric('headwater_interfaces{state="unreadable"}')).toBe(0);
    expect(world.broken()).toEqual([]);
  });

  test('is tried again at least once a minute when its calls fail, in a fleet of any size', async () => {
    // Another owner has all other slots, so that nothing can replace the refused step.
    const interfaces = [1, 2].map((deviceIndex) => ({ deviceIndex, requesterManaged: true }));
    const world = new World({
      cloud: testCloud({ instances: [instance({ count: 20, interfaces })] }),
    });
    const machine = world.machine(3);
    const controller = startController(world);
    for (const each of world.machines) await world.announce(each);
    await world.advance(60_000);
    const [first] = world.interfaces(machine);
    const { faults } = world.cluster.ec2.gateway;
    const fault = faults.add({
      action: 'AssignPrivateIpAddresses',
      rate: 1,
      match: { NetworkInterfaceId: first?.id ?? '' },
      fault: { kind: 'error', code: 'SomethingNew', status: 400, message: 'odd' },
    });

    await world.request(machine, 9);
    await world.advance(1_800_000);
    const during = controller.changes.filter(({ at, result }) => at > 600_000 && result !== 'OK');
    faults.remove(fault);
    await world.advance(61_000);

    const waits = during.slice(1).map(({ at }, index) => at - (during[index]?.at ?? 0));
    expect(waits.length).toBeGreaterThan(18);
    expect(Math.max(...waits)).toBeLessThanOrEqual(61_000);
    expect(world.pool(machine).size).toBe(9);
  });
});

describe('a filter of subnets', () => {
  test.each<{ flag: string; value: string }>([
    { flag: 'subnet-ids-filter', value: ids.pods },
    { flag: 'subnet-tags-filter', value: 'purpose=pods' },
  ])(
    'keeps new addresses in other subnets, and hides nothing that a node has: $flag',
    async ({ flag, value }) => {
      const interfaces = [{ deviceIndex: 1, addresses: 3 }];
      const world = new World({
        cloud: testCloud({
          instances: [instance({ interfaces })],
          subnets: [subnets.nodes, subnets.pods],
          routeTables: [{ name: 'private', subnets: ['nodes', 'pods'] }],
        }),
        configure: () => ({ ipam: { minAllocate: 12 } }),
      });
      const machine = world.machine();
      const controller = startController(world, { flags: { [flag]: value } });
      const before = world.held(machine);

      await world.announce(machine);
      await world.advance(60_000);

      expect(before).toHaveLength(3);
      expect([...world.pool(machine).keys()]).toEqual(expect.arrayContaining([...before]));
      expect(world.interfaces(machine).map(({ subnetId }) => subnetId)).toEqual([
        ids.nodes,
        ids.nodes,
        ids.pods,
      ]);
      expect(world.pool(machine).size).toBe(12);
      expect(Object.keys(world.enis(machine))).toHaveLength(3);
      expect(controller.changes.map(({ result }) => result)).not.toContain('AttachmentLimitExceeded');
    },
  );
});

test('an attachment to an instance that turns out to be stopped does not count as a failure', async () => {
  const world = new World();
  const machine = world.machine();
  const controller = startController(world);
  await world.announce(machine);
  await world.advance(30_000);
  const series = (status: string): string =>
    `cilium_operator_ipam_allocation_duration_seconds_count{type="createInterfaceAndAllocateIP",status="${status}",subnet_id="${ids.nodes}"}`;

  const message = `Instance '${machine.instanceId}' is not 'running'.`;
  const stopped = { kind: 'error', code: 'IncorrectState', status: 400, message } as const;
  world.fault('AttachNetworkInterface', stopped, 1);
  await world.request(machine, 12);
  await world.advance(30_000);
  const during = { detached: world.orphaned(), interfaces: world.interfaces(machine).length };
  await world.advance(90_000);

  expect(during).toEqual({ detached: [], interfaces: 1 });
  expect(world.pool(machine).size).toBe(12);
  expect(await controller.metric(series('failed'))).toBeGreaterThanOrEqual(1);
  expect(await controller.metric(series('unableToAttachENI'))).toBeUndefined();
});
