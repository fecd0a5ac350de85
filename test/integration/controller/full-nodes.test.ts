import { describe, expect, test } from '@jest/globals';
import type { IpamWatermarks, NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
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

    await world.addPods(machine, { count: 5, prefix: 'waiting' });
    await world.advance(10_000);
    const soon = controller.controller.status().inDeficit;
    await world.advance(20_000);
    const reported = {
      inDeficit: controller.controller.status().inDeficit,
      error: world.operatorError(machine),
    };
    await world.patchStatus(machine, { ipam: { used: null } });
    await world.advance(30_000);

    expect([before, soon]).toEqual([[], []]);
    expect(reported.inDeficit).toEqual([
      expect.objectContaining({ name: machine.name, reason, pendingPods: 5 }),
    ]);
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

describe('an agent that could never start', () => {
  test.each<[string, IpamWatermarks, string]>([
    [
      'by its pre-allocate, for its max-allocate',
      { preAllocate: 12, maxAllocate: 9 },
      "lower ipam-pre-allocate of Cilium's agent, which writes spec.ipam.pre-allocate, or raise ipam-max-allocate: an agent up to 1.19 starts only with 12 addresses, and spec.ipam.max-allocate allows 9",
    ],
    [
      'by its min-allocate, for its instance',
      { minAllocate: 40 },
      "lower ipam-min-allocate of Cilium's agent, which writes spec.ipam.min-allocate, or use a larger instance type: an agent up to 1.19 starts only with 40 addresses, and instance type m5.large can have 27",
    ],
  ])('%s, is reported once, and not as an error', async (_, ipam, text) => {
    const world = new World({ configure: () => ({ ipam }) });
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);

    await world.advance(120_000);

    expect(controller.controller.status().warnings).toEqual([
      expect.objectContaining({ reason: 'AgentCannotStart', why: text }),
    ]);
    expect(world.events(machine.name).toSorted()).toEqual([
      `CiliumNode AgentCannotStart: ${text}`,
      `Node AgentCannotStart: ${text}`,
    ]);
    expect(world.operatorError(machine)).toBe('');
  });
});

describe('an agent is not reported as unable to start', () => {
  test.each<[string, IpamWatermarks, (world: World, machine: NodeFacts) => Promise<unknown>]>([
    [
      'if its node may have its min-allocate',
      { preAllocate: 12, minAllocate: 9, maxAllocate: 9 },
      () => Promise.resolve(),
    ],
    [
      'if its node has enough, although it may have less by now',
      { preAllocate: 12 },
      async (world, machine) => {
        await world.advance(60_000);
        await world.patch(machine, { spec: { ipam: { 'max-allocate': 9 } } });
      },
    ],
    [
      'if it soon requests a count, and so starts with any address',
      { preAllocate: 12, maxAllocate: 9 },
      async (world, machine) => {
        await world.advance(1000);
        await world.request(machine, 12);
      },
    ],
  ])('%s', async (_, ipam, change) => {
    const world = new World({ configure: () => ({ ipam }) });
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);

    await change(world, machine);
    await world.advance(120_000);

    expect(controller.controller.status().warnings).toEqual([]);
    expect(world.events(machine.name)).toEqual([]);
  });
});
