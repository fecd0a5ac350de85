import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { percentile } from '../../../bench/percentile.ts';

const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

describe('percentile', () => {
  test.each([
    [[7], 0.5, 7],
    [[3, 1, 2], 0.5, 2],
    [[4, 1, 3, 2], 0.5, 2],
    [hundred, 0.99, 99],
    [hundred, 1, 100],
    [hundred, 0.01, 1],
    [[10, 2, 33], 1, 33],
  ])('is, of %j at %d, %d', (values, share, expected) => {
    expect(percentile(values, share)).toBe(expected);
  });

  test('is the smallest value that at least that part of the values does not exceed', () => {
    const values = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 100 }), (all, percent) => {
        const found = percentile(all, percent / 100);
        const upTo = (limit: number): number => all.filter((value) => value <= limit).length;
        expect(upTo(found) * 100).toBeGreaterThanOrEqual(percent * all.length);
        expect(upTo(found - 1) * 100).toBeLessThan(percent * all.length);
      }),
    );
  });

  test.each([
    [[], 0.5],
    [[1], 0],
    [[1], 1.1],
    [[1], Number.NaN],
  ])('refuses %j at %d', (values, share) => {
    expect(() => percentile(values, share)).toThrow(RangeError);
  });
});
