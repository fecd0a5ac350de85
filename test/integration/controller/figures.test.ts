import { describe, expect, test } from '@jest/globals';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const attempts = 'cilium_operator_ipam_allocation_duration_seconds_count';

describe('the metrics', () => {
  test('count the resyncs, which never had to wait', async () => {
    const world = new World();
    const controller = startController(world, { flags: { 'resync-interval': '5m' } });
    await world.announce(world.machine());

    await world.advance(700_000);

    const runs = await controller.metric('cilium_operator_ipam_resync_duration_seconds_count');
    expect(runs).toBeGreaterThanOrEqual(3);
    expect(await controller.metric('cilium_operator_ipam_resync_queued_total')).toBe(runs);
    expect(await controller.metric('cilium_operator_ipam_resync_latency_seconds_count')).toBe(runs);
    expect(await controller.metric('cilium_operator_ipam_resync_folds')).toBe(0);
  });

  test('show no stale resync when no node is left to read the cloud for', async () => {
    const world = new World();
    const controller = startController(world, { flags: { 'resync-interval': '5m' } });
    const age = (): Promise<number | undefined> => controller.metric('headwater_inventory_age_seconds');
    await world.announce(world.machine());
    await world.advance(100_000);
    const before = await age();

    await world.delete(world.machine());
    await world.advance(3_600_000);
    const empty = await age();
    await world.announce(world.machine());
    await world.advance(30_000);

    expect(before).toBeGreaterThan(60);
    expect(empty).toBeLessThan(320);
    expect(await age()).toBeLessThan(360);
  });

  test.each([
    ['unableToFindSubnet', {}, { 'subnet-tags-filter': 'no=such' }],
    ['unableToGetSecurityGroups', { 'security-group-tags': { no: 'such' } }, {}],
    ['unableToDetermineLimits', { 'instance-type': 'm99.huge' }, {}],
  ])('count an attempt that is refused as %s once while the refusal lasts', async (status, eni, flags) => {
    const world = new World({ configure: () => ({ eni: { firstInterfaceIndex: 1 } }) });
    const machine = world.machine();
    const controller = startController(world, { flags });
    await world.announce(machine, { spec: { eni } });

    await world.advance(300_000);

    const series = `${attempts}{type="createInterfaceAndAllocateIP",status="${status}",subnet_id=""}`;
    expect(await controller.metric(series)).toBe(1);
  });

  test('show of a subnet what the cloud has: free addresses, whole free blocks, nodes in it', async () => {
    const world = new World({
      cloud: testCloud({ instances: [instance({ count: 3 })] }),
      configure: () => ({ eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } }),
    });
    const controller = startController(world, { flags: { 'resync-interval': '5m' } });
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(700_000);

    const of = (name: string): Promise<number | undefined> =>
      controller.metric(`headwater_subnet_${name}{subnet_id="${ids.pods}",availability_zone="us-east-1a"}`);

    const free = world.cluster.ec2.network.subnets.get(ids.pods)?.available;
    const held = world.machines.flatMap((machine) => world.held(machine)).length;
    expect(await of('free_addresses')).toBe(free);
    expect(await of('free_blocks')).toBe(world.wholeBlocks(ids.pods).length);
    expect(await of('nodes')).toBe(3);
    expect(await of('assigned_addresses')).toBe(held);
    expect(await of('size_addresses')).toBe(4096);
  });

  test('update the whole blocks of a subnet as nodes get prefixes between two listings', async () => {
    const world = new World({
      cloud: testCloud({ instances: [instance({ count: 2 })] }),
      configure: () => ({ eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } }),
    });
    const flags = { 'resync-interval': '24h', 'aws-enable-prefix-delegation': 'true' };
    await world.announce(world.machine(0));
    const controller = startController(world, { flags });
    await world.advance(60_000);
    const before = world.wholeBlocks(ids.pods).length;

    await world.request(world.machine(0), 60);
    await world.announce(world.machine(1));
    await world.advance(60_000);

    const labels = `subnet_id="${ids.pods}",availability_zone="us-east-1a"`;
    const whole = world.wholeBlocks(ids.pods).length;
    expect(whole).toBeLessThan(before);
    // The primary address of a new interface takes a block that no listing has shown.
    const shown = await controller.metric(`headwater_subnet_free_blocks{${labels}}`);
    expect(shown).toBeGreaterThanOrEqual(whole);
    expect(shown).toBeLessThanOrEqual(whole + 2);
  });

  test('name for readiness what keeps the cloud from being read', async () => {
    const world = new World();
    const controller = startController(world);
    const message = 'You are not authorized';
    const end = world.fault('DescribeVpcs', {
      kind: 'error',
      code: 'UnauthorizedOperation',
      status: 403,
      message,
    });
    await world.announce(world.machine());
    await world.advance(20_000);
    const meanwhile = controller.controller.unreadiness();

    end();
    await world.advance(120_000);

    expect(meanwhile).toBe(
      `it cannot read the cloud: allow ec2:DescribeVpcs to Headwater's role: DescribeVpcs answers UnauthorizedOperation: ${message}`,
    );
    expect(controller.controller.unreadiness()).toBeUndefined();
  });

  test('drop the figures of a node while it is blocked', async () => {
    const world = new World();
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    const series = ['available', 'used', 'needed'].map(
      (what) => `cilium_operator_ipam_${what}_ips{target_node="${machine.name}"}`,
    );
    const figures = (): Promise<unknown[]> => Promise.all(series.map((name) => controller.metric(name)));
    const served = await figures();

    await world.patch(machine, { spec: { eni: { 'instance-type': 'm99.huge' } } });
    await world.advance(30_000);

    expect(served).toEqual([27, 0, 0]);
    expect(await figures()).toEqual([undefined, undefined, undefined]);
  });
});
