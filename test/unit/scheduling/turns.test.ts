import { describe, expect, test } from '@jest/globals';
import { Turns } from '../../../src/scheduling/turns.ts';

function rig(): {
  turns: Turns;
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
    turns: new Turns({ monotonic: () => now, afterOthers: (action) => awaited.push(action) }),
    turn: () => awaited.shift()?.(),
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

    for (const name of ['a', 'b', 'c']) turns.take(work(name));
    const before = [...done];
    turn();

    expect({ before, done }).toEqual({ before: [], done: ['a', 'b', 'c'] });
  });

  test('end after 10 ms, and what is left waits for the next one', () => {
    const { turns, turn, work, done } = rig();
    for (const name of ['a', 'b', 'c']) turns.take(work(name, 6));

    turn();
    const first = [...done];
    turn();

    expect({ first, done }).toEqual({ first: ['a', 'b'], done: ['a', 'b', 'c'] });
  });

  test('what is cancelled does not run', () => {
    const { turns, turn, work, done } = rig();
    const cancel = turns.take(work('a'));
    turns.take(work('b'));

    cancel();
    cancel();
    turn();

    expect(done).toEqual(['b']);
  });

  test('an action that throws keeps none of the others from running', () => {
    const { turns, turn, work, done } = rig();
    turns.take(() => {
      throw new Error('broken');
    });
    turns.take(work('b'));

    expect(turn).toThrow('broken');
    turn();

    expect(done).toEqual(['b']);
  });
});
