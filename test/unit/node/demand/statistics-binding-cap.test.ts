import { describe, expect, test } from '@jest/globals';
import { type BindingCap, bindingCap } from '../../../../src/node/demand/statistics.ts';

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
  ])('is %s', (_, [available = 0, used = 0, waitingPods = 0, maxAllocate = 0, own = 0], expected) => {
    const marks = { preAllocate: 8, minAllocate: 0, maxAllocate, maxAboveWatermark: 0 };

    expect(bindingCap({ available, used, waitingPods }, marks, own)).toBe(expected);
  });
});
