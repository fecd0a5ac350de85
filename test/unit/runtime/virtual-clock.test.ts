import { describe, expect, test } from '@jest/globals';
import { sleep } from '../../../src/runtime/clock.ts';
import { scaledClock } from '../../../src/simulator/workload/scaled-clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const never = new AbortController().signal;

describe('VirtualClock', () => {
  test('runs actions in order of their time, equal times in order of scheduling', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    for (const [ms, name] of [
      [30, 'c'],
      [10, 'a'],
      [20, 'b'],
      [10, 'a2'],
      [5, '0'],
    ] as const) {
      clock.schedule(ms, () => seen.push(`${name}@${clock.monotonic()}`));
    }

    await clock.advance(20);

    expect(seen).toEqual(['0@5', 'a@10', 'a2@10', 'b@20']);
    expect(clock.monotonic()).toBe(20);
  });

  test('keeps its order under many random entries', async () => {
    const clock = new VirtualClock();
    const seen: number[] = [];
    const delays = Array.from({ length: 500 }, (_, index) => (index * 7919) % 251);
    for (const delay of delays) clock.schedule(delay, () => seen.push(delay));

    await clock.advance(1000);

    expect(seen).toEqual(delays.toSorted((a, b) => a - b));
  });

  test('lets a delay take time that is too short for its numbers', async () => {
    const clock = new VirtualClock();
    await clock.advance(7_200_000.3);
    let waits = 0;
    const end = clock.monotonic() + 1e-9;
    const wait = (): void => {
      waits++;
      if (clock.monotonic() < end && waits < 1000) clock.schedule(1e-12, wait);
    };
    wait();

    await clock.advance(1);

    expect(waits).toBeLessThan(10);
  });

  test('does not run what was cancelled', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    const cancel = clock.schedule(1, () => seen.push('cancelled'));
    clock.schedule(2, () => seen.push('kept'));

    cancel();
    cancel();
    await clock.advance(10);

    expect(seen).toEqual(['kept']);
  });

  test('lets promises settle before time moves on', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    const chain = async (name: string, ms: number): Promise<void> => {
      for (let round = 1; round <= 3; round++) {
        await sleep(clock, ms, never);
        for (let link = 0; link < 100; link++) await Promise.resolve();
        seen.push(`${name}${round}@${clock.monotonic()}`);
      }
    };

    const both = Promise.all([chain('x', 10), chain('y', 15)]);
    await clock.advance(45);
    await both;

    expect(seen).toEqual(['x1@10', 'y1@15', 'x2@20', 'y2@30', 'x3@30', 'y3@45']);
  });

  test('lets the event loop turn at times', async () => {
    const clock = new VirtualClock();
    const turns: number[] = [];
    const takeNote = (): void => void setImmediate(() => turns.push(clock.monotonic()));
    for (let ms = 1; ms <= 1000; ms++) clock.schedule(ms, ms % 200 === 1 ? takeNote : () => undefined);

    await clock.advance(1000);

    expect(turns).toHaveLength(5);
    expect(turns.every((at, index) => at < 200 * (index + 1))).toBe(true);
  });

  test('lets the event loop turn also when nothing is scheduled', async () => {
    const clock = new VirtualClock();
    let isTaken = false;
    setImmediate(() => {
      isTaken = true;
    });

    for (let round = 0; round < 1000; round++) await clock.advance(1);

    expect(isTaken).toBe(true);
  });

  test('stops runUntil at the condition, at the limit, or when nothing is left to do', async () => {
    const clock = new VirtualClock();
    let ticks = 0;
    const tick = (): void => {
      ticks++;
      clock.schedule(10, tick);
    };
    clock.schedule(10, tick);

    expect(await clock.runUntil(() => ticks === 3, 1000)).toBe(true);
    expect(clock.monotonic()).toBe(30);
    expect(await clock.runUntil(() => false, 25)).toBe(false);
    expect(ticks).toBe(5);
    expect(await new VirtualClock().runUntil(() => false, 1000)).toBe(false);
  });

  test('lets the wall clock jump without the timers', async () => {
    const clock = new VirtualClock(1_000_000);
    let fired = 0;
    clock.schedule(10, () => fired++);

    clock.shiftWall(3_600_000);
    await clock.advance(9);

    expect(clock.wall()).toBe(1_000_000 + 3_600_000 + 9);
    expect(fired).toBe(0);
  });
});

describe('sleep', () => {
  test('rejects with the reason of the signal, before or while it waits, and leaves no timer', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const waiting = sleep(clock, 10, controller.signal);
    const reason = new Error('stop now');

    controller.abort(reason);

    await expect(waiting).rejects.toBe(reason);
    await expect(sleep(clock, 10, controller.signal)).rejects.toBe(reason);
    expect(await clock.runUntil(() => false, 100)).toBe(false);
    expect(clock.monotonic()).toBe(0);
  });
});

describe('scaledClock', () => {
  test('counts faster and fires sooner', async () => {
    const clock = new VirtualClock();
    await clock.advance(100);
    const fast = scaledClock(clock, 10);
    const start = { wall: fast.wall(), monotonic: fast.monotonic() };
    let firedAt = 0;
    fast.schedule(1000, () => {
      firedAt = clock.monotonic();
    });

    await clock.advance(200);

    expect(firedAt).toBe(200);
    expect(fast.monotonic() - start.monotonic).toBe(2000);
    expect(fast.wall() - start.wall).toBe(2000);
  });
});
