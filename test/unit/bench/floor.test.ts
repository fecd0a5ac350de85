import { describe, expect, test } from '@jest/globals';
import { floorOf, type FloorOptions } from '../../../bench/floor.ts';

const createAndAttach = ['CreateNetworkInterface', 'AttachNetworkInterface'] as const;
const assign = ['AssignPrivateIpAddresses'] as const;

const rows: readonly (readonly [string, FloorOptions, number])[] = [
  ['the tightest bucket counts', { nodes: 1000, actions: createAndAttach, scale: 1, share: 1 }, 190 + 1.74],
  ['one assign', { nodes: 1000, actions: assign, scale: 1, share: 1 }, 180 + 0.5],
  ['few nodes wait for nothing', { nodes: 50, actions: createAndAttach, scale: 1, share: 1 }, 1.74],
  [
    'one node more waits for one token',
    { nodes: 51, actions: createAndAttach, scale: 1, share: 1 },
    0.2 + 1.74,
  ],
  [
    'buckets and latencies scaled',
    { nodes: 1000, actions: createAndAttach, scale: 10, share: 1 },
    10 + 0.174,
  ],
  ['half of it left', { nodes: 1000, actions: createAndAttach, scale: 10, share: 0.5 }, 30 + 0.174],
];

describe('floorOf', () => {
  test.each(rows)('computes %s', (_, options, seconds) => {
    expect(floorOf(options)).toBeCloseTo(seconds, 9);
  });
});
