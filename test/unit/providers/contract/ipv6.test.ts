import { describe, expect, test } from '@jest/globals';
import { isIpv6Prefix, isOfIpv6 } from '../../../../src/providers/contract/ipv6.ts';

describe('an IPv6 prefix of an interface', () => {
  test.each([
    ['2600:1f14:1:2:3::/80', true],
    ['2600:1f14:1:2:3:0:0:0/80', true],
    ['2600:1F14:1::/80', true],
    ['::/80', true],
    ['0:0:0:0:1::/80', true],
    ['2600:1f14:1:2:3::1/80', false],
    ['2600:1f14:1:2:3:4::/80', false],
    ['1:2:3:4:5:6:7::/80', false],
    ['2600:1f14:1:2::/64', false],
    ['2600:1f14:1:2:3::/080', false],
    ['2600:1f14:1:2:3::/80/80', false],
    ['2600:1f14:1:2:3::', false],
    ['fe80::%eth0/80', false],
    ['::10.0.0.0/80', false],
    ['10.0.0.0/28', false],
    ['', false],
  ])('is %s: %j', (text, expected) => {
    expect(isIpv6Prefix(text)).toBe(expected);
  });

  test.each([
    ['10.0.0.0/28', false],
    ['10.0.0.1', false],
    ['/subscriptions/a/networkInterfaces/b', false],
    ['2600:1f14::/80', true],
  ])('has the family of %s: %j', (text, expected) => {
    expect(isOfIpv6(text)).toBe(expected);
  });
});
