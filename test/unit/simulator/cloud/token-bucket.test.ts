import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { TokenBucket } from '../../../../src/simulator/cloud/token-bucket.ts';

describe('TokenBucket', () => {
  test('is full at first, refills steadily and never overflows', async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket(clock, { capacity: 3, refillPerSecond: 2 });

    const burst = [1, 2, 3, 4].map(() => bucket.take(1));
    await clock.advance(499);
    const early = bucket.take(1);
    await clock.advance(1);
    const due = bucket.take(1);
    await clock.advance(60_000);

    expect(burst).toEqual([true, true, true, false]);
    expect([early, due]).toEqual([false, true]);
    expect(bucket.level).toBe(3);
  });

  test('can be drained by another client', () => {
    const bucket = new TokenBucket(new VirtualClock(), { capacity: 3, refillPerSecond: 2 });

    bucket.drain(10);

    expect(bucket.level).toBe(0);
    expect(bucket.take(1)).toBe(false);
  });
});
