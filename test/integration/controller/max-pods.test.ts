// A kubelet that admits more pods than its instance can hold addresses, on each cloud.
import { describe, expect, test } from '@jest/globals';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

function pods(capacity: string, allocatable: string): object {
  return { capacity: { pods: capacity }, allocatable: { pods: allocatable } };
}

describe('a kubelet that admits more pods than its instance can hold', () => {
  test.each<[string, () => ClusterWorld, RegExp]>([
    [
      'AWS',
      () => new World(),
      /^the kubelet admits 1000 pods, although m5\.large can hold 27 addresses; set maxPods /,
    ],
    [
      'Azure',
      () => new AzureClusterWorld({ cloud: testAzure({ scaleSets: [scaleSet({ mode: 'Uniform' })] }) }),
      /^the kubelet admits 1000 pods, although its node can hold 255 addresses; set maxPods /,
    ],
    [
      'Alibaba Cloud',
      () => new AlibabaWorld(),
      /^the kubelet admits 1000 pods, although ecs\.\S+ can hold \d+ /,
    ],
  ])('is reported once on %s, and no longer once that is mended', async (_, open, message) => {
    const world = open();
    const machine = world.machine();
    const controller = startController(world);
    const admit = (part: object): Promise<unknown> =>
      world.call('PATCH', `/api/v1/nodes/${machine.name}/status`, { status: part as never });
    await world.announce(machine);
    await admit(pods('110', '25'));
    await world.advance(30_000);
    const before = controller.controller.status().warnings;

    await admit(pods('1k', '1k'));
    await world.advance(30_000);
    await admit({ conditions: [{ type: 'Ready', status: 'True' }] });
    await world.advance(30_000);
    const during = controller.controller.status().warnings;
    const explained = controller.controller.node(machine.name);
    const metric = await controller.metric('headwater_warnings{reason="MaxPodsTooHigh"}');
    await admit(pods('1k', '25'));
    await world.advance(30_000);

    const warning = { reason: 'MaxPodsTooHigh', why: expect.stringMatching(message) };
    expect([before, controller.controller.status().warnings]).toEqual([[], []]);
    expect(during).toEqual([expect.objectContaining({ node: machine.name, ...warning })]);
    expect(JSON.stringify(explained)).toContain('MaxPodsTooHigh');
    expect(metric).toBe(1);
    const events = world.events(machine.name).filter((each) => each.includes('MaxPodsTooHigh'));
    expect(events.toSorted()).toEqual([
      expect.stringMatching(/^CiliumNode MaxPodsTooHigh: the kubelet admits/),
      expect.stringMatching(/^Node MaxPodsTooHigh: the kubelet admits/),
    ]);
    expect(await controller.metric('headwater_warnings{reason="MaxPodsTooHigh"}')).toBeUndefined();
  });
});
