import { describe, expect, test } from '@jest/globals';
import { saySameOfPools, withPools } from '../../../../src/simulator/workload/pool-demand.ts';

const node = {
  metadata: { resourceVersion: '7' },
  spec: { ipam: { 'pre-allocate': 8, pools: { allocated: [{ pool: 'default', cidrs: ['10.0.0.1/32'] }] } } },
};

describe('withPools', () => {
  test.each([
    [
      'demand and CIDRs',
      9,
      ['10.0.0.2/32'],
      {
        requested: [{ pool: 'default', needed: { 'ipv4-addrs': 9 } }],
        allocated: [{ pool: 'default', cidrs: ['10.0.0.2/32'] }],
      },
    ],
    [
      'without CIDRs what was written before stays',
      8,
      [],
      { requested: [{ pool: 'default', needed: { 'ipv4-addrs': 8 } }], ...node.spec.ipam.pools },
    ],
    ['no demand is not reported', 0, [], { requested: [], ...node.spec.ipam.pools }],
  ])('writes the pools: %s', (_, requested, cidrs, pools) => {
    expect(withPools(node, requested, cidrs)).toEqual({
      metadata: { resourceVersion: '7' },
      spec: { ipam: { 'pre-allocate': 8, pools } },
    });
  });
});

describe('saySameOfPools', () => {
  test.each([
    ['the same', withPools(node, 8, ['10.0.0.2/32']), true],
    ['other demand', withPools(node, 9, ['10.0.0.2/32']), false],
    ['other CIDRs', withPools(node, 8, ['10.0.0.2/32', '10.0.0.3/32']), false],
    ['nothing', {}, false],
  ])('compares the pools: %s', (_, other, same) => {
    expect(saySameOfPools(withPools(node, 8, ['10.0.0.2/32']), other)).toBe(same);
  });

  test('treats an empty list as none', () => {
    expect(saySameOfPools({}, { spec: { ipam: { pools: { requested: [], allocated: [] } } } })).toBe(true);
  });
});
