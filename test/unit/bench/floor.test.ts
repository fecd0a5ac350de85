import { describe, expect, test } from '@jest/globals';
import { aws } from '../../../bench/clouds/aws.ts';
import { azure } from '../../../bench/clouds/azure.ts';
import { floorOf, type FloorOptions } from '../../../bench/floor.ts';

const callsOf = ({ growth }: typeof aws, index: 0 | 1): FloorOptions['calls'] => growth[index]?.calls ?? [];
const createAndAttach = callsOf(aws, 1);
const assign = callsOf(aws, 0);
const update = callsOf(azure, 0);

const rows: readonly (readonly [string, FloorOptions, number])[] = [
  ['the tightest bucket counts', { nodes: 1000, calls: createAndAttach, scale: 1, share: 1 }, 190 + 1.74],
  ['one assign', { nodes: 1000, calls: assign, scale: 1, share: 1 }, 180 + 0.5],
  ['few nodes wait for nothing', { nodes: 50, calls: createAndAttach, scale: 1, share: 1 }, 1.74],
  [
    'one node more waits for one token',
    { nodes: 51, calls: createAndAttach, scale: 1, share: 1 },
    0.2 + 1.74,
  ],
  ['buckets and latencies scaled', { nodes: 1000, calls: createAndAttach, scale: 10, share: 1 }, 10 + 0.174],
  ['one update on Azure', { nodes: 500, calls: update, scale: 1, share: 1 }, 30 + 0.25 + 1.2 + 35],
  ['half of it left', { nodes: 1000, calls: createAndAttach, scale: 10, share: 0.5 }, 30 + 0.174],
];

describe('floorOf', () => {
  test.each(rows)('computes %s', (_, options, seconds) => {
    expect(floorOf(options)).toBeCloseTo(seconds, 9);
  });
});
