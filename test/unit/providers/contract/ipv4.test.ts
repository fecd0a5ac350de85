import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  expandBlock,
  contains,
  formatAddress,
  parseAddress,
  parseBlock,
  sizeOf,
} from '../../../../src/providers/contract/ipv4.ts';

const anyAddress = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe('parseAddress', () => {
  test.each([
    ['0.0.0.0', 0],
    ['10.0.0.1', 0x0a000001],
    ['128.0.0.0', 0x80000000],
    ['255.255.255.255', 0xffffffff],
  ])('reads %s', (text, value) => {
    expect(parseAddress(text)).toBe(value);
  });

  test.each([
    '',
    '10.0.0',
    '10.0.0.0.0',
    '10.0.0.256',
    '010.0.0.1',
    '10.0.0.01',
    ' 10.0.0.1',
    '10.0.0.1 ',
    '10.0.0.1\n',
    '10.0.0.-1',
    '10.0.0.1e0',
    '0x0a.0.0.1',
    '167772161',
    '10.0.0.1/32',
    '::ffff:10.0.0.1',
    '１0.0.0.1',
  ])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  test('reads back what was written, and nothing else', () => {
    fc.assert(
      fc.property(anyAddress, (value) => {
        const text = formatAddress(value);

        expect(parseAddress(text)).toBe(value);
      }),
    );
  });

  test('accepts one text only for each address', () => {
    const part = fc.oneof(
      fc.integer({ min: -1, max: 300 }).map(String),
      fc.constantFrom('00', '07', '1e1', '', ' 1', '0x1'),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 3, maxLength: 5 }), (parts) => {
        const text = parts.join('.');

        const value = parseAddress(text);

        if (value !== undefined) expect(formatAddress(value)).toBe(text);
      }),
    );
  });
});

describe('parseBlock', () => {
  test.each([
    ['0.0.0.0/0', 0, 0],
    ['10.0.0.0/8', 0x0a000000, 8],
    ['192.168.1.16/28', 0xc0a80110, 28],
    ['128.0.0.0/1', 0x80000000, 1],
    ['255.255.255.255/32', 0xffffffff, 32],
  ])('reads %s', (text, first, length) => {
    expect(parseBlock(text)).toEqual({ first, length });
  });

  test.each([
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '10.0.0.0/8\n',
    '10.0.0.0/ 8',
    '10.0.0.1/31',
    '192.168.1.17/28',
    '/28',
    'fd00::/80',
  ])('refuses %j', (text) => {
    expect(parseBlock(text)).toBeUndefined();
  });
});

describe('an IPv4 block', () => {
  test('lists its sixteen addresses in order when it is a /28', () => {
    const members = expandBlock('10.0.0.240/28');

    expect(members).toHaveLength(16);
    expect([members[0], members[15]]).toEqual(['10.0.0.240', '10.0.0.255']);
  });

  test('must be valid before it can be listed', () => {
    expect(() => expandBlock('10.0.0.1/28')).toThrow(RangeError);
  });

  test('contains its members and neither neighbour', () => {
    fc.assert(
      fc.property(anyAddress, fc.integer({ min: 24, max: 32 }), (address, length) => {
        const size = 2 ** (32 - length);
        const first = address - (address % size);
        const block = { first, length };

        const members = expandBlock(`${formatAddress(first)}/${length}`);

        expect(members).toHaveLength(sizeOf(block));
        expect(members.every((member) => contains(block, parseAddress(member) ?? -1))).toBe(true);
        expect(contains(block, address)).toBe(true);
        expect(contains(block, first - 1)).toBe(false);
        expect(contains(block, first + size)).toBe(false);
      }),
    );
  });
});
