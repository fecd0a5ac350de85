import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ourLimits, type LimitSize } from '../../../../src/providers/rate-limit/limit-key.ts';
import { RateLimiter, type TokenRequest } from '../../../../src/providers/rate-limit/rate-limiter.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const forever = new AbortController().signal;
const call = { limits: [{ name: 'create' }] };
const request: TokenRequest = { caller: { priority: 'critical' }, signal: forever };

function windowOf(max: number, ms = 60_000): ReadonlyMap<string, LimitSize> {
  return new Map([['create', { kind: 'window', max, ms }]]);
}

/**
 * Asks for `count` calls now; notes in `sentAt` when each is sent, `late` ms after its token was granted, or once it has
 * another one if that is void.
 */
function ask(
  limiter: RateLimiter,
  count: number,
  { sentAt, clock, late = () => 0, isSent = true }: Asking,
): void {
  const send = async (): Promise<void> => {
    if (!isSent) {
      limiter.refund([call]);
      return;
    }
    if (limiter.isVoid(call)) await limiter.renew(call, request);
    limiter.sent(call);
    sentAt.push(clock.monotonic());
  };
  for (let left = count; left > 0; left--)
    void limiter.tokens([call], request).then(() => clock.schedule(late(), () => void send()));
}

interface Asking {
  readonly sentAt: number[];
  readonly clock: VirtualClock;
  readonly late?: () => number;
  /** Whether they are sent; otherwise their tokens are given back. */
  readonly isSent?: boolean;
}

/** As a machine's clock: time passes between two readings, however little. */
class TickingClock extends VirtualClock {
  #passed = 0;

  override monotonic(): number {
    this.#passed += 0.001;
    return super.monotonic() + this.#passed;
  }
}

function maxWithin(ms: number, times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.max(0, ...sorted.map((from) => sorted.filter((at) => at >= from && at < from + ms).length));
}

describe('a limit that is a sliding window', () => {
  test('admits all its calls at once, and the next ones when the first leave it', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ clock, sizes: windowOf(5), overall: undefined });
    const sentAt: number[] = [];

    ask(limiter, 3, { sentAt, clock });
    await clock.advance(10_000);
    ask(limiter, 6, { sentAt, clock });
    await clock.advance(120_000);

    expect(sentAt).toEqual([0, 0, 0, 10_000, 10_000, 60_000, 60_000, 60_000, 70_000]);
  });

  test('counts a call once on a clock that never shows one time twice', async () => {
    const clock = new TickingClock();
    const limiter = new RateLimiter({ clock, sizes: windowOf(6), overall: undefined });
    const sentAt: number[] = [];

    ask(limiter, 3, { sentAt, clock });
    await clock.advance(1000);
    ask(limiter, 3, { sentAt, clock });
    await clock.advance(1000);

    expect(sentAt).toHaveLength(6);
  });

  test('never admits more in any such time, however late calls are sent or given back', async () => {
    const burst = {
      after: fc.nat(50_000),
      count: fc.nat(12),
      late: fc.nat(200_000),
      isSent: fc.constantFrom(true, true, false),
    };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record(burst), { maxLength: 12 }), async (bursts) => {
        const clock = new VirtualClock();
        const limiter = new RateLimiter({ clock, sizes: windowOf(10), overall: undefined });
        const sentAt: number[] = [];
        for (const { after, count, late, isSent } of bursts) {
          await clock.advance(after);
          ask(limiter, count, { sentAt, clock, late: () => late, isSent });
        }
        await clock.advance(1_000_000);

        expect(sentAt).toHaveLength(bursts.reduce((sum, { count, isSent }) => sum + (isSent ? count : 0), 0));
        expect(maxWithin(60_000, sentAt)).toBeLessThanOrEqual(10);
      }),
      { numRuns: 100 },
    );
  });

  test('takes a token for returned or for void at one instant, however the time is rounded', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ clock, sizes: windowOf(3, 61_000), overall: undefined });
    const sentAt: number[] = [];
    await clock.advance(2_060_624.1208673764);

    ask(limiter, 2, { sentAt, clock, late: () => 65_425.693677166 });
    await clock.advance(0);
    ask(limiter, 3, { sentAt, clock });
    await clock.advance(200_000);

    expect(sentAt).toHaveLength(5);
    expect(maxWithin(60_000, sentAt)).toBeLessThanOrEqual(3);
  });

  test('is closed by a throttle until what others may have taken leaves it', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ clock, sizes: windowOf(5), overall: undefined });
    const sentAt: number[] = [];

    ask(limiter, 1, { sentAt, clock });
    await clock.advance(20_000);
    limiter.answered({ call, sentAt: 0, throttled: true, limit: undefined, retryAfter: undefined });
    ask(limiter, 3, { sentAt, clock });
    await clock.advance(120_000);

    expect(sentAt).toEqual([0, 60_000, 80_000, 80_000]);
  });

  test('keeps counting a call that was sent when a later token is given back', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ clock, sizes: windowOf(2), overall: undefined });
    const sentAt: number[] = [];

    ask(limiter, 1, { sentAt, clock, late: () => 50_000 });
    ask(limiter, 1, { sentAt, clock, late: () => 55_000, isSent: false });
    await clock.advance(59_000);
    ask(limiter, 2, { sentAt, clock });
    await clock.advance(120_000);

    expect(sentAt).toEqual([50_000, 59_000, 110_000]);
  });

  test('does not grant a later call of a sequence before it has room, however late those before were', async () => {
    const clock = new VirtualClock();
    const sizes = new Map([...windowOf(100), ['attach', { kind: 'window', max: 1, ms: 60_000 } as const]]);
    const limiter = new RateLimiter({ clock, sizes, overall: undefined });
    const attach = { limits: [{ name: 'attach' }] };
    const attachedAt: number[] = [];
    const sequence = async (delay: number): Promise<void> => {
      await limiter.tokens([call, attach], request);
      limiter.sent(call);
      await sleep(clock, delay, forever);
      limiter.sent(attach);
      attachedAt.push(clock.monotonic());
    };

    for (let times = 0; times < 20; times++) {
      void sequence(5000);
      await clock.advance(100_000);
    }
    void sequence(5000);
    void sequence(0);
    await clock.advance(200_000);

    expect(attachedAt).toHaveLength(22);
    expect(maxWithin(60_000, attachedAt)).toBe(1);
  });

  test('does not lose the token of another call when one never reached the cloud', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ clock, sizes: windowOf(2), overall: undefined });
    const sentAt: number[] = [];

    ask(limiter, 1, { sentAt, clock });
    ask(limiter, 1, { sentAt, clock, late: () => 30_000 });
    await clock.advance(10_000);
    limiter.notReached(call);
    await clock.advance(20_000);
    ask(limiter, 3, { sentAt, clock });
    await clock.advance(200_000);

    expect(sentAt).toEqual([0, 30_000, 60_000, 90_000, 120_000]);
  });

  test('counts a call that was sent after its token was forgotten, and no other one for it', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ clock, sizes: windowOf(2), overall: undefined });
    const sentAt: number[] = [];

    await limiter.tokens([call], request);
    await clock.advance(61_000);
    limiter.answered({ call, sentAt: 0, throttled: false, limit: undefined, retryAfter: undefined });
    limiter.sent(call);
    ask(limiter, 2, { sentAt, clock });
    await clock.advance(200_000);
    ask(limiter, 2, { sentAt, clock });
    await clock.advance(200_000);

    expect(sentAt).toEqual([61_000, 121_000, 261_000, 261_000]);
  });

  test('gives back what was not sent', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ clock, sizes: windowOf(1), overall: undefined });
    const sentAt: number[] = [];

    const refund = await limiter.tokens([call], request);
    refund();
    ask(limiter, 1, { sentAt, clock });
    await clock.advance(10);

    expect(sentAt).toEqual([0]);
  });

  test('has whole calls of our share, and at least one', () => {
    const raised = new Map();
    expect(ourLimits(windowOf(500), { share: 0.333, raised }).get('create')).toMatchObject({ max: 166 });
    expect(ourLimits(windowOf(2), { share: 0.1, raised }).get('create')).toMatchObject({ max: 1 });
  });
});
