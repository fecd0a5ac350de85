// How a pool maintainer gets along with the rate limits.
import { describe, expect, test } from '@jest/globals';
import type { Urgency } from '../../../src/providers/urgency.ts';
import { eni } from './allocation-facts.ts';
import { failed } from './outcomes.ts';
import { PoolRig, type PoolScene } from './pool-rig.ts';

describe('a step that is throttled', () => {
  test('is admitted again at once: the call budget says when it may go', async () => {
    const rig = new PoolRig({
      outcome: (_, number) => (number < 3 ? failed('throttled') : undefined),
    });

    await rig.run(100);

    expect(rig.calls.map((call) => call.split('@')[0])).toEqual(Array(4).fill('allocate eni-0+8'));
    expect(rig.available).toBe(8);
  });
});

describe('urgency that rises while a step waits', () => {
  test.each<[Urgency, Urgency, number]>([
    ['toppingUp', 'starving', 1],
    ['waiting', 'starving', 1],
    ['starving', 'toppingUp', 0],
    ['toppingUp', 'toppingUp', 0],
  ])('from %s to %s is told %i times', async (before, after, times) => {
    const rig = new PoolRig({ crowded: true });
    rig.urgency = before;
    await rig.run(100);

    rig.urgency = after;
    await rig.run(100);

    expect(rig.reconsidered).toHaveLength(times);
  });

  test('is told when a step is under way, which may wait to be sent', async () => {
    const rig = new PoolRig({ duration: 1000 });
    await rig.run(100);

    rig.urgency = 'starving';
    await rig.run(100);

    expect(rig.reconsidered).toEqual([100]);
  });

  test('is not told when nothing waits', async () => {
    const rig = new PoolRig({ target: 0 });
    await rig.run(100);

    rig.urgency = 'starving';
    await rig.run(100);

    expect(rig.reconsidered).toEqual([]);
  });
});

describe('between an interface that has room and a new one', () => {
  const crowdedAssign = { allocateIPs: 9000, createInterface: 1000 };

  test.each<[string, PoolScene, Urgency, string]>([
    ['the one that is there, without the option', { waits: crowdedAssign }, 'starving', 'allocate'],
    ['the new one, when it comes sooner', { spreadCalls: true, waits: crowdedAssign }, 'starving', 'create'],
    [
      'the same when pods wait for more than is free',
      { spreadCalls: true, waits: crowdedAssign },
      'waiting',
      'create',
    ],
    [
      'the one that is there, for topping up',
      { spreadCalls: true, waits: crowdedAssign },
      'toppingUp',
      'allocate',
    ],
    [
      'the one that is there, when the new one would be hardly sooner',
      { spreadCalls: true, waits: { allocateIPs: 2900, createInterface: 1000 } },
      'starving',
      'allocate',
    ],
  ])('is chosen %s', async (_, scene, urgency, first) => {
    const rig = new PoolRig(scene);
    rig.urgency = urgency;

    await rig.run(100);

    expect(rig.calls[0]?.split(' ')[0]).toBe(first);
    expect(rig.available).toBe(8);
  });
});

describe('a creation that fails', () => {
  test('gives back the attachment that was admitted with it', async () => {
    const rig = new PoolRig({
      target: 17,
      interfaces: [eni(0, 9)],
      outcome: (operation, number) =>
        operation.kind === 'createInterface' && number < 2 ? failed('throttled') : undefined,
    });

    await rig.run(1000);

    expect(rig.available).toBe(17);
    expect(rig.givenBack.filter((kinds) => kinds === 'attachInterface')).toHaveLength(2);
  });
});
