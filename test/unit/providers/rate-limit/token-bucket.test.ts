import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  fullBucket,
  takeTokens,
  tokensAt,
  untilTokens,
} from '../../../../src/providers/rate-limit/token-bucket.ts';

const size = { capacity: 10, refill: 5 };

describe('a token bucket', () => {
  test.each([
    ['full at first', 0, 0, 10],
    ['less by what was taken', 4, 0, 6],
    ['refilled by the second', 10, 1000, 5],
    ['refilled by parts of a second', 10, 100, 0.5],
    ['never more than it holds', 4, 60_000, 10],
    ['in debt after a group larger than it', 15, 0, -5],
    ['out of debt in time', 15, 1000, 0],
  ])('is %s', (_, taken, later, left) => {
    const bucket = takeTokens(fullBucket(size, 500), taken, 500);

    expect(tokensAt(bucket, 500 + later)).toBeCloseTo(left);
  });

  test('loses nothing when the clock seems to go back', () => {
    const bucket = takeTokens(fullBucket(size, 500), 4, 500);

    expect(tokensAt(bucket, 100)).toBe(6);
  });

  test.each([
    ['all are there', 0, 10, 0],
    ['one is missing', 10, 1, 200],
    ['three are missing', 10, 3, 600],
    ['a group larger than the bucket goes when it is full', 5, 30, 1000],
    ['a debt is paid off first', 15, 1, 1200],
  ])('says how long until tokens can be taken: %s', (_, taken, count, wait) => {
    const bucket = takeTokens(fullBucket(size, 0), taken, 0);

    expect(untilTokens(bucket, count, 0)).toBeCloseTo(wait);
  });

  test('never has missing tokens without a refill', () => {
    const bucket = takeTokens(fullBucket({ capacity: 1, refill: 0 }, 0), 1, 0);

    expect(untilTokens(bucket, 1, 0)).toBe(Infinity);
  });

  test('reports a wait that is long enough, whatever the numbers, and not too long', () => {
    const refill = fc.double({ min: 0.01, max: 500, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        refill,
        fc.nat(300),
        fc.nat(250),
        (capacity, rate, taken, count) => {
          const bucket = takeTokens(fullBucket({ capacity, refill: rate }, 0), taken, 0);

          const wait = untilTokens(bucket, count, 0);

          expect(untilTokens(bucket, count, wait)).toBe(0);
          if (wait > 1) expect(untilTokens(bucket, count, wait * 0.99)).toBeGreaterThan(0);
        },
      ),
    );
  });
});
