import { describe, expect, test } from '@jest/globals';
import { CallError } from '../../../src/providers/gate/cloud-call.ts';
import { objectAt } from '../../../src/simulator/workload/json.ts';
import { instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

/** The parts that the cloud cannot read. */
const dark = 'us-east-1b';

function worldOf(): World {
  return new World({
    cloud: testCloud({
      subnets: [...Object.values(subnets), { name: 'far', zone: dark, block: '10.0.64.0/20' }],
      instances: [instance({ count: 12 }), instance({ name: 'far', subnet: 'far', count: 6 })],
    }),
    configure: () => ({ ipam: { minAllocate: 12 } }),
  });
}

describe('a start while every answer about one zone fails', () => {
  test.each([
    { what: 'everything', actions: /^Describe/ },
    { what: 'interfaces', actions: /^DescribeNetworkInterfaces$/ },
    { what: 'subnets', actions: /^DescribeSubnets$/ },
  ])('serves the other zones, and this one once it can be read: $what', async ({ actions }) => {
    const world = worldOf();
    const near = world.machines.filter(({ zone }) => zone !== dark);
    const far = world.machines.filter(({ zone }) => zone === dark);
    let isDark = true;
    const controller = startController(world, {
      tamper: (action, output) => {
        const message = 'the zone does not answer';
        if (isDark && actions.test(action) && JSON.stringify(output).includes(dark))
          throw new CallError({ result: 'noAnswer', code: 'InternalError', message, status: 500 });
        return output;
      },
    });
    for (const machine of world.machines) await world.announce(machine);

    await world.advance(60_000);
    const sizes = near.map((machine) => world.pool(machine).size);
    const reported = far.map((machine) => world.operatorError(machine));
    const reads = controller.calls.length;
    isDark = false;
    await world.until(
      'all are served',
      () => world.machines.every((each) => world.pool(each).size === 12),
      90_000,
    );

    expect(sizes).toEqual(near.map(() => 12));
    expect(reported.filter((text) => text.includes('nothing matches'))).toEqual([]);
    expect(reads).toBeLessThan(400);
    expect(world.broken()).toEqual([]);
  });
});

test('a leader that knows no Node while a zone cannot be read keeps the interfaces there once it knows them', async () => {
  const world = worldOf();
  const far = world.machines.filter(({ zone }) => zone === dark);
  const before = startController(world, { identity: 'headwater-a' });
  for (const machine of world.machines) await world.announce(machine);
  await world.until('all are served', () => world.machines.every((each) => world.pool(each).size === 12));
  before.stop();

  const end = world.refuse(403, 'GET', /\/api\/v1\/nodes(\?.*)?$/);
  startController(world, {
    identity: 'headwater-b',
    tamper: (action, output) => {
      const message = 'the zone does not answer';
      if (action === 'DescribeSubnets' && JSON.stringify(output).includes(dark))
        throw new CallError({ result: 'noAnswer', code: 'InternalError', message, status: 500 });
      return output;
    },
  });
  await world.advance(120_000);
  end();
  await world.advance(120_000);

  const shown = far.map((machine) =>
    Object.keys(objectAt(world.ciliumNode(machine), 'status', 'eni', 'enis')),
  );
  expect(shown.filter((ids) => ids.length === 0)).toEqual([]);
  expect(world.broken()).toEqual([]);
});
