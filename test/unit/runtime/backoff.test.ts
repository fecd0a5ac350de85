import { expect, test } from '@jest/globals';
import { Backoff, backOff, type BackoffState, waitBeforeRetry } from '../../../src/runtime/backoff.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

test('a backoff pauses longer after each failure in a row, from that failure on, and starts over after a success', async () => {
  const clock = new VirtualClock();
  const streak = new Backoff({ base: 1000, cap: 4000 }, { clock, random: new Random('streak') });
  const seen: unknown[] = [[streak.failures, streak.until, streak.isPausing]];

  for (const full of [1000, 2000, 4000, 4000]) {
    const wait = streak.fail();
    seen.push([streak.failures, wait > full / 2 && wait <= full, streak.until - clock.monotonic() === wait]);
    await clock.advance(wait - 1);
    seen.push(streak.isPausing);
    await clock.advance(1);
    seen.push(streak.isPausing);
  }
  streak.fail();
  streak.forget();
  seen.push([streak.failures, streak.until, streak.isPausing]);
  const afterwards = streak.fail();

  const pauses = [1, 2, 3, 4].flatMap((failures) => [[failures, true, true], true, false]);
  expect(seen).toEqual([[0, 0, false], ...pauses, [0, 0, false]]);
  expect(afterwards).toBeLessThanOrEqual(1000);
});

test('an exponential backoff doubles the wait with each failure up to the cap, within its upper half', () => {
  const random = new Random('backoff');
  const policy = { base: 1000, cap: 10_000 };
  let state: BackoffState | undefined;

  for (const full of [1000, 2000, 4000, 8000, 10_000, 10_000]) {
    state = backOff(state, policy, 500, random);

    expect(state.until - 500).toBeGreaterThanOrEqual(full / 2);
    expect(state.until - 500).toBeLessThanOrEqual(full);
  }
  expect(state?.failures).toBe(6);
});

test.each<[string, number | undefined, number, number]>([
  ['nothing', undefined, 30_000, 30_000],
  ['no wait', 0, 30_000, 30_000],
  ['less than the backoff', 1000, 1000, 1250],
  ['more than the backoff', 60_000, 60_000, 75_000],
  ['a year', 31_536_000_000, 300_000, 375_000],
])('a server that asks for %s is kept to', (_, asked, min, max) => {
  const random = new Random('asked');
  const waits = Array.from({ length: 100 }, () => waitBeforeRetry(30_000, asked, random));

  expect(waits.every((wait) => wait >= min && wait <= max)).toBe(true);
  expect(new Set(waits).size > 1).toBe(min !== max);
});
