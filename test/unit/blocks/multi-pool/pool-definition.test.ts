import { describe, expect, test } from '@jest/globals';
import { readPool, usableAddresses } from '../../../../src/blocks/multi-pool/pool-definition.ts';
import { readCiliumPodIpPool } from '../../../../src/kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { cidr } from '../allocation/holder-model.ts';

const all = { allowFirstIp: true, allowLastIp: true };

describe('the usable addresses of a block', () => {
  test.each([
    ['10.0.0.0/24', undefined, 254],
    ['10.0.0.0/24', { allowFirstIp: true, allowLastIp: false }, 255],
    ['10.0.0.0/24', all, 256],
    ['10.0.0.0/30', undefined, 2],
    ['10.0.0.0/31', undefined, 2],
    ['10.0.0.0/32', all, 1],
    ['fd00::/112', undefined, 65_534],
    ['fd00::/127', undefined, 2],
    ['fd00::/64', undefined, 2 ** 64],
  ])('of %s with %j are %d', (text, rules, expected) => {
    expect(usableAddresses(cidr(text), rules)).toBe(expected);
  });
});

describe('a pool', () => {
  const read = (spec: JsonObject): unknown => {
    const reading = readPool(readCiliumPodIpPool({ metadata: { name: 'blue' }, spec }));
    return reading.kind === 'pool' ? reading.pool.cidrs.length : reading.why;
  };

  test.each<[string, JsonObject, number]>([
    [
      'of both families',
      { ipv4: { cidrs: ['10.0.0.0/16'], maskSize: 24 }, ipv6: { cidrs: ['fd00::/112'], maskSize: 120 } },
      2,
    ],
    ['with host bits', { ipv4: { cidrs: ['10.0.0.1/16'], maskSize: 24 } }, 1],
  ])('%s is read as it is', (_, spec, networks) => {
    expect(read(spec)).toBe(networks);
  });

  test.each<[string, JsonObject, string]>([
    ['no network', {}, 'it has no network: set spec.ipv4 or spec.ipv6'],
    [
      'no mask size',
      { ipv4: { cidrs: ['10.0.0.0/16'] } },
      'spec.ipv4.maskSize is missing: set a whole number from 1 to 32',
    ],
    [
      'a leading zero',
      { ipv4: { cidrs: ['010.0.0.0/8'], maskSize: 24 } },
      'correct or remove "010.0.0.0/8" of spec.ipv4.cidrs, which cannot be read because of a leading zero: write 10.0.0.0/8',
    ],
    [
      'text that is no address',
      { ipv6: { cidrs: ['fd00::x/64'], maskSize: 64 } },
      'correct or remove "fd00::x/64" of spec.ipv6.cidrs, which cannot be read because its address is not an IPv6 address',
    ],
    [
      'a network of the other family',
      { ipv6: { cidrs: ['10.0.0.0/16'], maskSize: 112 } },
      '"10.0.0.0/16" of spec.ipv6.cidrs is an IPv4 network: move it to spec.ipv4.cidrs',
    ],
    [
      'an IPv6 mask that is 17 bits longer',
      { ipv6: { cidrs: ['fd00::/103'], maskSize: 120 } },
      '"fd00::/103" of spec.ipv6.cidrs cannot be divided by spec.ipv6.maskSize because its prefix length is more than 16 less than the mask size, which is 120: change one of them',
    ],
    [
      'a mask shorter than its network',
      { ipv4: { cidrs: ['10.0.0.0/26'], maskSize: 24 } },
      '"10.0.0.0/26" of spec.ipv4.cidrs cannot be divided by spec.ipv4.maskSize because its prefix length is greater than the mask size, which is 24: change one of them',
    ],
    [
      'networks that overlap',
      { ipv4: { cidrs: ['10.0.0.0/16', '10.0.1.0/24'], maskSize: 24 } },
      '"10.0.1.0/24" of spec.ipv4.cidrs overlaps 10.0.0.0/16 of the same pool: remove one',
    ],
  ])('with %s names the field, its value and what to do', (_, spec, why) => {
    expect(read(spec)).toContain(why);
  });
});
