import { describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

function lost(effect: 'before' | 'after' | 'late', connection: 'drop' | 'hang', delayMs = 0): Fault {
  return { kind: 'lost', effect, connection, delayMs };
}

const ways: readonly { readonly how: string; readonly fault: Fault }[] = [
  { how: 'is lost after it was done', fault: lost('before', 'drop') },
  { how: 'never comes after it was done', fault: lost('before', 'hang') },
  { how: 'is lost before it was done', fault: lost('after', 'drop') },
  { how: 'never comes because it was not done', fault: lost('after', 'hang') },
  { how: 'never comes, and it is done 5 s later', fault: lost('late', 'hang', 5000) },
  { how: 'never comes, and it is done when nobody waits any more', fault: lost('late', 'hang', 45_000) },
  { how: 'ends in the middle', fault: { kind: 'garbled', form: 'truncated' } },
  { how: 'is empty', fault: { kind: 'garbled', form: 'empty' } },
  { how: 'names nothing', fault: { kind: 'garbled', form: 'idsMissing' } },
  { how: 'says what nobody understands', fault: { kind: 'garbled', form: 'unknownEnum' } },
  { how: 'is a page of HTML', fault: { kind: 'garbled', form: 'html502' } },
];

const actions = [
  'AssignPrivateIpAddresses',
  'CreateNetworkInterface',
  'AttachNetworkInterface',
  'ModifyNetworkInterfaceAttribute',
  'DeleteNetworkInterface',
];

const cases = actions.flatMap((action) =>
  [1, 4].flatMap((times) => ways.map((way) => ({ action, times, ...way }))),
);

interface Peak {
  held: number;
  interfaces: number;
}

/** Lets time pass; the most that the machine held at any instant. */
async function peakWithin(world: World, ms: number): Promise<Peak> {
  const peak = { held: 0, interfaces: 0 };
  const machine = world.machine();
  await world.clock.runUntil(() => {
    peak.held = Math.max(peak.held, world.held(machine).length);
    peak.interfaces = Math.max(peak.interfaces, world.interfaces(machine).length);
    return false;
  }, ms);
  return peak;
}

describe('an answer', () => {
  test.each(cases)(
    'to $action that $how, $times times, makes nothing twice',
    async ({ action, fault, times }) => {
      const world = new World({ configure: () => ({ ipam: { minAllocate: 14, maxAllocate: 16 } }) });
      const machine = world.machine();
      const controller = startController(world);
      await world.advance(25_000);
      if (action === 'DeleteNetworkInterface') {
        world.fault('AttachNetworkInterface', { kind: 'error', code: 'Odd', status: 400, message: 'odd' }, 1);
      }

      world.fault(action, fault, times);
      await world.announce(machine);
      const peak = await peakWithin(world, 600_000);
      await world.request(machine, 16);
      await world.advance(200_000);

      // While it is open what became of an assignment, another interface may serve the need.
      expect(peak.interfaces).toBeLessThanOrEqual(action === 'AssignPrivateIpAddresses' ? 3 : 2);
      expect(peak.held).toBeLessThanOrEqual(16);
      expect(world.held(machine)).toHaveLength(16);
      expect([...world.pool(machine).keys()].toSorted()).toEqual(world.held(machine).toSorted());
      expect(world.loose()).toEqual([]);
      expect(world.operatorError(machine)).toBe('');
      expect(controller.controller.status().short).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );
});
