import { describe, expect, test } from '@jest/globals';
import { BegunWork } from '../../../src/scheduling/begun-work.ts';
import { sleep } from '../../../src/scheduling/clock.ts';
import { VirtualClock } from '../../../src/scheduling/virtual-clock.ts';

interface Rig {
  readonly clock: VirtualClock;
  readonly work: BegunWork;
  readonly bugs: unknown[];
  /** Whether nothing was under way when each ended. */
  readonly ends: boolean[];
}

function rig(): Rig {
  const clock = new VirtualClock();
  const bugs: unknown[] = [];
  const ends: boolean[] = [];
  const work: BegunWork = new BegunWork({
    clock,
    onBug: (error) => bugs.push(error),
    onEnd: () => ends.push(work.isIdle),
  });
  return { clock, work, bugs, ends };
}

/** Stops, and says whether that has ended. */
function stopped(work: BegunWork, deadline: AbortSignal): { ended: boolean } {
  const state = { ended: false };
  void work.stop(deadline).then(() => {
    state.ended = true;
  });
  return state;
}

const never = new AbortController().signal;

describe('begun work', () => {
  test('counts until it has ended, by what it is about', async () => {
    const { clock, work, ends } = rig();

    work.begin(() => sleep(clock, 100, work.deadline), 'a');
    work.begin(() => sleep(clock, 200, work.deadline));

    expect([work.isIdle, work.isAbout('a'), work.isAbout('b')]).toEqual([false, true, false]);
    await clock.advance(100);
    expect([work.isIdle, work.isAbout('a')]).toEqual([false, false]);
    await clock.advance(100);
    expect(work.isIdle).toBe(true);
    expect(ends).toEqual([false, true]);
  });

  test('what waits to begin is given up when it stops, and what was begun is waited for', async () => {
    const { clock, work, bugs } = rig();
    work.begin(() => sleep(clock, 1000, work.closing));
    work.begin(() => sleep(clock, 100, work.deadline));

    const stop = stopped(work, never);

    await clock.advance(99);
    expect(stop.ended).toBe(false);
    await clock.advance(1);
    expect(stop.ended).toBe(true);
    expect(bugs).toEqual([]);
  });

  test.each([
    ['while it waits', false],
    ['from the beginning', true],
  ])('a deadline that is over %s cuts short what was begun', async (_, isOver) => {
    const { clock, work, bugs } = rig();
    const deadline = new AbortController();
    work.begin(() => sleep(clock, 1000, work.deadline));
    if (isOver) deadline.abort();

    const stop = stopped(work, deadline.signal);
    await clock.advance(10);
    const before = stop.ended;
    deadline.abort();
    await clock.advance(0);

    expect([before, stop.ended]).toEqual([isOver, true]);
    expect(bugs).toEqual([]);
  });

  test('a deadline that is over cuts short what asks for it only then', async () => {
    const { clock, work, bugs } = rig();
    work.begin(async () => {
      await sleep(clock, 100, never);
      await sleep(clock, 1000, work.deadline);
    });

    const stop = stopped(work, AbortSignal.abort());
    await clock.advance(110);

    expect(stop.ended).toBe(true);
    expect(bugs).toEqual([]);
  });

  test('the deadline is not listened to where nothing is under way', async () => {
    const { work } = rig();
    const { signal } = new AbortController();
    let listeners = 0;
    signal.addEventListener = () => void listeners++;

    await work.stop(signal);

    expect(listeners).toBe(0);
  });

  test('nothing begins and no timer fires once it stops', async () => {
    const { clock, work } = rig();
    const begun: string[] = [];
    const begin = (what: string) => (): Promise<void> => {
      begun.push(what);
      return Promise.resolve();
    };
    work.later(10, () => begun.push('timer before'));

    await work.stop(never);
    work.begin(begin('work'));
    work.later(10, () => begun.push('timer after'));
    await clock.advance(20);

    expect(begun).toEqual([]);
    expect(work.isClosing).toBe(true);
  });

  test('a timer fires once, and not when it was cancelled', async () => {
    const { clock, work } = rig();
    const fired: string[] = [];

    work.later(10, () => fired.push('kept'));
    const cancel = work.later(10, () => fired.push('cancelled'));
    cancel();
    await clock.advance(50);

    expect(fired).toEqual(['kept']);
  });

  test('a rejection of its own is a bug, also while it stops', async () => {
    const { clock, work, bugs } = rig();
    const failing = async (ms: number, text: string): Promise<void> => {
      await sleep(clock, ms, work.deadline);
      throw new Error(text);
    };
    work.begin(() => failing(10, 'before'));
    work.begin(() => failing(30, 'while stopping'));

    await clock.advance(20);
    const stop = stopped(work, never);
    await clock.advance(20);

    expect(bugs).toEqual([new Error('before'), new Error('while stopping')]);
    expect(stop.ended).toBe(true);
  });
});
