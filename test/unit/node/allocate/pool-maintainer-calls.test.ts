// A pool maintainer under rate limits.
import { describe, expect, test } from '@jest/globals';
import type { Priority } from '../../../../src/providers/contract/priority.ts';
import { eni } from '../allocation-facts.ts';
import { failed } from '../outcomes.ts';
import { PoolRig, type PoolSetup, untimed } from '../pool-rig.ts';

describe('a step that is throttled', () => {
  test('is admitted again at once, because the rate limiter decides when it may go', async () => {
    const rig = new PoolRig({
      outcome: (_, number) => (number < 3 ? failed('throttled') : undefined),
    });

    await rig.run(100);

    expect(untimed(rig.calls)).toEqual(Array(4).fill('allocate eni-0+8'));
    expect(rig.available).toBe(8);
  });
});

describe('a priority that rises while a step waits', () => {
  test.each<[Priority, Priority, number]>([
    ['normal', 'critical', 1],
    ['high', 'critical', 1],
    ['critical', 'normal', 0],
    ['normal', 'normal', 0],
  ])('is announced when it becomes critical: from %s to %s, %i times', async (before, after, times) => {
    const rig = new PoolRig({ crowded: true });
    rig.priority = before;
    await rig.run(100);

    rig.priority = after;
    await rig.run(100);

    expect(rig.reconsidered).toHaveLength(times);
  });

  test('is announced when a step is in flight, which may wait to be sent', async () => {
    const rig = new PoolRig({ duration: 1000 });
    await rig.run(100);

    rig.priority = 'critical';
    await rig.run(100);

    expect(rig.reconsidered).toEqual([100]);
  });

  test('is not announced when nothing waits', async () => {
    const rig = new PoolRig({ target: 0 });
    await rig.run(100);

    rig.priority = 'critical';
    await rig.run(100);

    expect(rig.reconsidered).toEqual([]);
  });
});

describe('the choice between an interface with room and a new one', () => {
  const crowdedAssign = { allocateIPs: 9000, createInterface: 1000 };

  test.each<[string, PoolSetup, Priority, string]>([
    ['the one that is there, without the option', { waits: crowdedAssign }, 'critical', 'allocate'],
    ['the new one, when it comes sooner', { spreadCalls: true, waits: crowdedAssign }, 'critical', 'create'],
    [
      'the same when pods wait for more than is free',
      { spreadCalls: true, waits: crowdedAssign },
      'high',
      'create',
    ],
    ['the existing one, for the buffer', { spreadCalls: true, waits: crowdedAssign }, 'normal', 'allocate'],
    [
      'the one that is there, when the new one would be hardly sooner',
      { spreadCalls: true, waits: { allocateIPs: 2900, createInterface: 1000 } },
      'critical',
      'allocate',
    ],
  ])('is %s', async (_, setup, priority, first) => {
    const rig = new PoolRig(setup);
    rig.priority = priority;

    await rig.run(100);

    expect(rig.calls[0]?.split(' ')[0]).toBe(first);
    expect(rig.available).toBe(8);
  });
});

describe('a creation that fails', () => {
  test('refunds the attachment that was admitted with it', async () => {
    const rig = new PoolRig({
      target: 17,
      interfaces: [eni(0, 9)],
      outcome: (operation, number) =>
        operation.kind === 'createInterface' && number < 2 ? failed('throttled') : undefined,
    });

    await rig.run(1000);

    expect(rig.available).toBe(17);
    expect(rig.refunds.filter((kinds) => kinds === 'attachInterface')).toHaveLength(2);
  });
});
