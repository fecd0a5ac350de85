import { describe, expect, test } from '@jest/globals';
import { TaskGroup } from '../../../src/runtime/task-group.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

interface Rig {
  readonly clock: VirtualClock;
  readonly work: TaskGroup;
  readonly bugs: unknown[];
  /** How many bugs were known when each pause started. */
  readonly pauses: number[];
  /** Starts a pause. */
  readonly backOff: () => void;
  /** Whether nothing was in flight when each ended. */
  readonly ends: boolean[];
}

function rig(): Rig {
  const clock = new VirtualClock();
  const bugs: unknown[] = [];
  const pauses: number[] = [];
  const ends: boolean[] = [];
  const work: TaskGroup = new TaskGroup({
    clock,
    onBug: (error) => bugs.push(error),
    onEnd: () => ends.push(work.isIdle),
  });
  const backOff = (): number => pauses.push(bugs.length);
  return { clock, work, bugs, pauses, backOff, ends };
}

/** Stops the group, and reports whether the stop has ended. */
function stopped(work: TaskGroup, deadline: AbortSignal): { ended: boolean } {
  const state = { ended: false };
  void work.stop(deadline).then(() => {
    state.ended = true;
  });
  return state;
}

const never = new AbortController().signal;

describe('a task group', () => {
  test('counts work until it ends, by its subject', async () => {
    const { clock, work, ends } = rig();

    work.beginTask(() => sleep(clock, 100, work.deadline), 'a');
    work.beginTask(() => sleep(clock, 200, work.deadline));

    expect([work.isIdle, work.isAbout('a'), work.isAbout('b')]).toEqual([false, true, false]);
    await clock.advance(100);
    expect([work.isIdle, work.isAbout('a')]).toEqual([false, false]);
    await clock.advance(100);
    expect(work.isIdle).toBe(true);
    expect(ends).toEqual([false, true]);
  });

  test('drops work that has not started when it stops, and waits for work in flight', async () => {
    const { clock, work, bugs } = rig();
    work.beginTask(() => sleep(clock, 1000, work.closing));
    work.beginTask(() => sleep(clock, 100, work.deadline));

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
  ])('aborts work in flight if the deadline is over %s', async (_, isOver) => {
    const { clock, work, bugs } = rig();
    const deadline = new AbortController();
    work.beginTask(() => sleep(clock, 1000, work.deadline));
    if (isOver) deadline.abort();

    const stop = stopped(work, deadline.signal);
    await clock.advance(10);
    const before = stop.ended;
    deadline.abort();
    await clock.advance(0);

    expect([before, stop.ended]).toEqual([isOver, true]);
    expect(bugs).toEqual([]);
  });

  test('aborts work that listens to the deadline after it is over', async () => {
    const { clock, work, bugs, pauses, backOff } = rig();
    const task = async (): Promise<void> => {
      await sleep(clock, 100, never);
      await sleep(clock, 1000, work.deadline);
    };
    work.beginTask(task, undefined, backOff);

    const stop = stopped(work, AbortSignal.abort());
    await clock.advance(110);

    expect(stop.ended).toBe(true);
    expect([bugs, pauses]).toEqual([[], []]);
  });

  test('does not listen to the deadline if nothing is in flight', async () => {
    const { work } = rig();
    const { signal } = new AbortController();
    let listeners = 0;
    signal.addEventListener = () => void listeners++;

    await work.stop(signal);

    expect(listeners).toBe(0);
  });

  test('starts nothing and fires no timer once it stops', async () => {
    const { clock, work } = rig();
    const started: string[] = [];
    const begin = (what: string) => (): Promise<void> => {
      started.push(what);
      return Promise.resolve();
    };
    work.later(10, () => started.push('timer before'));

    await work.stop(never);
    work.beginTask(begin('work'));
    work.later(10, () => started.push('timer after'));
    await clock.advance(20);

    expect(started).toEqual([]);
    expect(work.isClosing).toBe(true);
  });

  test('fires a timer once, and not after it was cancelled', async () => {
    const { clock, work } = rig();
    const fired: string[] = [];

    work.later(10, () => fired.push('kept'));
    const cancel = work.later(10, () => fired.push('cancelled'));
    cancel();
    await clock.advance(50);

    expect(fired).toEqual(['kept']);
  });

  test('reports an unexpected rejection as a bug and pauses, also while it stops', async () => {
    const { clock, work, bugs, pauses, backOff } = rig();
    const failing = async (ms: number, text: string): Promise<void> => {
      await sleep(clock, ms, work.deadline);
      throw new Error(text);
    };
    work.beginTask(() => failing(10, 'before'), undefined, backOff);
    work.beginTask(() => failing(30, 'while stopping'), undefined, backOff);

    await clock.advance(20);
    const stop = stopped(work, never);
    await clock.advance(20);

    expect(bugs).toEqual([new Error('before'), new Error('while stopping')]);
    expect(pauses).toEqual([1, 2]);
    expect(stop.ended).toBe(true);
  });
});
