import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  canonicalAddress,
  cidrText,
  contains,
  network,
  overlaps,
  parseCidr,
} from '../../../../src/blocks/set/cidr.ts';

describe('a CIDR', () => {
  test.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['fd00::/48', 'fd00::/48'],
    ['FD00:0:0:0:0:0:0:1/128', 'fd00::1/128'],
    ['::/0', '::/0'],
    ['1:0:0:2:0:0:0:3/128', '1:0:0:2::3/128'],
    ['1:0:2:3:4:5:6:7/128', '1:0:2:3:4:5:6:7/128'],
    ['2001:db8::1:0:0:1/128', '2001:db8::1:0:0:1/128'],
  ])('%s is read and printed as %s', (text, printed) => {
    const reading = parseCidr(text);

    expect(reading).toMatchObject({ kind: 'cidr', hasHostBits: false });
    expect(reading.kind === 'cidr' && cidrText(reading.cidr)).toBe(printed);
  });

  test.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.0.1.5/24', '10.0.1.0/24'],
    ['fd00::5/64', 'fd00::/64'],
  ])('%s has host bits, and stands for %s', (text, printed) => {
    const reading = parseCidr(text);

    expect(reading).toMatchObject({ kind: 'cidr', hasHostBits: true });
    expect(reading.kind === 'cidr' && cidrText(reading.cidr)).toBe(printed);
  });

  test.each([
    ['', 'it is not an address, a slash and a prefix length'],
    ['10.0.0.0', 'it is not an address, a slash and a prefix length'],
    ['10.0.0.0/8/8', 'it is not an address, a slash and a prefix length'],
    ['x'.repeat(10_000), 'it is not an address, a slash and a prefix length'],
    ['10.0.0.0/33', 'its prefix length is not a whole number from 0 to 32'],
    ['10.0.0.0/08', 'its prefix length is not a whole number from 0 to 32'],
    ['10.0.0.0/-1', 'its prefix length is not a whole number from 0 to 32'],
    ['fd00::/129', 'its prefix length is not a whole number from 0 to 128'],
    ['10.0.0/8', 'its address is not four numbers from 0 to 255'],
    ['10.0.0.256/8', 'its address is not four numbers from 0 to 255'],
    ['pods/8', 'its address is not four numbers from 0 to 255'],
    ['010.0.0.0/8', 'of a leading zero: write 10.0.0.0/8'],
    ['fe80::1%eth0/64', 'of its zone: write fe80::/64'],
    ['::ffff:10.0.0.0/104', 'it is an IPv4 network within IPv6: write 10.0.0.0/8'],
    ['::ffff:a00:0/104', 'it is an IPv4 network within IPv6: write 10.0.0.0/8'],
    ['::ffff:0:0/80', 'it holds all IPv4 addresses within IPv6'],
    ['fd00::10.0.0.0/112', 'of its dots: write fd00::a00:0/112'],
    ['fd00::10.0.0.256/112', 'its address is not an IPv6 address'],
    ['fd00::1::/64', 'its address is not an IPv6 address'],
    ['1:2:3:4:5:6:7/64', 'its address is not an IPv6 address'],
    ['1:2:3:4:5:6:7:8::/64', 'its address is not an IPv6 address'],
    ['12345::/64', 'its address is not an IPv6 address'],
    [':1/64', 'its address is not an IPv6 address'],
  ])('is not %j', (text, why) => {
    expect(parseCidr(text)).toEqual({ kind: 'invalid', why });
  });

  const cidrs = fc
    .tuple(fc.constantFrom('ipv4' as const, 'ipv6' as const), fc.bigInt(0n, 2n ** 128n - 1n), fc.nat(128))
    .map(([family, address, length]) =>
      family === 'ipv4'
        ? network(family, address & 0xffff_ffffn, length % 33)
        : network(family, address | (1n << 127n), length % 129),
    );

  test('is read back as it was printed', () => {
    fc.assert(
      fc.property(cidrs, (cidr) => {
        expect(parseCidr(cidrText(cidr))).toEqual({ kind: 'cidr', cidr, hasHostBits: false });
      }),
    );
  });

  test('overlaps another if and only if one contains the other', () => {
    fc.assert(
      fc.property(cidrs, fc.nat(128), fc.bigInt(0n, 2n ** 128n - 1n), (outer, more, bits) => {
        const width = outer.family === 'ipv4' ? 32 : 128;
        const length = outer.length + (more % (width - outer.length + 1));
        const mask = (1n << BigInt(width - outer.length)) - 1n;
        const inner = network(outer.family, outer.base | (bits & mask), length);

        expect(contains(outer, inner)).toBe(true);
        expect(overlaps(inner, outer)).toBe(true);
        expect(contains(inner, outer)).toBe(length === outer.length);
      }),
    );
  });
});

describe('an address', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['FD00:0:0::1', 'fd00::1'],
    ['10.0.0.01', undefined],
    ['10.0.0.1/24', undefined],
    ['fe80::1%eth0', undefined],
    ['::ffff:10.0.0.1', undefined],
    ['x', undefined],
  ])('has one text: %s', (given, text) => {
    expect(canonicalAddress(given)).toBe(text);
  });
});
