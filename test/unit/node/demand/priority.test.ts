import { describe, expect, test } from '@jest/globals';
import { priorityOf } from '../../../../src/node/demand/priority.ts';

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
