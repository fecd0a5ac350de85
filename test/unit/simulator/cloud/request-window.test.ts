import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { RequestWindow } from '../../../../src/simulator/cloud/request-window.ts';
import { TokenBucket } from '../../../../src/simulator/cloud/token-bucket.ts';

describe('a window of requests', () => {
  test('takes so many until it is over, and as many again in the next one', async () => {
    const time = new VirtualClock();
    const window = new RequestWindow(time, { max: 3, ms: 1000 });
    expect(window.take(2)).toBe(true);
    await time.advance(400);
    expect(window.take(2)).toBe(false);
    expect(window.level).toBe(1);
    expect(window.wait(2)).toBe(600);
    await time.advance(600);
    expect(window.wait(3)).toBe(0);
    window.drain(5);
    expect(window.level).toBe(0);
  });
});

describe('a token bucket', () => {
  test('says when it has so many tokens', async () => {
    const time = new VirtualClock();
    const bucket = new TokenBucket(time, { capacity: 10, refillPerSecond: 2 });
    expect(bucket.wait(10)).toBe(0);
    bucket.drain(10);
    await time.advance(500);
    expect(bucket.wait(3)).toBe(1000);
  });
});
