import { expect, test } from '@jest/globals';
import { type BackoffState, backOff } from '../../../src/runtime/exponential-backoff.ts';
import { Random } from '../../../src/runtime/random.ts';

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
