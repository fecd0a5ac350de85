import { describe, expect, test } from '@jest/globals';
import { FairTimers } from '../../../src/runtime/fair-timers.ts';

function rig(): {
  turns: FairTimers;
  /** Lets one turn pass. */
  turn: () => void;
  /** An action that takes this many ms. */
  work: (name: string, ms?: number) => () => void;
  done: string[];
} {
  let now = 0;
  const awaited: (() => void)[] = [];
  const done: string[] = [];
  return {
    turns: new FairTimers(
      () => now,
      (action) => awaited.push(action),
    ),
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

describe('fair timers', () => {
  test('run short actions together, in order, and never synchronously', () => {
    const { turns, turn, work, done } = rig();

    for (const name of ['a', 'b', 'c']) turns.take(work(name), false);
    const before = [...done];
    turn();

    expect({ before, done }).toEqual({ before: [], done: ['a', 'b', 'c'] });
  });

  test('pause after 4 ms, and the rest waits for the next turn', () => {
    const { turns, turn, work, done } = rig();
    for (const name of ['a', 'b', 'c']) turns.take(work(name, 3), false);

    turn();
    const first = [...done];
    turn();

    expect({ first, done }).toEqual({ first: ['a', 'b'], done: ['a', 'b', 'c'] });
  });

  test('count what an action starts by promises', async () => {
    let now = 0;
    const awaited: (() => void)[] = [];
    const turns = new FairTimers(
      () => now,
      (action) => awaited.push(action),
    );
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

  test('start with pressing actions, also with those that become due meanwhile', () => {
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

  test('do not run a cancelled action', () => {
    const { turns, turn, work, done } = rig();
    const cancel = turns.take(work('a'), false);
    turns.take(work('b'), false);

    cancel();
    cancel();
    turn();

    expect(done).toEqual(['b']);
  });

  test('run the other actions when one throws', () => {
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
