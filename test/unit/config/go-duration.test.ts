import { describe, expect, test } from '@jest/globals';
import { formatDuration, parseGoDuration } from '../../../src/config/go-duration.ts';

describe('parseGoDuration', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['300ms', 300],
    ['15s', 15_000],
    ['5m', 300_000],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
    ['2h45m10s5ms', 9_910_005],
    ['1.5s', 1500],
    ['.5s', 500],
    ['1.s', 1000],
    ['0.1s', 100],
    ['1.1s', 1100],
    ['250us', 0.25],
    ['250µs', 0.25],
    ['500ns', 0.0005],
  ])('reads %s as %d ms', (text, expected) => {
    expect(parseGoDuration(text)).toBe(expected);
  });

  test.each([
    '',
    '15',
    '-5s',
    '+5s',
    '5',
    '5 s',
    's',
    '.s',
    '5d',
    '5S',
    '1h5',
    '1..5s',
    '1.5.5s',
    '٣s',
    'Infinitys',
  ])('refuses %j', (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  });
});

test.each(['1', '1s1', '.1'])('a long text without a unit is refused in linear time: %s…', (text) => {
  expect(parseGoDuration(text.padEnd(1_000_000, '1'))).toBeUndefined();
});

describe('formatDuration', () => {
  test.each([
    [0, '0s'],
    [300, '300ms'],
    [15_000, '15s'],
    [90_000, '1m30s'],
    [3_600_000, '1h'],
    [86_400_000, '24h'],
    [3_600_250, '1h250ms'],
  ])('writes %d ms as %s, which reads back', (ms, expected) => {
    expect(formatDuration(ms)).toBe(expected);
    expect(parseGoDuration(expected)).toBe(ms);
  });
});
