import { describe, expect, test } from '@jest/globals';
import type { IpamWatermarks } from '../../../src/simulator/workload/node-facts.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

describe('pending pods on a node that is limited', () => {
  test.each<[string, IpamWatermarks, string, string]>([
    ['by its instance', { minAllocate: 27 }, 'InstanceFull', 'use a larger instance type'],
    ['by its max-allocate', { minAllocate: 12, maxAllocate: 12 }, 'MaxAllocateReached', 'max-allocate 12'],
  ])('%s are reported until there is an address for each', async (_, ipam, reason, text) => {
    const world = new World({ configure: () => ({ ipam }) });
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.advance(60_000);
    await world.use(machine, ipam.minAllocate ?? 0);
    await world.advance(30_000);
    const before = controller.controller.status().inDeficit;

    await world.addPods(machine, { count: 5 });
    await world.advance(10_000);
    const soon = controller.controller.status().inDeficit;
    await world.advance(20_000);
    const reported = { short: controller.controller.status().inDeficit, error: world.operatorError(machine) };
    await world.patchStatus(machine, { ipam: { used: null } });
    await world.advance(30_000);

    expect([before, soon]).toEqual([[], []]);
    expect(reported.short).toEqual([expect.objectContaining({ name: machine.name, reason, pendingPods: 5 })]);
    expect(reported.error).toContain(text);
    expect(world.events(machine.name).toSorted()).toEqual([
      expect.stringMatching(`^CiliumNode ${reason}: `),
      `CiliumNode Resolved: ${reason} is resolved: the node has the addresses that it needs`,
      expect.stringMatching(`^Node ${reason}: `),
      `Node Resolved: ${reason} is resolved: the node has the addresses that it needs`,
    ]);
    expect(world.operatorError(machine)).toBe('');
    expect(world.broken()).toEqual([]);
  });
});
