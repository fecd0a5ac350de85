import { describe, expect, test } from '@jest/globals';
import { AwaitedRefresh, pauseAfter } from '../../../../src/providers/inventory/awaited-refresh.ts';
import { VirtualClock } from '../../../../src/runtime/virtual-clock.ts';

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
  readonly looks: AwaitedRefresh;
  /** Nothing of it is awaited now. */
  readonly show: (...ids: string[]) => void;
  /** `ids@ms` of what was refreshed together. */
  readonly looked: () => readonly string[];
}

function rig(most = 200): Rig {
  const clock = new VirtualClock();
  const shown = new Set<string>();
  const byTime = new Map<number, string[]>();
  const looks = new AwaitedRefresh({
    clock,
    consistencyWindow: 30_000,
    most,
    look: (id) => byTime.set(clock.monotonic(), [...(byTime.get(clock.monotonic()) ?? []), id]),
    isAwaited: (id) => !shown.has(id),
  });
  return {
    clock,
    looks,
    show: (...ids) => ids.forEach((id) => shown.add(id)),
    looked: () => [...byTime].map(([at, ids]) => `${ids.join('')}@${at}`),
  };
}

describe('refreshes for awaited interfaces', () => {
  test('start at once, and get rarer as long as nothing shows', async () => {
    const { clock, looks, looked } = rig();

    looks.add('a', 0);
    await clock.advance(70_000);

    expect(looked()).toEqual([
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
    const { clock, looks, show, looked } = rig();

    looks.add('a', 0);
    await clock.advance(500);
    show('a');
    await clock.advance(60_000);

    expect(looked()).toEqual(['a@0']);
    expect(await clock.runUntil(() => false, 1000)).toBe(false);
  });

  test('are shared by all interfaces attached within a second, and are frequent again once one shows', async () => {
    const { clock, looks, show, looked } = rig();

    looks.add('a', 0);
    await clock.advance(100);
    looks.add('b', 100);
    await clock.advance(400);
    looks.add('c', 500);
    await clock.advance(700);
    show('b');
    await clock.advance(3000);

    expect(looked()).toEqual(['a@0', 'abc@1000', 'ac@2000', 'ac@3000', 'ac@4000']);
  });

  test('start over for another interface of the same instance, but not for a known one', async () => {
    const { clock, looks, looked } = rig();
    looks.add('a', 0);
    await clock.advance(8000);

    looks.add('a', 0);
    await clock.advance(1000);
    looks.add('a', 9000);
    await clock.advance(1500);

    expect(looked()).toEqual(['a@0', 'a@1000', 'a@2000', 'a@3000', 'a@4000', 'a@6000', 'a@9000', 'a@10000']);
  });

  test('cover so many instances at once and no more, in turns', async () => {
    const { clock, looks, looked } = rig(2);

    for (const id of ['a', 'b', 'c']) looks.add(id, 0);
    await clock.advance(3500);

    expect(looked()).toEqual(['ab@0', 'ca@1000', 'bc@2000', 'ab@3000']);
  });

  test('are not delayed by interfaces that are attached all the time', async () => {
    const { clock, looks, looked } = rig();
    await clock.advance(5000);
    looks.add('a', 5000);

    // Before the timer of the first one fires, others come.
    for (const id of ['b', 'c']) looks.add(id, 5000);
    await clock.advance(10);
    for (let at = 5010; at < 6500; at += 10) {
      looks.add('d', at);
      await clock.advance(10);
    }

    expect(looked()).toEqual(['abc@5000', 'abcd@6000']);
  });

  test('stop on request', async () => {
    const { clock, looks, looked } = rig();
    looks.add('a', 0);
    await clock.advance(1500);

    looks.stop();
    looks.add('b', 1500);
    await clock.advance(60_000);

    expect(looked()).toEqual(['a@0', 'a@1000']);
  });
});
