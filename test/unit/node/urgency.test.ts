import { describe, expect, test } from '@jest/globals';
import { urgencyOf } from '../../../src/node/urgency.ts';

describe('urgency', () => {
  test.each([
    // available, used, waiting pods
    [10, 2, 0, 'toppingUp'],
    [10, 10, 0, 'toppingUp'],
    // Its agent waits for its first addresses before it starts.
    [0, 0, 0, 'waiting'],
    [10, 2, 8, 'toppingUp'],
    [10, 2, 9, 'waiting'],
    [10, 9, 2, 'waiting'],
    [10, 10, 1, 'starving'],
    [0, 0, 1, 'starving'],
    [8, 10, 1, 'starving'],
    // Addresses in use that are gone by now are no pods that wait.
    [8, 10, 0, 'toppingUp'],
  ])('of %i addresses, %i used, %i pods waiting: %s', (available, used, waitingPods, expected) => {
    expect(urgencyOf({ available, used, waitingPods })).toBe(expected);
  });
});
