import { describe, expect, test } from '@jest/globals';
import {
  covers,
  formatIpv4,
  formatIpv4Block,
  overlap,
  parseIpv4,
  parseIpv4Block,
  type Ipv4Block,
} from '../../../../src/simulator/cloud/ipv4.ts';

describe('IPv4', () => {
  test.each([
    ['0.0.0.0', 0],
    ['10.0.0.1', 0x0a000001],
    ['255.255.255.255', 0xffffffff],
  ])('reads %s as a number and writes it back', (text, number) => {
    expect(parseIpv4(text)).toBe(number);
    expect(formatIpv4(number)).toBe(text);
  });

  test.each(['', '10.0.0', '10.0.0.256', '010.0.0.1', '10.0.0.1 ', '10.0.0.0.1', 'a.b.c.d'])(
    'does not take %p for an address',
    (text) => {
      expect(parseIpv4(text)).toBeUndefined();
    },
  );

  test.each([
    ['10.0.0.7/28', '10.0.0.0/28'],
    ['10.255.255.255/8', '10.0.0.0/8'],
    ['10.0.0.1/32', '10.0.0.1/32'],
    ['255.1.2.3/0', '0.0.0.0/0'],
  ])('reads the block of %s as %s', (text, block) => {
    expect(formatIpv4Block(parseIpv4Block(text) as Ipv4Block)).toBe(block);
  });

  test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/08', '10.0.0.0/8/8'])(
    'does not take %p for a block',
    (text) => {
      expect(parseIpv4Block(text)).toBeUndefined();
    },
  );

  test.each([
    ['10.0.0.0/16', '10.0.255.0/24', true, true],
    ['10.0.0.0/24', '10.0.0.0/16', false, true],
    ['10.0.0.0/24', '10.0.1.0/24', false, false],
  ])('compares %s with %s: covers %p, overlaps %p', (a, b, inner, shared) => {
    const [first, second] = [parseIpv4Block(a) as Ipv4Block, parseIpv4Block(b) as Ipv4Block];

    expect(covers(first, second)).toBe(inner);
    expect(overlap(first, second)).toBe(shared);
  });
});
