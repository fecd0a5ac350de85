import { describe, expect, test } from '@jest/globals';
import {
  formatIpv6,
  formatIpv6Block,
  type Ipv6Block,
  parseIpv6,
  parseIpv6Block,
} from '../../../../src/simulator/cloud/ipv6.ts';

describe('IPv6', () => {
  test.each([
    ['::', '::'],
    ['::1', '::1'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['fe80::', 'fe80::'],
  ])('writes %s as %s', (text, min) => {
    expect(formatIpv6(parseIpv6(text) as bigint)).toBe(min);
  });

  test.each(['', ':::', '1.2.3.4', '::ffff:1.2.3.4', 'fe80::1%eth0', '2001:db8'])(
    'does not take %p for an address',
    (text) => {
      expect(parseIpv6(text)).toBeUndefined();
    },
  );

  test.each([
    ['2001:db8::5/64', '2001:db8::/64'],
    ['2001:db8:0:1:2:3:4:5/80', '2001:db8:0:1:2::/80'],
  ])('reads the block of %s as %s', (text, block) => {
    expect(formatIpv6Block(parseIpv6Block(text) as Ipv6Block)).toBe(block);
  });
});
