import { describe, expect, test } from '@jest/globals';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const ms = (value: number): { min: number; max: number } => ({ min: value, max: value });

function worldThat(consistency: object, count = 1): World {
  return new World({
    cloud: testCloud({ instances: [instance({ count })], consistency }),
    configure: () => ({ ipam: { preAllocate: 12 } }),
  });
}

describe('a cloud that shows new things with a delay', () => {
  test.each([2000, 10_000, 25_000])(
    'gives each node its interface, and no second one, although the delay is %d ms',
    async (delay) => {
      const world = worldThat({ visibilityDelayMs: ms(delay), listingLagMs: ms(delay) }, 3);
      const controller = startController(world);

      for (const machine of world.machines) await world.announce(machine);
      await world.advance(400_000);

      const created = controller.changes.filter(({ action }) => action === 'CreateNetworkInterface');
      expect(controller.calls.map(({ result }) => result)).toContain('InvalidNetworkInterfaceID.NotFound');
      expect(created).toHaveLength(3);
      for (const machine of world.machines) {
        expect(world.pool(machine).size).toBe(12);
        expect(world.interfaces(machine)[1]?.attachment?.deleteOnTermination).toBe(true);
        expect(world.operatorError(machine)).toBe('');
      }
      expect(world.orphaned()).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );

  test('leaves no interface behind when the delay is longer than any expected one', async () => {
    const world = worldThat({ visibilityDelayMs: ms(35_000) });
    const machine = world.machine();
    startController(world);

    await world.announce(machine);
    await world.advance(55_000);
    await world.patch(machine, { spec: { ipam: { 'pre-allocate': 8 } } });
    await world.advance(600_000);

    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('an instance that the cloud does not find', () => {
  test('is read again when its node appears, and served without waiting for a listing', async () => {
    const world = worldThat({});
    const machine = world.machine();
    let hidden = true;
    const controller = startController(world, {
      tamper: (action, output) => {
        if (!hidden) return output;
        if (action === 'DescribeNetworkInterfaces') return { ...output, NetworkInterfaces: [] };
        return action === 'DescribeInstances' ? { ...output, Reservations: [] } : output;
      },
    });
    await world.announce(machine);
    await world.advance(15_000);
    const error = world.operatorError(machine);
    hidden = false;
    await world.advance(60_000);

    expect(error).toMatch(/is not found/);
    expect(world.pool(machine).size).toBe(12);
    expect(world.operatorError(machine)).toBe('');
    expect(controller.calls.filter(({ action }) => action === 'DescribeSubnets')).toHaveLength(1);
    expect(world.broken()).toEqual([]);
  });

  test('is checked by listings only when it never appears', async () => {
    const world = worldThat({});
    const machine = { ...world.machine(), instanceId: 'i-00000000000000009' };
    const controller = startController(world);
    await world.announce(machine);
    await world.advance(120_000);
    const from = world.clock.monotonic();
    await world.advance(3 * 3_600_000);

    const looks = controller.calls.filter(
      ({ at, input }) => at > from && JSON.stringify(input).includes(machine.instanceId),
    );
    expect(world.operatorError(machine)).toMatch(/is not found/);
    expect(looks).toEqual([]);
  });

  test('although it runs loses nothing, unless the second read says the same', async () => {
    const world = worldThat({});
    const machine = world.machine();
    let hidden = 0;
    startController(world, {
      flags: { 'resync-interval': '60s' },
      tamper: (action, output) => {
        if (hidden === 0) return output;
        if (action === 'DescribeNetworkInterfaces') return { ...output, NetworkInterfaces: [] };
        if (action !== 'DescribeInstances') return output;
        hidden--;
        return { ...output, Reservations: [] };
      },
    });
    await world.announce(machine);
    await world.advance(60_000);
    const before = [...world.pool(machine)];

    hidden = 1;
    await world.until('it was not shown', () => hidden === 0, 300_000);
    await world.advance(300_000);

    expect(before).toHaveLength(12);
    expect([...world.pool(machine)]).toEqual(before);
    expect(world.broken()).toEqual([]);
  });
});
