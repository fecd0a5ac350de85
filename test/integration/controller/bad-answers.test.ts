import { describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import { objectAt } from '../../../src/simulator/workload/json.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type ControllerSetup } from '../../support/world-controller.ts';

const reads = [
  'DescribeNetworkInterfaces',
  'DescribeSubnets',
  'DescribeVpcs',
  'DescribeRouteTables',
  'DescribeSecurityGroups',
  'DescribeInstanceTypes',
  'DescribeInstances',
] as const;

const spoilt: readonly { readonly how: string; readonly fault: Fault }[] = [
  { how: 'ends in the middle', fault: { kind: 'garbled', form: 'truncated' } },
  { how: 'is empty', fault: { kind: 'garbled', form: 'empty' } },
  { how: 'has no ids', fault: { kind: 'garbled', form: 'idsMissing' } },
  { how: 'has unknown values', fault: { kind: 'garbled', form: 'unknownEnum' } },
  { how: 'is a page of HTML', fault: { kind: 'garbled', form: 'html502' } },
  { how: 'never comes', fault: { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 } },
  { how: 'is a throttle', fault: { kind: 'throttle' } },
  {
    how: 'is a denied permission',
    fault: { kind: 'error', code: 'UnauthorizedOperation', status: 403, message: 'You are not authorized' },
  },
];

const tokens: readonly { readonly how: string; readonly next: (token: string | undefined) => string }[] = [
  { how: 'points to itself', next: () => 'test-same' },
  { how: 'points there and back', next: (token) => (token === 'test-there' ? 'test-back' : 'test-there') },
  { how: 'points round in a circle', next: (token) => `test-${(Number(token?.slice(5) ?? 0) + 1) % 7}` },
];

function worldOf(): World {
  return new World({ cloud: testCloud({ instances: [instance({ count: 3 })] }) });
}

/** Addresses that left a pool. */
function struck(world: World): string[] {
  return world.machines.flatMap((machine) => {
    const pools = world.history
      .of(machine.name)
      .map(({ object }) => new Set(Object.keys(objectAt(object, 'spec', 'ipam', 'pool'))));
    return pools.flatMap((pool, index) =>
      [...(pools[index - 1] ?? [])].filter((address) => !pool.has(address)),
    );
  });
}

/** Two nodes are served; while answers are spoiled, one of them needs more and a third one joins. */
async function play(
  world: World,
  setup: ControllerSetup,
  spoil: () => () => void,
): Promise<{ readonly said: string; readonly calls: number }> {
  const [first, second, third] = [world.machine(0), world.machine(1), world.machine(2)];
  const controller = startController(world, { ...setup, flags: { 'resync-interval': '60s' } });
  await world.announce(first);
  await world.announce(second);
  await world.advance(30_000);

  const end = spoil();
  await world.announce(third);
  await world.request(first, 14);
  await world.advance(300_000);
  const during = {
    said: JSON.stringify(controller.logged.filter(({ level }) => level === 'warn')),
    calls: controller.calls.filter(({ at }) => at > 30_000).length,
  };
  end();
  await world.advance(180_000);
  return during;
}

function expectAllIsWell(world: World): void {
  expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([14, 8, 8]);
  expect(world.machines.map((machine) => world.held(machine).length)).toEqual([14, 8, 8]);
  expect(world.machines.map((machine) => world.operatorError(machine))).toEqual(['', '', '']);
  expect(struck(world)).toEqual([]);
  expect(world.orphaned()).toEqual([]);
  expect(world.broken()).toEqual([]);
}

describe('a wrong answer of EC2', () => {
  const cases = reads.flatMap((action) => spoilt.map((way) => ({ action, ...way })));

  test.each(cases)(
    'takes nothing from any node, and Headwater recovers, when it $how: $action',
    async ({ action, fault }) => {
      const world = worldOf();

      await play(world, {}, () => world.fault(action, fault));

      expectAllIsWell(world);
    },
  );

  test.each(reads.slice(0, 5))('is named in the log when it cannot be read: %s', async (action) => {
    const world = worldOf();

    const { said } = await play(world, {}, () => world.fault(action, { kind: 'garbled', form: 'empty' }));

    expect(said).toContain(action);
    expectAllIsWell(world);
  });

  test.each(reads.flatMap((action) => tokens.map((way) => ({ action, ...way }))))(
    'causes no endless loop when the page token of $action $how',
    async ({ action, next }) => {
      const world = worldOf();
      let isSpoilt = false;
      const setup: ControllerSetup = {
        tamper: (asked, output, input) => {
          if (!isSpoilt || asked !== action) return output;
          return { ...output, NextToken: next((input as { NextToken?: string }).NextToken) };
        },
      };

      const { calls } = await play(world, setup, () => {
        isSpoilt = true;
        return () => {
          isSpoilt = false;
        };
      });

      // A read takes eight pages before it is refused, and some fifty reads are due in 5 min.
      expect(calls).toBeLessThan(500);
      expectAllIsWell(world);
    },
  );
});
