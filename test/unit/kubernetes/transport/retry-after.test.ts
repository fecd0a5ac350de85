import { expect, test } from '@jest/globals';
import { retryAfter } from '../../../../src/kubernetes/transport/retry-after.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

test.each([
  [undefined, undefined],
  ['', undefined],
  ['1', 1000],
  [' 120 ', 120_000],
  ['0', 0],
  ['-5', undefined],
  ['soon', undefined],
  ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
  ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
])('the Retry-After value %j means %j ms', (header, ms) => {
  expect(retryAfter(header, now)).toBe(ms);
});
