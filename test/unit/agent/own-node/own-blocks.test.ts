import { describe, expect, test } from '@jest/globals';
import { chooseBlocks } from '../../../../src/agent/own-node/own-blocks.ts';
import { type Cidr, cidrText, parseCidr } from '../../../../src/blocks/set/cidr.ts';

function cidr(text: string): Cidr {
  const reading = parseCidr(text);
  if (reading.kind === 'invalid') throw new Error(reading.why);
  return reading.cidr;
}

describe('the blocks of a node', () => {
  test.each<[readonly string[], readonly string[], readonly string[], number]>([
    [['10.0.1.0/24'], [], ['10.0.1.0/24'], 0],
    [['10.0.1.0/24', 'fd00::/64'], [], ['10.0.1.0/24', 'fd00::/64'], 0],
    [['fd00::/64', '10.0.1.0/24', '10.0.2.0/24'], [], ['10.0.1.0/24', 'fd00::/64'], 0],
    [['10.0.1.0/24', '10.0.0.0/16'], [], ['10.0.1.0/24'], 0],
    [['0.0.0.0/0', '10.0.1.0/24'], [], ['10.0.1.0/24'], 1],
    [['10.0.1.7/32', '::/0', 'x', ''], [], [], 4],
    [['10.0.1.0/24'], ['10.9.0.0/24'], ['10.9.0.0/24'], 0],
    [['10.0.1.0/24'], ['fd00::/64'], ['10.0.1.0/24', 'fd00::/64'], 0],
    [[], [], [], 0],
  ])('of %j with ranges %j are %j', (shown, ranges, blocks, problems) => {
    const chosen = chooseBlocks(shown, ranges.map(cidr));

    expect(Object.values(chosen.blocks).map(cidrText)).toEqual(blocks);
    expect(chosen.problems).toHaveLength(problems);
  });
});
