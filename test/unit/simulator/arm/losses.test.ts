import { describe, expect, test } from '@jest/globals';
import { lossesOf } from '../../../../src/simulator/arm/losses.ts';

describe('what a PUT loses', () => {
  test.each([
    ['nothing', { a: 1, b: { c: [1, 2] } }, { a: 1, b: { c: [1, 2] }, more: 3 }, []],
    ['a field', { a: { b: 1, c: 2 } }, { a: { b: 1 } }, ['a.c']],
    ['a value', { a: 1 }, { a: 2 }, ['a']],
    ['an object', { a: { b: 1 } }, { a: 1 }, ['a']],
    ['an item without a name', { a: [1, 2] }, { a: [1] }, ['a[1]']],
    ['a field of a named item', { a: [{ name: 'x', b: 1 }] }, { a: [{ name: 'x' }] }, ['a[x].b']],
    ['no configuration that goes', { ipConfigurations: [{ name: 'x' }] }, { ipConfigurations: [] }, []],
  ])('is %s', (_, before, after, lost) => {
    expect(lossesOf(before, after)).toEqual(lost);
  });
});
