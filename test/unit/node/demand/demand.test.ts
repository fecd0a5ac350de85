import { describe, expect, test } from '@jest/globals';
import type { CiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import { type Waiting, waitingAfter } from '../../../../src/node/demand/demand.ts';
import { nodeOf } from '../cilium-nodes.ts';

/** A multi-pool agent with 8 free addresses that counts these as used. */
function counting(used: number): CiliumNode {
  const node = nodeOf({ allocated: [] });
  const requested = [{ pool: 'default', ipv4: used + 8, ipv6: 0 }];
  return { ...node, ipam: { ...node.ipam, preAllocate: 8, requested } };
}

/** Unreported pods after each step of [used addresses, pods that wait]. */
function unreportedAfter(steps: readonly (readonly [number, number])[]): readonly number[] {
  let waiting: Waiting | undefined;
  return steps.map(([used, pods]) => (waiting = waitingAfter(waiting, counting(used), pods)).unreported);
}

describe('pods that a multi-pool agent has not reported', () => {
  test.each<[string, readonly (readonly [number, number])[], readonly number[]]>([
    ['are all of them when nothing is known', [[20, 30]], [30]],
    [
      'are those that come, until the agent counts them',
      [
        [2, 0],
        [2, 30],
        [32, 30],
      ],
      [0, 30, 0],
    ],
    [
      'are fewer as the agent counts one after the other',
      [
        [2, 0],
        [2, 30],
        [3, 30],
        [20, 30],
      ],
      [0, 30, 29, 12],
    ],
    [
      'are those that come after a report',
      [
        [2, 0],
        [2, 10],
        [12, 10],
        [12, 15],
      ],
      [0, 10, 0, 5],
    ],
    [
      'are none of those that the agent counted and that wait on',
      [
        [2, 0],
        [2, 10],
        [12, 10],
        [12, 4],
      ],
      [0, 10, 0, 0],
    ],
    [
      'are no more than wait',
      [
        [2, 0],
        [2, 10],
        [2, 3],
      ],
      [0, 10, 3],
    ],
    [
      'do not become more when pods end',
      [
        [2, 0],
        [2, 10],
        [12, 10],
        [6, 10],
      ],
      [0, 10, 0, 0],
    ],
    [
      'are none if pods and report come at once',
      [
        [2, 0],
        [32, 30],
      ],
      [0, 0],
    ],
  ])('%s', (_, steps, expected) => {
    expect(unreportedAfter(steps)).toEqual(expected);
  });

  test('are all that wait, beside an agent that lists used addresses', () => {
    const node = nodeOf({ used: { '10.0.0.1': {}, '10.0.0.2': {} } });
    const before = waitingAfter(undefined, nodeOf({ used: {} }), 0);

    expect(waitingAfter(before, node, 2).unreported).toBe(2);
  });
});
