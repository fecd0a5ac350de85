import { describe, expect, test } from '@jest/globals';
import { SyncBackoff } from '../../../../../src/blocks/node-ipam/sync/sync-backoff.ts';

const usual = { resync: 30_000, initialRetry: 250, maxBackoff: 10_000 };

describe('the time until the next look', () => {
  test.each<[string, string, number[]]>([
    ['+', 'after a success', [30_000]],
    ['-', 'after an error', [250]],
    ['--------', 'after errors', [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]],
    ['--+', 'after errors and a success', [250, 500, 30_000]],
    ['--+-', 'after errors, a success and an error', [250, 500, 30_000, 250]],
  ])('%j, %s, is %j ms', (looks, _, times) => {
    const backoff = new SyncBackoff(usual);

    const waits = looks
      .split('')
      .map((look) => (look === '+' ? backoff.afterSuccess() : backoff.afterFailure()));

    expect(waits).toEqual(times);
  });

  test('is the initial retry once, even if the cap is lower', () => {
    const backoff = new SyncBackoff({ ...usual, initialRetry: 20_000 });

    const waits = [1, 2, 3].map(() => backoff.afterFailure());

    expect(waits).toEqual([20_000, 10_000, 10_000]);
  });
});
