import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  baseOf,
  formatAddress,
  formatCidr,
  parseAddress,
  parseCidr,
  sizeOf,
} from '../../../../src/simulator/workload/ipv4.ts';

describe('parseAddress', () => {
  test.each([
    ['0.0.0.0', 0],
    ['10.0.0.1', 0x0a000001],
    ['255.255.255.255', 0xffffffff],
    ['192.168.1.254', 0xc0a801fe],
  ])('reads %s', (text, number) => {
    expect(parseAddress(text)).toBe(number);
    expect(formatAddress(number)).toBe(text);
  });

  test.each([
    '',
    '10.0.0',
    '10.0.0.0.1',
    '10.0.0.256',
    '010.0.0.1',
    '10.0.0.1 ',
    '10.0.-1.1',
    'fd00::1',
    'a.b.c.d',
  ])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});

describe('parseCidr', () => {
  test.each([
    ['10.0.0.16/28', '10.0.0.16/28', 16],
    ['10.0.0.17/28', '10.0.0.16/28', 16],
    ['10.0.0.1/32', '10.0.0.1/32', 1],
    ['200.1.2.3/8', '200.0.0.0/8', 2 ** 24],
    ['200.1.2.3/0', '0.0.0.0/0', 2 ** 32],
  ])('reads %s as %s with %d addresses', (text, canonical, size) => {
    const cidr = parseCidr(text);

    expect(cidr && formatCidr(cidr)).toBe(canonical);
    expect(cidr && sizeOf(cidr)).toBe(size);
  });

  test.each(['', '10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0/8', '/8', '10.0.0.0/8/8'])(
    'refuses %j',
    (text) => {
      expect(parseCidr(text)).toBeUndefined();
    },
  );

  test('finds a base at or below any address, less than one size away', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), fc.integer({ min: 0, max: 32 }), (address, bits) => {
        const first = baseOf(address, bits);

        expect(first).toBeLessThanOrEqual(address);
        expect(address - first).toBeLessThan(sizeOf({ first, bits }));
        expect(parseCidr(formatCidr({ first, bits }))).toEqual({ first, bits });
      }),
    );
  });
});
