import { describe, expect, test } from '@jest/globals';
import { BlockCensus } from '../../../../src/providers/contract/block-census.ts';

describe('the whole blocks of a subnet', () => {
  test.each<[what: string, cidr: string, holdings: readonly string[], blocks: number]>([
    ['an empty /24 has 14: the cloud keeps addresses in the first and the last', '10.0.1.0/24', [], 14],
    ['a single address takes its block', '10.0.1.0/24', ['10.0.1.16'], 13],
    ['two addresses in one block take it once', '10.0.1.0/24', ['10.0.1.17', '10.0.1.31'], 13],
    ['a prefix takes its block', '10.0.1.0/24', ['10.0.1.32/28', '10.0.1.33'], 13],
    ['an address in the first or the last block takes none', '10.0.1.0/24', ['10.0.1.5', '10.0.1.250'], 14],
    ['an address outside the subnet takes none', '10.0.1.0/24', ['10.0.2.20'], 14],
    ['a /27 has none', '10.0.1.0/27', [], 0],
    ['a /28 has none', '10.0.1.0/28', [], 0],
    ['an unreadable block has none', 'fd00::/64', [], 0],
    ['a subnet above 128.0.0.0 counts like any other', '172.31.0.0/24', ['172.31.0.100'], 13],
  ])('are counted: %s', (_, cidr, holdings, blocks) => {
    const census = new BlockCensus();

    census.take({ subnetId: 'subnet-1', holdings });

    expect(census.wholeBlocks('subnet-1', cidr)).toBe(blocks);
  });

  test('are counted for each subnet alone', () => {
    const census = new BlockCensus();

    census.take({ subnetId: 'subnet-1', holdings: ['10.0.2.20'] });

    expect(census.wholeBlocks('subnet-2', '10.0.2.0/24')).toBe(14);
  });
});
