import type { TokenRequest } from '../../../../src/providers/rate-limit/rate-limiter.ts';
import { describe, expect, test } from '@jest/globals';
import type { Priority } from '../../../../src/providers/contract/priority.ts';
import { callOf, rateLimiterRig, waitingFor } from '../rate-limiter-rig.ts';

const one = { capacity: 1, refill: 1 };

describe('tokens of a rate limit', () => {
  test('are there at once while there are any, then as they are refilled', async () => {
    const { clock, granted, ask } = rateLimiterRig({ buckets: { read: { capacity: 2, refill: 4 } } });

    for (const name of ['a', 'b', 'c', 'd']) void ask(name, ['read']);
    await clock.advance(2000);

    expect(granted).toEqual(['a@0', 'b@0', 'c@250', 'd@500']);
  });

  test('are unlimited for an action without a bucket', async () => {
    const { clock, granted, ask } = rateLimiterRig({});

    for (const name of ['a', 'b', 'c']) void ask(name, ['read']);
    await clock.advance(0);

    expect(granted).toEqual(['a@0', 'b@0', 'c@0']);
  });

  test('go to the highest priority first, then in order of arrival', async () => {
    const { clock, granted, ask } = rateLimiterRig({ buckets: { read: one } });
    void ask('first', ['read']);

    for (const priority of ['housekeeping', 'release', 'normal', 'high', 'critical'] as const) {
      void ask(`${priority}1`, ['read'], { priority });
      void ask(`${priority}2`, ['read'], { priority });
    }
    await clock.advance(20_000);

    expect(granted.map((entry) => entry.split('@')[0])).toEqual([
      'first',
      'critical1',
      'critical2',
      'high1',
      'high2',
      'normal1',
      'normal2',
      'release1',
      'release2',
      'housekeeping1',
      'housekeeping2',
    ]);
  });

  test('go by the priority at the time of the grant', async () => {
    const { clock, granted, ask } = rateLimiterRig({ buckets: { read: one } });
    let priority: Priority = 'normal';
    void ask('first', ['read']);
    void ask('early', ['read'], { priority: 'high' });
    void ask('late', ['read'], { priority: () => priority });

    await clock.advance(500);
    priority = 'critical';
    await clock.advance(5000);

    expect(granted).toEqual(['first@0', 'late@1000', 'early@2000']);
  });

  test('are taken at the same instant when they belong to several actions', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({
      buckets: { create: { capacity: 1, refill: 1 }, attach: { capacity: 1, refill: 0.5 } },
    });
    void ask('create', ['create']);
    void ask('attach', ['attach']);

    void ask('both', ['create', 'attach']);
    await clock.advance(1999);
    const before = [...granted];
    const waiting = [waitingFor(rateLimiter, 'create'), waitingFor(rateLimiter, 'attach')];
    await clock.advance(1);

    expect(before).toEqual(['create@0', 'attach@0']);
    expect(waiting).toEqual([1, 1]);
    expect(granted[2]).toBe('both@2000');
    expect(waitingFor(rateLimiter, 'create')).toBe(0);
  });

  test('cost two for two calls of one action', async () => {
    const { clock, granted, ask } = rateLimiterRig({ buckets: { read: { capacity: 3, refill: 1 } } });

    void ask('two', ['read', 'read']);
    void ask('two more', ['read', 'read']);
    await clock.advance(5000);

    expect(granted).toEqual(['two@0', 'two more@1000']);
  });

  test('go to a group larger than its bucket when the bucket is full, and the calls after it pay', async () => {
    const { clock, granted, ask } = rateLimiterRig({ buckets: { read: { capacity: 2, refill: 1 } } });
    void ask('first', ['read']);

    void ask('group', ['read', 'read', 'read']);
    void ask('next', ['read']);
    await clock.advance(10_000);

    expect(granted).toEqual(['first@0', 'group@1000', 'next@3000']);
  });

  test('are limited by the overall bucket for the sum of all calls', async () => {
    const { clock, granted, ask } = rateLimiterRig({ overall: { capacity: 3, refill: 1 } });

    void ask('pair', ['create', 'attach']);
    void ask('read', ['read']);
    void ask('other', ['write']);
    void ask('pair2', ['create', 'attach']);
    await clock.advance(10_000);

    expect(granted).toEqual(['pair@0', 'read@0', 'other@1000', 'pair2@3000']);
  });
});

describe('refunded tokens', () => {
  test('go to the next waiting call, in every bucket that they were taken from', async () => {
    const { clock, granted, ask } = rateLimiterRig({
      buckets: { create: one, attach: one },
      overall: { capacity: 2, refill: 0.1 },
    });
    const refund = await ask('first', ['create', 'attach']);
    void ask('second', ['create', 'attach']);

    await clock.advance(100);
    refund();
    await clock.advance(0);

    expect(granted).toEqual(['first@0', 'second@100']);
  });

  test('are refunded once only', async () => {
    const { clock, granted, ask } = rateLimiterRig({ buckets: { read: { capacity: 1, refill: 0.001 } } });
    const refund = await ask('first', ['read']);
    for (const name of ['second', 'third']) void ask(name, ['read']);

    refund();
    refund();
    await clock.advance(100);

    expect(granted).toEqual(['first@0', 'second@0']);
  });

  test('do not fill a bucket beyond its capacity', async () => {
    const { clock, granted, ask } = rateLimiterRig({ buckets: { read: { capacity: 1, refill: 1 } } });
    const refund = await ask('first', ['read']);

    await clock.advance(10_000);
    refund();
    for (const name of ['second', 'third']) void ask(name, ['read']);
    await clock.advance(0);

    expect(granted).toEqual(['first@0', 'second@10000']);
  });
});

describe('a call that waits for tokens', () => {
  test('keeps its tokens from later calls', async () => {
    const { clock, granted, ask } = rateLimiterRig({
      buckets: { create: { capacity: 1, refill: 0.1 }, attach: one },
    });
    void ask('create', ['create']);
    void ask('both', ['create', 'attach']);

    for (let second = 0; second < 12; second++) {
      void ask('attach', ['attach']);
      await clock.advance(1000);
    }

    expect(granted.slice(0, 3)).toEqual(['create@0', 'both@10000', 'attach@11000']);
  });

  test('does not keep more than it needs', async () => {
    const { clock, granted, ask } = rateLimiterRig({
      buckets: { create: one, attach: { capacity: 3, refill: 1 } },
    });
    void ask('create', ['create']);
    void ask('both', ['create', 'attach']);

    for (const name of ['attach1', 'attach2', 'attach3']) void ask(name, ['attach']);
    await clock.advance(0);

    expect(granted).toEqual(['create@0', 'attach1@0', 'attach2@0']);
  });

  test('does not hold other actions back under an overall bucket', async () => {
    const { clock, granted, ask } = rateLimiterRig({
      buckets: { create: one },
      overall: { capacity: 20, refill: 20 },
    });
    for (const name of ['create1', 'create2', 'create3']) void ask(name, ['create']);

    void ask('read', ['read']);
    await clock.advance(0);

    expect(granted).toEqual(['create1@0', 'read@0']);
  });

  test('takes nothing if it is aborted, and lets those behind it through', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({
      buckets: { create: { capacity: 1, refill: 0.001 }, attach: one },
    });
    void ask('create', ['create']);
    const giveUp = new AbortController();
    const reason = new Error('no longer needed');
    const both = ask('both', ['create', 'attach'], { signal: giveUp.signal });
    void ask('attach', ['attach']);

    giveUp.abort(reason);

    await expect(both).rejects.toBe(reason);
    await clock.advance(0);
    expect(granted).toEqual(['create@0', 'attach@0']);
    expect(waitingFor(rateLimiter, 'create')).toBe(0);
  });

  test('takes no place in the queue if it was aborted before', async () => {
    const { rateLimiter, ask } = rateLimiterRig({ buckets: { read: one } });
    const reason = new Error('too late');

    await expect(ask('late', ['read'], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);

    expect(waitingFor(rateLimiter, 'read')).toBe(0);
  });

  test('leaves no timer behind', async () => {
    const { clock, ask } = rateLimiterRig({ buckets: { read: one } });
    const giveUp = new AbortController();
    void ask('first', ['read']);
    const second = ask('second', ['read'], { signal: giveUp.signal });

    giveUp.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');

    expect(await clock.runUntil(() => false, 10_000)).toBe(false);
    expect(clock.monotonic()).toBe(0);
  });
});

describe('tokens of calls that are sent later', () => {
  test('take room, because the cloud refills its bucket only once they are sent', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({
      buckets: { attach: { capacity: 2, refill: 1 } },
    });
    for (const name of ['a', 'b', 'c', 'd']) void ask(name, ['attach'], { sent: false });

    await clock.advance(5000);
    const before = [...granted];
    for (let call = 0; call < 2; call++) rateLimiter.sent(callOf('attach'));
    await clock.advance(2500);

    expect(before).toEqual(['a@0', 'b@0']);
    expect(granted.slice(2)).toEqual(['c@6000', 'd@7000']);
  });

  test('are granted early by as long as the call before them takes, however long that call queued', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({
      buckets: { create: { capacity: 9, refill: 9 }, attach: { capacity: 3, refill: 1 } },
    });
    for (let unit = 0; unit < 60; unit++) {
      await ask('unit', ['create', 'attach'], { sent: false });
      await clock.advance(4000);
      rateLimiter.sent(callOf('create'));
      await clock.advance(1000);
      rateLimiter.sent(callOf('attach'));
      await clock.advance(4000);
    }
    for (let lone = 0; lone < 3; lone++) await ask('lone', ['attach']);
    const from = clock.monotonic();

    void ask('next', ['create', 'attach']);
    await clock.advance(3000);

    // Three quarters of a second until the next token.
    const grantedAt = Number(granted.at(-1)?.split('@')[1]) - from;
    expect(grantedAt).toBeGreaterThan(200);
    expect(grantedAt).toBeLessThan(300);
  });

  test('are there again a minute later, because those calls are never sent', async () => {
    const { clock, granted, ask } = rateLimiterRig({ buckets: { attach: { capacity: 1, refill: 1 } } });
    void ask('a', ['attach'], { sent: false });
    void ask('b', ['attach']);

    await clock.advance(62_000);

    expect(granted).toHaveLength(2);
    expect(Number(granted[1]?.split('@')[1])).toBeGreaterThanOrEqual(60_000);
  });
});

describe('an answer of the cloud', () => {
  const answered = (action: string, throttled: boolean, sentAt: number) =>
    ({ call: callOf(action), throttled, sentAt, retryAfter: undefined }) as const;

  test('slows all callers of its bucket, and no other, when it throttles', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({
      buckets: { create: { capacity: 4, refill: 4 }, read: { capacity: 4, refill: 4 } },
    });
    await ask('first', ['create']);
    await clock.advance(1000);

    for (let times = 0; times < 2; times++) rateLimiter.answered(answered('create', true, 1000));
    for (const name of ['a', 'b']) void ask(name, ['create']);
    void ask('other', ['read']);
    await clock.advance(2000);

    // Three a second from an empty bucket.
    expect(granted.slice(1)).toEqual(['other@1000', 'a@1333', 'b@1666']);
  });

  test('is obeyed when it names a retry time', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({
      buckets: { create: { capacity: 4, refill: 4 } },
    });

    rateLimiter.answered({ call: callOf('create'), throttled: true, sentAt: 0, retryAfter: 7000 });
    void ask('a', ['create']);
    await clock.advance(10_000);

    expect(granted).toEqual(['a@7000']);
  });

  test('shows in the levels of the buckets', () => {
    const { rateLimiter, ask } = rateLimiterRig({
      buckets: { create: { capacity: 8, refill: 4 }, read: one },
    });
    for (const priority of ['critical', 'normal', 'normal'] as const) void ask('r', ['read'], { priority });

    for (let times = 0; times < 2; times++) rateLimiter.answered(answered('create', true, 0));

    expect(rateLimiter.levels()).toEqual([
      {
        action: 'create',
        tokens: 0,
        capacity: 6,
        refillPerSecond: 3,
        learnedRatio: 0.75,
        throttled: 2,
        waiting: {},
      },
      {
        action: 'read',
        tokens: 0,
        capacity: 1,
        refillPerSecond: 1,
        learnedRatio: 1,
        throttled: 0,
        waiting: { normal: 2 },
      },
    ]);
  });
});

describe('tokens that turn out to be void', () => {
  const throttle = { call: callOf('attach'), throttled: true, sentAt: 2000, retryAfter: undefined } as const;
  /** Four calls are granted; one is sent and throttled, as another one was before. */
  async function emptied() {
    const rig = rateLimiterRig({ buckets: { attach: { capacity: 4, refill: 4 } } });
    const refund = await rig.ask('a', ['attach'], { sent: false });
    for (const name of ['b', 'c']) await rig.ask(name, ['attach'], { sent: false });
    await rig.ask('d', ['attach']);
    await rig.clock.advance(2000);
    const before = rig.rateLimiter.isVoid(callOf('attach'));
    for (let times = 0; times < 2; times++) rig.rateLimiter.answered(throttle);
    return { ...rig, refund, before };
  }
  const request: TokenRequest = { caller: { priority: 'high' }, signal: new AbortController().signal };

  test('are void once throttled calls are no coincidence, and renewed as the cloud refills its bucket', async () => {
    const { clock, rateLimiter, before } = await emptied();
    const renewed: number[] = [];

    for (let call = 0; call < 3; call++)
      void rateLimiter
        .renew(callOf('attach'), request)
        .then(() => renewed.push(Math.round(clock.monotonic())));
    const after = rateLimiter.isVoid(callOf('attach'));
    await clock.advance(2000);

    expect([before, after]).toEqual([false, false]);
    // Three a second from an empty bucket.
    expect(renewed).toEqual([2333, 2666, 2999]);
  });

  test('are not void after one throttled call', async () => {
    const { rateLimiter, ask } = rateLimiterRig({ buckets: { attach: { capacity: 4, refill: 4 } } });
    for (const name of ['a', 'b']) await ask(name, ['attach'], { sent: false });

    rateLimiter.answered(throttle);

    expect(rateLimiter.isVoid(callOf('attach'))).toBe(false);
  });

  test('are worth nothing when they are refunded', async () => {
    const { clock, rateLimiter, granted, ask, refund } = await emptied();

    refund();
    void ask('next', ['attach']);
    await clock.advance(1000);

    expect(granted.at(-1)).toBe('next@2333');
    expect(rateLimiter.isVoid(callOf('attach'))).toBe(true);
  });

  test('stay void when the wait for another is aborted', async () => {
    const { clock, rateLimiter } = await emptied();
    const stop = new AbortController();

    const renewing = rateLimiter.renew(callOf('attach'), { ...request, signal: stop.signal });
    stop.abort(new Error('enough'));

    await expect(renewing).rejects.toThrow('enough');
    await clock.advance(1000);
    expect(rateLimiter.isVoid(callOf('attach'))).toBe(true);
  });
});

describe('a call whose priority rises while it waits', () => {
  test('gets what is reserved for it as soon as the rise is announced', async () => {
    const { clock, rateLimiter, granted, ask } = rateLimiterRig({
      buckets: { read: { capacity: 10, refill: 0.1 } },
    });
    let priority: Priority = 'normal';
    for (let call = 0; call < 8; call++) void ask('before', ['read'], { priority: 'normal' });
    void ask('rising', ['read'], { priority: () => priority });
    await clock.advance(500);

    priority = 'high';
    rateLimiter.reconsider();
    await clock.advance(0);

    expect(granted.at(-1)).toBe('rising@500');
  });
});

describe('the expected wait', () => {
  test('counts those ahead by priority, and the slowest of the buckets', async () => {
    const { rateLimiter, ask } = rateLimiterRig({
      buckets: { create: { capacity: 1, refill: 1 }, attach: { capacity: 10, refill: 5 } },
    });
    await ask('first', ['create']);
    for (const priority of ['critical', 'normal', 'normal'] as const) void ask('c', ['create'], { priority });

    expect(rateLimiter.expectedWait([callOf('create'), callOf('attach')], 'high')).toBe(2000);
    expect(rateLimiter.expectedWait([callOf('create'), callOf('attach')], 'housekeeping')).toBe(4000);
    expect(rateLimiter.expectedWait([callOf('attach')], 'high')).toBe(0);
    expect(rateLimiter.expectedWait([callOf('unlimited')], 'high')).toBe(0);
  });
});

describe('a rate limiter that shares its limit with other clients', () => {
  // The limit of the whole account; the outside client takes half of it all the time.
  const account = { capacity: 100, refill: 5 };

  test.each([100, 1000])('finds what remains for %i calls, with few throttled', async (calls) => {
    const { clock, rateLimiter } = rateLimiterRig({ buckets: { create: account } });
    let [cloud, at] = [account.capacity / 2, 0];
    let [done, sent, throttled] = [0, 0, 0];
    const call = async (): Promise<void> => {
      for (;;) {
        await rateLimiter.tokens([callOf('create')], {
          caller: { priority: 'high' },
          signal: new AbortController().signal,
        });
        rateLimiter.sent(callOf('create'));
        const sentAt = clock.monotonic();
        cloud = Math.min(account.capacity / 2, cloud + ((sentAt - at) / 1000) * (account.refill / 2));
        at = sentAt;
        const isThrottled = cloud < 1;
        if (!isThrottled) cloud--;
        sent++;
        await new Promise<void>((resolve) => void clock.schedule(500, resolve));
        rateLimiter.answered({
          call: callOf('create'),
          sentAt,
          throttled: isThrottled,
          retryAfter: undefined,
        });
        if (!isThrottled) break;
        throttled++;
      }
      done++;
    };

    for (let index = 0; index < calls; index++) void call();
    await clock.runUntil(() => done === calls, 3_600_000);

    const floor = ((calls - account.capacity / 2) / (account.refill / 2)) * 1000 + 500;
    expect(done).toBe(calls);
    expect(clock.monotonic() / floor).toBeLessThan(1.1);
    // Without those sent at the first instant, before anything could be learned.
    expect(throttled - account.capacity / 2).toBeLessThanOrEqual(0.03 * sent);
  });
});
