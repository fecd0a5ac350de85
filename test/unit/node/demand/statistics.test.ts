import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  addressesToAllocate,
  type BindingCap,
  bindingCap,
  excessAddresses,
  neededAddresses,
  priorityOf,
} from '../../../../src/node/demand/statistics.ts';

describe('neededAddresses', () => {
  test.each([
    // available, used, pre, min, max, needed
    [0, 0, 0, 16, 0, 16],
    [0, 0, 8, 16, 0, 16],
    [0, 0, 16, 8, 0, 16],
    [0, 0, 16, 0, 0, 16],
    [8, 0, 0, 16, 0, 8],
    [8, 4, 8, 0, 0, 4],
    [8, 4, 8, 8, 0, 4],
    [8, 4, 8, 8, 6, 0],
    [8, 4, 8, 0, 8, 0],
    [4, 4, 8, 0, 8, 4],
  ])(
    'are, of %i available, %i used, pre-allocate %i, min-allocate %i and max-allocate %i, %i',
    (available, used, preAllocate, minAllocate, maxAllocate, needed) => {
      const marks = { preAllocate, minAllocate, maxAllocate, maxAboveWatermark: 0 };

      expect(neededAddresses({ available, used, pendingPods: 0 }, marks)).toBe(needed);
    },
  );
});

describe('excessAddresses', () => {
  test.each([
    // available, used, pre, min, above, excess
    [0, 0, 0, 16, 0, 0],
    [15, 0, 8, 16, 8, 0],
    [17, 0, 8, 16, 0, 1],
    [20, 0, 8, 16, 4, 0],
    [21, 0, 8, 0, 4, 9],
    [20, 0, 8, 20, 8, 0],
    [16, 1, 8, 16, 8, 0],
    [20, 4, 8, 17, 8, 0],
    [20, 4, 8, 0, 0, 8],
    [20, 4, 8, 0, 8, 0],
  ])(
    'are, of %i available, %i used, pre-allocate %i, min-allocate %i and max-above-watermark %i, %i',
    (available, used, preAllocate, minAllocate, maxAboveWatermark, excess) => {
      const marks = { preAllocate, minAllocate, maxAllocate: 0, maxAboveWatermark };

      expect(excessAddresses({ available, used, pendingPods: 0 }, marks)).toBe(excess);
    },
  );

  test('leave to pending pods what is beyond the watermarks', () => {
    const marks = { preAllocate: 8, minAllocate: 0, maxAllocate: 0, maxAboveWatermark: 0 };

    expect(excessAddresses({ available: 20, used: 4, pendingPods: 5 }, marks)).toBe(3);
    expect(excessAddresses({ available: 20, used: 4, pendingPods: 9 }, marks)).toBe(0);
  });

  test.each([
    // what, available, used, waiting, pre, min, max, excess
    ['max-allocate is not reached', 9, 2, 0, 8, 0, 9, 0],
    ['the watermarks would keep more than max-allocate', 10, 2, 0, 8, 0, 9, 1],
    ['the watermarks would keep less than max-allocate', 16, 2, 0, 4, 0, 9, 10],
    ['more is in use than max-allocate', 16, 12, 0, 8, 0, 9, 4],
    ['all is in use', 16, 16, 0, 8, 0, 9, 0],
    ['pods wait that may take free addresses', 16, 8, 3, 8, 0, 9, 5],
    ['as many pods wait as addresses are free', 16, 8, 8, 8, 0, 9, 0],
    ['min-allocate is more than max-allocate', 14, 0, 0, 8, 14, 9, 5],
    ['there is no max-allocate', 16, 8, 0, 8, 0, 0, 0],
  ])(
    'include what is free beyond max-allocate when %s',
    (_, available, used, pendingPods, preAllocate, minAllocate, maxAllocate, excess) => {
      const marks = { preAllocate, minAllocate, maxAllocate, maxAboveWatermark: 0 };

      expect(excessAddresses({ available, used, pendingPods }, marks)).toBe(excess);
    },
  );

  const count = fc.integer({ min: 0, max: 300 });
  test('cause no new need once they are removed', () => {
    fc.assert(
      fc.property(
        fc.record({ available: count, used: count, pendingPods: count }),
        fc.record({
          preAllocate: count,
          minAllocate: count,
          maxAllocate: count,
          maxAboveWatermark: count,
        }),
        (usage, marks) => {
          const excess = excessAddresses(usage, marks);
          const left = { ...usage, available: usage.available - excess };

          expect(excess).toBeLessThanOrEqual(usage.available);
          if (excess > 0) expect(left.available).toBeGreaterThanOrEqual(usage.used);
          if (excess > 0) expect(addressesToAllocate(left, marks)).toBe(0);
          if (excess > 0) expect(excessAddresses(left, marks)).toBe(0);
        },
      ),
    );
  });
});

describe('addressesToAllocate', () => {
  const marks = { preAllocate: 8, minAllocate: 0, maxAllocate: 0, maxAboveWatermark: 0 };

  test.each([
    ['met watermarks need nothing', { available: 16, used: 8, pendingPods: 0 }, {}, 0],
    [
      'the margin is taken only along with a need',
      { available: 16, used: 8, pendingPods: 0 },
      { maxAboveWatermark: 4 },
      0,
    ],
    [
      'a need takes the margin along',
      { available: 12, used: 8, pendingPods: 0 },
      { maxAboveWatermark: 4 },
      8,
    ],
    ['waiting pods beyond the need are served with it', { available: 8, used: 8, pendingPods: 20 }, {}, 20],
    ['waiting pods within the need add nothing', { available: 8, used: 8, pendingPods: 5 }, {}, 8],
    [
      'waiting pods that the free addresses serve add nothing',
      { available: 16, used: 8, pendingPods: 8 },
      {},
      0,
    ],
    ['waiting pods beyond the free addresses are a need', { available: 16, used: 8, pendingPods: 11 }, {}, 3],
    [
      'the most allowed bounds need, margin and surge',
      { available: 8, used: 8, pendingPods: 20 },
      { maxAllocate: 10, maxAboveWatermark: 5 },
      2,
    ],
    ['nothing beyond the most allowed', { available: 12, used: 12, pendingPods: 20 }, { maxAllocate: 10 }, 0],
  ])('follow the watermarks: %s', (_, usage, change, expected) => {
    expect(addressesToAllocate(usage, { ...marks, ...change })).toBe(expected);
  });

  test('never exceed max-allocate, and cover the need', () => {
    const count = fc.integer({ min: 0, max: 300 });
    fc.assert(
      fc.property(
        count,
        count,
        count,
        count,
        count,
        count,
        count,
        (available, used, pendingPods, pre, min, max, above) => {
          const usage = { available, used, pendingPods };
          const watermarks = {
            preAllocate: pre,
            minAllocate: min,
            maxAllocate: max,
            maxAboveWatermark: above,
          };

          const asked = addressesToAllocate(usage, watermarks);

          expect(asked).toBeGreaterThanOrEqual(neededAddresses(usage, watermarks));
          if (max > 0 && asked > 0) expect(available + asked).toBeLessThanOrEqual(max);
        },
      ),
    );
  });
});

describe('the limit that keeps pods pending', () => {
  test.each<[string, readonly number[], BindingCap | undefined]>([
    // available, used, waiting, maximum, own maximum
    ['nothing, while no pod waits', [27, 27, 0, 27, 0], undefined],
    ['nothing, while there are free addresses for all', [27, 20, 7, 27, 0], undefined],
    ['nothing, while there is room', [20, 20, 5, 27, 0], undefined],
    ['nothing, without a maximum', [27, 27, 5, 0, 0], undefined],
    ['its instance, when it is full', [27, 27, 5, 27, 0], 'instance'],
    ['its instance, when more wait than are free', [27, 25, 5, 27, 0], 'instance'],
    ['its max-allocate', [12, 12, 1, 12, 12], 'maxAllocate'],
    ['its max-allocate, when it has more already', [15, 15, 1, 12, 12], 'maxAllocate'],
    ['its instance, though its agent counts more than there is', [27, 30, 1, 27, 0], 'instance'],
  ])('is %s', (_, [available = 0, used = 0, pendingPods = 0, maxAllocate = 0, own = 0], expected) => {
    const marks = { preAllocate: 8, minAllocate: 0, maxAllocate, maxAboveWatermark: 0 };

    expect(bindingCap({ available, used, pendingPods }, marks, own)).toBe(expected);
  });
});

describe('the priority of a node', () => {
  test.each([
    // available, used, pending pods
    [10, 2, 0, 'normal'],
    [10, 10, 0, 'normal'],
    // Its agent waits for its first addresses before it starts.
    [0, 0, 0, 'high'],
    [10, 2, 8, 'normal'],
    [10, 2, 9, 'high'],
    [10, 9, 2, 'high'],
    [10, 10, 1, 'critical'],
    [0, 0, 1, 'critical'],
    [8, 10, 1, 'critical'],
    // Addresses in use that are gone are not pending pods.
    [8, 10, 0, 'normal'],
  ])('is, with %i addresses, %i used and %i pods pending, %s', (available, used, pendingPods, expected) => {
    expect(priorityOf({ available, used, pendingPods }, false)).toBe(expected);
  });

  test.each([
    [0, 'high'],
    [9, 'critical'],
  ] as const)('is, with %i pods pending and no IPv6 prefix to start with, %s', (pendingPods, expected) => {
    expect(priorityOf({ available: 2, used: 2, pendingPods }, true)).toBe(expected);
  });
});
