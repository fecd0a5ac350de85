import { expect, test } from '@jest/globals';
import {
  decodeMicroTime,
  decodeTime,
  timeText,
} from '../../../../../src/simulator/kubernetes/schema/go-time.ts';

test.each([
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  ['2026-01-01T00:00:00.987Z', '2026-01-01T00:00:00Z'],
  ['2026-01-01T01:30:00+01:30', '2026-01-01T00:00:00Z'],
])('the time %s is kept as %s', (text, time) => {
  expect(decodeTime(text)).toEqual({ time });
});

test.each([
  ['garbage', 'cannot parse "garbage" as "2006"'],
  ['2026-01-01', 'cannot parse "" as "T"'],
  ['2026-01-01T00:00:00', 'cannot parse "" as "Z07:00"'],
])('the time %s is refused', (text, problem) => {
  expect(decodeTime(text)).toEqual({
    error: `parsing time "${text}" as "2006-01-02T15:04:05Z07:00": ${problem}`,
  });
});

test('a time with text after it, and a day that does not exist, are refused', () => {
  expect(decodeTime('2026-01-01T00:00:00Zx')).toEqual({
    error: 'parsing time "2026-01-01T00:00:00Zx": extra text: "x"',
  });
  expect(decodeTime('2026-13-01T00:00:00Z')).toHaveProperty('error');
});

test('a micro time keeps its microseconds', () => {
  expect(decodeMicroTime('2026-01-01T01:00:00.123456+01:00')).toEqual({
    time: '2026-01-01T00:00:00.123456Z',
  });
  expect(decodeMicroTime('2026-01-01T00:00:00Z')).toEqual({
    error:
      'parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  });
});

test('a time is written to the second', () => {
  expect(timeText(Date.UTC(2026, 0, 1, 0, 0, 1, 999))).toBe('2026-01-01T00:00:01Z');
});
