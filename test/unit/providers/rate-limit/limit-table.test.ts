import { describe, expect, test } from '@jest/globals';
import { type LimitSize, ourLimits } from '../../../../src/providers/rate-limit/limit-key.ts';
import { LimitTable } from '../../../../src/providers/rate-limit/limit-table.ts';
import { type RateLimit, whenGranted } from '../../../../src/providers/rate-limit/rate-limit.ts';
import { takeTokens } from '../../../../src/providers/rate-limit/token-bucket.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const perVm: LimitSize = { kind: 'bucket', capacity: 12, refill: 1, isPerThing: true };
const reads: LimitSize = { kind: 'bucket', capacity: 250, refill: 25 };

function tableOf(): { readonly clock: VirtualClock; readonly table: LimitTable } {
  const clock = new VirtualClock();
  const sizes = new Map([
    ['per-vm', perVm],
    ['reads', reads],
  ]);
  return { clock, table: new LimitTable(clock, sizes) };
}

const takeOne = (limit: RateLimit, now: number): RateLimit => ({
  ...limit,
  bucket: takeTokens(limit.bucket, 1, now),
});

describe('the limits of a cloud', () => {
  test('are all shown before any call, full', () => {
    const { table } = tableOf();

    expect(table.figures()).toEqual([
      [
        'per-vm',
        { tokens: 12, capacity: 12, refillPerSecond: 1, learnedRatio: 1, throttled: 0, perThing: true },
      ],
      ['reads', { tokens: 250, capacity: 250, refillPerSecond: 25, learnedRatio: 1, throttled: 0 }],
    ]);
  });

  test('show the tightest of those of single things', () => {
    const { table } = tableOf();
    for (const [vm, count] of [
      ['1', 1],
      ['2', 3],
      ['3', 2],
    ] as const) {
      for (let times = 0; times < count; times++) table.change(`per-vm ${vm}`, takeOne);
    }

    expect(table.figures().find(([id]) => id === 'per-vm')?.[1].tokens).toBe(9);
  });

  test('do not limit what has no size', () => {
    const { table } = tableOf();

    expect([table.resolve({ name: 'unknown' }), table.get('unknown 1')]).toEqual([undefined, undefined]);
  });
});

describe('limits of single things', () => {
  test('are forgotten once they are full again', async () => {
    const { clock, table } = tableOf();
    for (let vm = 0; vm < 5000; vm++) {
      table.change(`per-vm ${vm}`, takeOne);
      await clock.advance(100);
    }

    expect(table.things).toBeLessThan(520);
  });

  test('are remembered while calls wait to be sent', async () => {
    const { clock, table } = tableOf();
    table.change('per-vm 0', (limit, now) => whenGranted(limit, { count: 1, followers: [] }, now));
    for (let vm = 1; vm < 1000; vm++) {
      table.change(`per-vm ${vm}`, takeOne);
      await clock.advance(10);
    }

    expect(table.get('per-vm 0')?.unsent).toHaveLength(1);
  });
});

test('our part of the documented limits leaves the rest to others, and follows what the cloud raised', () => {
  const documented = new Map([
    ['per-vm', perVm],
    ['reads', reads],
  ]);

  const ours = ourLimits(documented, {
    share: 0.5,
    raised: new Map([['reads', { capacity: 1000, refill: 100 }]]),
  });

  expect([...ours]).toEqual([
    ['per-vm', { ...perVm, capacity: 6, refill: 0.5 }],
    ['reads', { ...reads, capacity: 500, refill: 50 }],
  ]);
});
