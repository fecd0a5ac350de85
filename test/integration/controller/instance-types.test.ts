import { describe, expect, test } from '@jest/globals';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

/** A fleet for which the first `bad` answers about instance types are spoiled. */
async function fleetWith(
  bad: number,
  spoil: (output: object) => object,
): Promise<{ world: World; controller: WorldController }> {
  const world = new World({ cloud: testCloud({ instances: [instance({ count: 3 })] }) });
  let left = bad;
  const controller = startController(world, {
    tamper: (action, output) => (action === 'DescribeInstanceTypes' && left-- > 0 ? spoil(output) : output),
  });
  for (const machine of world.machines) await world.announce(machine);
  return { world, controller };
}

const empty = (): object => ({ InstanceTypes: [] });
const senseless = (): object => ({
  InstanceTypes: [{ InstanceType: 'm5.large', NetworkInfo: { MaximumNetworkInterfaces: -1 } }],
});

describe('an answer about instance types', () => {
  test('costs the fleet seconds, and is not reported, when it is empty once', async () => {
    const { world, controller } = await fleetWith(1, empty);

    await world.advance(20_000);

    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([8, 8, 8]);
    expect(controller.warnings()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test.each([
    {
      how: 'names no type',
      pause: 'a minute',
      times: 3,
      spoil: empty,
      reason: 'InstanceTypeUnknown',
      ms: 120_000,
    },
    {
      how: 'cannot be read',
      pause: '5 s',
      times: 7,
      spoil: senseless,
      reason: 'InstanceTypeUnreadable',
      ms: 10_000,
    },
  ])('blocks the fleet for $pause at a time when it $how several times', async (given) => {
    const { times, spoil, reason, ms } = given;
    const { world, controller } = await fleetWith(times, spoil);
    await world.advance(30_000);
    const reasons = controller.controller.status().inDeficit?.map((node) => node.reason);

    await world.advance(ms);

    expect(reasons).toEqual([reason, reason, reason]);
    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([8, 8, 8]);
    expect(world.machines.map((machine) => world.operatorError(machine))).toEqual(['', '', '']);
    expect(world.broken()).toEqual([]);
  });

  test('is requested once a minute, for its node only, when it lacks a type', async () => {
    const { world, controller } = await fleetWith(0, empty);
    const machine = world.machine();
    await world.patch(machine, { spec: { eni: { 'instance-type': 'm99.huge' } } });

    await world.advance(600_000);

    const asked = controller.calls.filter(({ action }) => action === 'DescribeInstanceTypes').length;
    expect(asked).toBeGreaterThan(9);
    expect(asked).toBeLessThan(14);
    expect(world.operatorError(machine)).toContain('m99.huge');
    expect(world.pool(world.machine(1)).size).toBe(8);
  });
});
