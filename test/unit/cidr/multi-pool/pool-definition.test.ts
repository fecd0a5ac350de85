import { describe, expect, test } from '@jest/globals';
import { readPool, usableAddresses } from '../../../../src/cidr/multi-pool/pool-definition.ts';
import { readCiliumPodIpPool } from '../../../../src/kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import type { JsonObject } from '../../../../src/kubernetes/transport/json.ts';
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

  test.each<[string, JsonObject, number | RegExp]>([
    [
      'of both families',
      { ipv4: { cidrs: ['10.0.0.0/16'], maskSize: 24 }, ipv6: { cidrs: ['fd00::/112'], maskSize: 120 } },
      2,
    ],
    ['with host bits', { ipv4: { cidrs: ['10.0.0.1/16'], maskSize: 24 } }, 1],
    ['without networks', {}, /^it has no network/],
    ['with a leading zero', { ipv4: { cidrs: ['010.0.0.0/8'], maskSize: 24 } }, /write 10\.0\.0\.0\/8/],
    [
      'whose IPv6 mask is 17 bits longer',
      { ipv6: { cidrs: ['fd00::/103'], maskSize: 120 } },
      /cannot be divided/,
    ],
    [
      'whose networks overlap',
      { ipv4: { cidrs: ['10.0.0.0/16', '10.0.1.0/24'], maskSize: 24 } },
      /of the same pool/,
    ],
  ])('%s is read as it is', (_, spec, expected) => {
    if (typeof expected === 'number') expect(read(spec)).toBe(expected);
    else expect(read(spec)).toMatch(expected);
  });
});
