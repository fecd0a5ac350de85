import { describe, expect, test } from '@jest/globals';
import { daysLeft, type PaceSample, withSample } from '../../../src/runtime/pace.ts';

const hour = 3_600_000;

describe('how long free blocks last', () => {
  test.each<[string, readonly PaceSample[], PaceSample, number, number | undefined]>([
    ['at 24 blocks a day', [{ at: 0, held: 10 }], { at: 2 * hour, held: 12 }, 48, 2],
    ['at a pace of years', [{ at: 0, held: 10 }], { at: 24 * hour, held: 11 }, 400, 400],
    ['is not said within the first hour', [{ at: 0, held: 0 }], { at: hour - 1, held: 9 }, 9, undefined],
    ['is not said while fewer are held', [{ at: 0, held: 9 }], { at: 2 * hour, held: 9 }, 9, undefined],
    ['is not said without a sample', [], { at: hour, held: 9 }, 9, undefined],
    ['is nothing once none is free', [{ at: 0, held: 0 }], { at: hour, held: 9 }, 0, 0],
  ])('%s', (_, samples, now, free, days) => {
    expect(daysLeft(samples, now, free)).toBe(days);
  });

  test('is judged by a sample an hour of the last day', () => {
    let samples: readonly PaceSample[] = [];
    for (let at = 0; at <= 48 * hour; at += hour / 2) samples = withSample(samples, { at, held: at });

    expect([samples[0]?.at, samples.length]).toEqual([24 * hour, 25]);
  });
});
