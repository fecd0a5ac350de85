import { describe, expect, test } from '@jest/globals';
import { retry } from '../../../src/runtime/retry.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

describe('an attempt', () => {
  test('is repeated after each pause until its result is final', async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    const startedAt: number[] = [];
    const pauses = [100, 0, 1000];

    const result = retry(
      { clock, signal },
      (tries) => {
        startedAt.push(clock.monotonic());
        return Promise.resolve(`result ${tries}`);
      },
      (_, tries) => pauses[tries - 1],
    );
    await clock.advance(2000);

    expect(startedAt).toEqual([0, 100, 100, 1100]);
    expect(await result).toBe('result 4');
  });

  test.each([0, 1000])('is not repeated once the signal aborts during a pause of %s ms', async (pause) => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    let attempts = 0;

    const result = retry(
      { clock, signal: stop.signal },
      () => Promise.resolve(++attempts),
      () => {
        clock.schedule(500, () => stop.abort(new Error('stopped')));
        if (pause === 0) stop.abort(new Error('stopped'));
        return pause;
      },
    );
    const end = result.catch(String);
    await clock.advance(5000);

    expect(await end).toBe('Error: stopped');
    expect(attempts).toBe(1);
  });

  test('ends the repetition if it rejects', async () => {
    const { signal } = new AbortController();

    const result = retry(
      { clock: new VirtualClock(), signal },
      () => Promise.reject(new Error('a bug')),
      () => 0,
    );

    await expect(result).rejects.toThrow('a bug');
  });
});
