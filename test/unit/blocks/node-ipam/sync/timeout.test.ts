import { describe, expect, test } from '@jest/globals';
import { Timeout } from '../../../../../src/blocks/node-ipam/sync/timeout.ts';

const usual = { resync: 30_000, initialRetry: 250, maxBackoff: 10_000 };

describe('the time until the next look', () => {
  test.each<[string, string, number[]]>([
    ['', 'at first', [30_000]],
    ['+', 'after a success', [30_000, 30_000]],
    ['-', 'after an error', [30_000, 250]],
    ['--------', 'after errors', [30_000, 250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]],
    ['--+', 'after errors and a success', [30_000, 250, 500, 30_000]],
    ['--+-', 'after errors, a success and an error', [30_000, 250, 500, 30_000, 250]],
  ])('%j, %s, is %j ms', (looks, _, times) => {
    const timeout = new Timeout(usual);

    const waits = looks.split('').map((look) => {
      timeout.update(look === '+');
      return timeout.next();
    });

    expect([30_000, ...waits]).toEqual(times);
  });

  test('is the initial retry once, even if the cap is lower', () => {
    const timeout = new Timeout({ ...usual, initialRetry: 20_000 });

    const waits = [1, 2, 3].map(() => {
      timeout.update(false);
      return timeout.next();
    });

    expect(waits).toEqual([20_000, 10_000, 10_000]);
  });

  test('begins with the resync', () => {
    expect(new Timeout(usual).next()).toBe(30_000);
  });
});
