import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { chooseNode } from '../../../../src/simulator/workload/placement.ts';
import type { Placement } from '../../../../src/simulator/workload/workload.ts';

const loads = new Map([
  ['a', 3],
  ['b', 1],
  ['c', 1],
  ['d', 5],
]);

describe('chooseNode', () => {
  test.each<[Placement, number, readonly string[]]>([
    ['spread', 10, ['b', 'c']],
    ['pack', 10, ['d']],
    ['pack', 5, ['a']],
    ['random', 10, ['a', 'b', 'c', 'd']],
    ['random', 5, ['a', 'b', 'c']],
  ])('follows the strategy %s with room for %d: one of %j', (placement, capacity, expected) => {
    const random = new Random('placement');

    const chosen = Array.from({ length: 100 }, () => chooseNode(loads, capacity, placement, random));

    expect(new Set(chosen)).toEqual(new Set(expected));
  });

  test('chooses no node when all are full', () => {
    expect(chooseNode(loads, 1, 'spread', new Random('full'))).toBeUndefined();
  });
});
