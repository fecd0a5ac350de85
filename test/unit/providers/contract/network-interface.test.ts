import { describe, expect, test } from '@jest/globals';
import { carries, expandHolding } from '../../../../src/providers/contract/network-interface.ts';

describe('carries', () => {
  test.each([
    ['nothing required matches anything', { a: '1' }, {}, true],
    ['nothing required matches nothing', {}, {}, true],
    ['one of several', { a: '1', b: '2' }, { b: '2' }, true],
    ['all of several', { a: '1', b: '2' }, { a: '1', b: '2' }, true],
    ['another value', { a: '1' }, { a: '2' }, false],
    ['one is missing', { a: '1' }, { a: '1', b: '2' }, false],
    ['values differ by case', { a: 'x' }, { a: 'X' }, false],
    ['an empty value is a value', { a: '' }, { a: '' }, true],
    ['an absent key is no empty value', {}, { a: '' }, false],
    ['what every object has is no tag', {}, { constructor: 'Object' }, false],
  ])('compares tags: %s', (_, tags, required, expected) => {
    expect(carries(tags, required)).toBe(expected);
  });
});

test.each([
  ['a prefix is all its addresses', '10.0.0.16/28', 16],
  ['an address is itself', '10.0.0.16', 1],
  ['an id is itself', 'eni-1', 1],
  ['an id that is a path is itself', '/subscriptions/s/networkInterfaces/nic0', 1],
])('%s', (_, holding, count) => {
  expect(expandHolding(holding)).toHaveLength(count);
});
