import { describe, expect, test } from '@jest/globals';
import { FairTimers } from '../../../src/runtime/fair-timers.ts';

function rig(): {
  turns: FairTimers;
  /** Lets one turn pass. */
  turn: () => void;
  /** An action that takes so many ms. */
  work: (name: string, ms?: number) => () => void;
  done: string[];
} {
  let now = 0;
  const awaited: (() => void)[] = [];
  const done: string[] = [];
  return {
    turns: new FairTimers({ monotonic: () => now, afterOthers: (action) => awaited.push(action) }),
    turn: () => {
      for (let left = awaited.length; left > 0; left--) awaited.shift()?.();
    },
    work:
      (name, ms = 0) =>
      () => {
        now += ms;
        done.push(name);
      },
    done,
  };
}

describe('turns', () => {
  test('run what is short together, in order, and never at once', () => {
    const { turns, turn, work, done } = rig();

    for (const name of ['a', 'b', 'c']) turns.take(work(name), false);
    const before = [...done];
    turn();

    expect({ before, done }).toEqual({ before: [], done: ['a', 'b', 'c'] });
  });

  test('end after 4 ms, and what is left waits for the next one', () => {
    const { turns, turn, work, done } = rig();
    for (const name of ['a', 'b', 'c']) turns.take(work(name, 3), false);

    turn();
    const first = [...done];
    turn();

    expect({ first, done }).toEqual({ first: ['a', 'b'], done: ['a', 'b', 'c'] });
  });

  test('count what an action leads to by promises', async () => {
    let now = 0;
    const awaited: (() => void)[] = [];
    const turns = new FairTimers({ monotonic: () => now, afterOthers: (action) => awaited.push(action) });
    let started = 0;
    for (let index = 0; index < 3; index++) {
      turns.take(() => {
        started++;
        void Promise.resolve().then(() => (now += 3));
      }, false);
    }

    for (let left = awaited.length; left > 0; left--) {
      awaited.shift()?.();
      await Promise.resolve();
    }

    expect(started).toBe(2);
  });

  test('begin with what is pressing, also with what becomes due meanwhile', () => {
    const { turns, turn, work, done } = rig();
    turns.take(work('a'), false);
    turns.take(work('b', 2), false);
    turns.take(() => {
      work('c')();
      turns.take(work('d'), true);
    }, true);
    turns.take(work('e', 2), false);
    turns.take(work('f'), false);

    turn();
    turns.take(work('g'), true);
    turn();

    expect(done.join('')).toBe('cdabegf');
  });

  test('what is cancelled does not run', () => {
    const { turns, turn, work, done } = rig();
    const cancel = turns.take(work('a'), false);
    turns.take(work('b'), false);

    cancel();
    cancel();
    turn();

    expect(done).toEqual(['b']);
  });

  test('an action that throws keeps none of the others from running', () => {
    const { turns, turn, work, done } = rig();
    turns.take(() => {
      throw new Error('broken');
    }, false);
    turns.take(work('b'), false);

    expect(turn).toThrow('broken');
    turn();

    expect(done).toEqual(['b']);
  });
});
