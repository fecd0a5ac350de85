import { describe, expect, test } from '@jest/globals';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const attempts = 'cilium_operator_ipam_allocation_duration_seconds_count';

describe('the figures', () => {
  test('of the resync tell how often it ran and that it did not have to wait', async () => {
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

  test.each([
    ['unableToFindSubnet', {}, { 'subnet-tags-filter': 'no=such' }],
    ['unableToGetSecurityGroups', { 'security-group-tags': { no: 'such' } }, {}],
    ['unableToDetermineLimits', { 'instance-type': 'm99.huge' }, {}],
  ])(
    'count an attempt that is refused as %s, once for as long as it stays so',
    async (status, eni, flags) => {
      const world = new World({ configure: () => ({ eni: { firstInterfaceIndex: 1 } }) });
      const machine = world.machine();
      const controller = startController(world, { flags });
      await world.announce(machine, { spec: { eni } });

      await world.advance(300_000);

      const series = `${attempts}{type="createInterfaceAndAllocateIP",status="${status}",subnet_id=""}`;
      expect(await controller.metric(series)).toBe(1);
    },
  );

  test('of readiness name what keeps the cloud from being read', async () => {
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
      `it cannot read the cloud: DescribeVpcs answers UnauthorizedOperation: ${message} (allow ec2:DescribeVpcs to Headwater's role)`,
    );
    expect(controller.controller.unreadiness()).toBeUndefined();
  });

  test('of a node end while it is set aside', async () => {
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
