import { describe, expect, test } from '@jest/globals';
import { AwaitedRefresh, pauseAfter } from '../../../../src/providers/inventory/awaited-refresh.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

test.each([
  [0, 1000],
  [1, 1000],
  [3, 1000],
  [4, 2000],
  [5, 4000],
  [7, 16_000],
  [8, 30_000],
  [1000, 30_000],
])('after %d reads in a row that showed nothing new the next one follows in %d ms', (fruitless, ms) => {
  expect(pauseAfter(fruitless, 30_000)).toBe(ms);
});

test('reads are a second apart, however short the consistency window is', () => {
  expect(pauseAfter(7, 500)).toBe(1000);
});

interface Rig {
  readonly clock: VirtualClock;
  readonly refreshes: AwaitedRefresh;
  /** Ends the wait for its interfaces. */
  readonly show: (...ids: string[]) => void;
  /** `ids@ms` of each refresh. */
  readonly refreshed: () => readonly string[];
}

function rig(max = 200): Rig {
  const clock = new VirtualClock();
  const shown = new Set<string>();
  const byTime = new Map<number, string[]>();
  const refreshes = new AwaitedRefresh({
    clock,
    consistencyWindow: 30_000,
    max,
    refresh: (id) => byTime.set(clock.monotonic(), [...(byTime.get(clock.monotonic()) ?? []), id]),
    isAwaited: (id) => !shown.has(id),
  });
  return {
    clock,
    refreshes,
    show: (...ids) => ids.forEach((id) => shown.add(id)),
    refreshed: () => [...byTime].map(([at, ids]) => `${ids.join('')}@${at}`),
  };
}

describe('refreshes for awaited interfaces', () => {
  test('start at once, and get rarer as long as nothing shows', async () => {
    const { clock, refreshes, refreshed } = rig();

    refreshes.add('a', 0);
    await clock.advance(70_000);

    expect(refreshed()).toEqual([
      'a@0',
      'a@1000',
      'a@2000',
      'a@3000',
      'a@4000',
      'a@6000',
      'a@10000',
      'a@18000',
      'a@34000',
      'a@64000',
    ]);
  });

  test('end once the interface shows', async () => {
    const { clock, refreshes, show, refreshed } = rig();

    refreshes.add('a', 0);
    await clock.advance(500);
    show('a');
    await clock.advance(60_000);

    expect(refreshed()).toEqual(['a@0']);
    expect(await clock.runUntil(() => false, 1000)).toBe(false);
  });

  test('are shared by all interfaces attached within a second, and are frequent again once one shows', async () => {
    const { clock, refreshes, show, refreshed } = rig();

    refreshes.add('a', 0);
    await clock.advance(100);
    refreshes.add('b', 100);
    await clock.advance(400);
    refreshes.add('c', 500);
    await clock.advance(700);
    show('b');
    await clock.advance(3000);

    expect(refreshed()).toEqual(['a@0', 'abc@1000', 'ac@2000', 'ac@3000', 'ac@4000']);
  });

  test('start over for another interface of the same instance, but not for a known one', async () => {
    const { clock, refreshes, refreshed } = rig();
    refreshes.add('a', 0);
    await clock.advance(8000);

    refreshes.add('a', 0);
    await clock.advance(1000);
    refreshes.add('a', 9000);
    await clock.advance(1500);

    expect(refreshed()).toEqual([
      'a@0',
      'a@1000',
      'a@2000',
      'a@3000',
      'a@4000',
      'a@6000',
      'a@9000',
      'a@10000',
    ]);
  });

  test('cover so many instances at once and no more, in turns', async () => {
    const { clock, refreshes, refreshed } = rig(2);

    for (const id of ['a', 'b', 'c']) refreshes.add(id, 0);
    await clock.advance(3500);

    expect(refreshed()).toEqual(['ab@0', 'ca@1000', 'bc@2000', 'ab@3000']);
  });

  test('are not delayed by interfaces that are attached all the time', async () => {
    const { clock, refreshes, refreshed } = rig();
    await clock.advance(5000);
    refreshes.add('a', 5000);

    // Others are awaited before the timer of the first one fires.
    for (const id of ['b', 'c']) refreshes.add(id, 5000);
    await clock.advance(10);
    for (let at = 5010; at < 6500; at += 10) {
      refreshes.add('d', at);
      await clock.advance(10);
    }

    expect(refreshed()).toEqual(['abc@5000', 'abcd@6000']);
  });

  test('stop on request', async () => {
    const { clock, refreshes, refreshed } = rig();
    refreshes.add('a', 0);
    await clock.advance(1500);

    refreshes.stop();
    refreshes.add('b', 1500);
    await clock.advance(60_000);

    expect(refreshed()).toEqual(['a@0', 'a@1000']);
  });
});
