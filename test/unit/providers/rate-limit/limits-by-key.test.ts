import { describe, expect, test } from '@jest/globals';
import type { LimitedCall } from '../../../../src/providers/rate-limit/limit-key.ts';
import { rateLimiterRig, waitingFor } from '../rate-limiter-rig.ts';

const ofVm = { capacity: 2, refill: 0.1, isPerThing: true } as const;
const reads = { capacity: 4, refill: 1 };

/** A read of a VM in a subscription. */
function readOf(vm: string, subscription = 'a'): LimitedCall {
  return {
    limits: [
      { name: 'get', resource: subscription },
      { name: 'get-per-vm', resource: vm },
      { name: 'reads', resource: subscription },
    ],
  };
}

const buckets = { get: { capacity: 100, refill: 100 }, 'get-per-vm': ofVm, reads };

describe('a call with several limits', () => {
  test('waits for the scarcest of them', async () => {
    const { clock, granted, ask } = rateLimiterRig({ buckets });

    for (const vm of ['1', '2', '3', '4', '5', '6']) void ask(vm, [readOf(vm)]);
    for (const name of ['1b', '1c']) void ask(name, [readOf('1')]);
    await clock.advance(20_000);

    expect(granted).toEqual(['1@0', '2@0', '3@0', '4@0', '5@1000', '6@2000', '1b@3000', '1c@10000']);
  });

  test('that waits for its own VM keeps no token from the calls for others', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({ buckets });

    for (const name of ['1', '1b', '1c', '1d']) void ask(name, [readOf('1')]);
    for (const vm of ['2', '3']) void ask(vm, [readOf(vm)]);
    await clock.advance(0);

    expect(granted).toEqual(['1@0', '1b@0', '2@0', '3@0']);
    expect(waitingFor(rateLimiter, 'get-per-vm')).toBe(2);
  });

  test('takes nothing from the limits of another subscription', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({ buckets });

    for (const vm of ['1', '2', '3', '4', '5']) void ask(`a${vm}`, [readOf(vm, 'a')]);
    void ask('b1', [readOf('1', 'b')]);
    await clock.advance(0);

    expect(granted).toEqual(['a1@0', 'a2@0', 'a3@0', 'a4@0', 'b1@0']);
    const tokens = rateLimiter.levels().map((level) => [level.action, Math.floor(level.tokens)]);
    expect(tokens).toEqual([
      ['get a', 96],
      ['get b', 99],
      ['get-per-vm', 0],
      ['reads a', 0],
      ['reads b', 3],
    ]);
  });

  test('gives all of its tokens back', async () => {
    const { clock, granted, ask } = rateLimiterRig({ buckets: { ...buckets, reads: ofVm } });
    const refund = await ask('1', [readOf('1'), readOf('1')], { sent: false });
    void ask('2', [readOf('1')]);

    await clock.advance(100);
    refund();
    await clock.advance(0);

    expect(granted).toEqual(['1@0', '2@100']);
  });
});

describe('an answer about a limit', () => {
  test('that refuses a call closes that limit for all its callers, and no other', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({ buckets });

    rateLimiter.answered({
      call: readOf('1'),
      sentAt: 0,
      throttled: true,
      limit: { name: 'reads', resource: 'a' },
      retryAfter: 7000,
    });
    void ask('1', [readOf('1')]);
    void ask('2', [readOf('2')]);
    void ask('b', [readOf('3', 'b')]);
    await clock.advance(10_000);

    expect(granted).toEqual(['b@0', '1@7000', '2@7000']);
  });

  test('of one VM closes it for that VM', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({ buckets });

    rateLimiter.answered({
      call: readOf('1'),
      sentAt: 0,
      throttled: true,
      limit: { name: 'get-per-vm', resource: '1' },
      retryAfter: 60_000,
    });
    void ask('1', [readOf('1')]);
    void ask('2', [readOf('2')]);
    await clock.advance(60_000);

    expect(granted).toEqual(['2@0', '1@60000']);
  });

  test('that names none counts for the most specific one of the call', () => {
    const { rateLimiter } = rateLimiterRig({ buckets });

    rateLimiter.answered({ call: readOf('1'), sentAt: 0, throttled: true, retryAfter: undefined });

    const throttled = rateLimiter.levels().filter((level) => level.throttled > 0);
    expect(throttled.map(({ action }) => action)).toEqual(['get a']);
  });

  test('that says how many calls remain lowers it at once', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({ buckets });

    rateLimiter.remaining({ name: 'reads', resource: 'a' }, 1);
    for (const vm of ['1', '2', '3']) void ask(vm, [readOf(vm)]);
    await clock.advance(5000);

    expect(granted).toEqual(['1@0', '2@1000', '3@2000']);
  });

  test('that says how many calls remain counts those that were granted before', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({ buckets });
    await ask('1', [readOf('1')], { sent: false });

    rateLimiter.remaining({ name: 'reads', resource: 'a' }, 1);
    void ask('2', [readOf('2')]);
    await clock.advance(0);

    expect(granted).toEqual(['1@0']);
  });

  test('that says how many calls remain leaves the part of a token that it does not say', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({ buckets });
    for (const vm of ['1', '2', '3', '4', '5']) void ask(vm, [readOf(vm)]);

    for (let answers = 0; answers < 12; answers++) {
      await clock.advance(100);
      rateLimiter.remaining({ name: 'reads', resource: 'a' }, 0);
    }

    expect(granted).toEqual(['1@0', '2@0', '3@0', '4@0', '5@1000']);
  });

  test('that says that more calls remain than we count on raises nothing', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({ buckets });

    rateLimiter.remaining({ name: 'reads', resource: 'a' }, 1000);
    for (const vm of ['1', '2', '3', '4', '5']) void ask(vm, [readOf(vm)]);
    await clock.advance(0);

    expect(granted).toHaveLength(4);
  });
});
