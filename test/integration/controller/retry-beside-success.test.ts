import { describe, expect, test } from '@jest/globals';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const seeds = Array.from({ length: 33 }, (_, index) => `beside ${index}`);

describe('a creation that is refused once beside an assignment that succeeds', () => {
  test.each(['SomethingNew', 'PrivateIpAddressLimitExceeded'])(
    'is tried again within seconds, from each of 33 seeds (%s)',
    async (code) => {
      const waits: number[] = [];
      for (const seed of seeds) {
        const world = new World({
          seed,
          cloud: testCloud({ instances: [instance()] }),
          configure: () => ({ ipam: { minAllocate: 20 } }),
        });
        const machine = world.machine();
        const controller = startController(world);
        await world.advance(5000);
        world.fault('CreateNetworkInterface', { kind: 'error', code, message: 'refused', status: 400 }, 1);
        await world.announce(machine);
        await world.advance(120_000);

        const creations = controller.changes.filter(({ action }) => action === 'CreateNetworkInterface');
        const assigned = controller.changes.filter(
          ({ action, result }) => action === 'AssignPrivateIpAddresses' && result === 'OK',
        );
        expect(assigned.length).toBeGreaterThan(0);
        expect(world.pool(machine).size).toBe(20);
        const place = creations.findIndex(({ result }) => result !== 'OK');
        expect(place).toBeGreaterThanOrEqual(0);
        waits.push((creations[place + 1]?.at ?? Infinity) - (creations[place]?.at ?? 0));
      }
      expect(Math.max(...waits)).toBeLessThan(5000);
    },
  );
});
