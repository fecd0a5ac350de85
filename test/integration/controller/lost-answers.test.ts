import { describe, expect, test } from '@jest/globals';
import { lossesOf } from '../../support/lost-answers.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const cases = lossesOf([
  'AssignPrivateIpAddresses',
  'CreateNetworkInterface',
  'AttachNetworkInterface',
  'ModifyNetworkInterfaceAttribute',
  'DeleteNetworkInterface',
]);

interface Peak {
  held: number;
  interfaces: number;
}

/** Advances time; returns the most addresses that the machine had at any instant. */
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
    'creates nothing twice when it $how, $times times: $action',
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

      // While the outcome of an assignment is unknown, another interface may serve the need.
      expect(peak.interfaces).toBeLessThanOrEqual(action === 'AssignPrivateIpAddresses' ? 3 : 2);
      expect(peak.held).toBeLessThanOrEqual(16);
      expect(world.held(machine)).toHaveLength(16);
      expect([...world.pool(machine).keys()].toSorted()).toEqual(world.held(machine).toSorted());
      expect(world.orphaned()).toEqual([]);
      expect(world.operatorError(machine)).toBe('');
      expect(controller.controller.status().inDeficit).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );
});
