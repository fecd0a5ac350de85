import { describe, expect, test } from '@jest/globals';
import { type Result, WorkQueue } from '../../../src/runtime/work-queue.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

/** Work on keys that ends when the test says so. Keys go in the order of the alphabet. */
function rig({ workers = 2, retryAfter = 1000 } = {}) {
  const clock = new VirtualClock();
  const started: string[] = [];
  const bugs: unknown[] = [];
  const open = new Map<string, { end: (result: Result) => void; fail: (error: unknown) => void }>();
  const state = { mayStart: true, asked: 0 };
  const hopeless = new Set<string>();
  const queue = new WorkQueue<string>({
    clock,
    workers,
    onBug: (error) => bugs.push(error),
    compare: (a, b) => a.localeCompare(b),
    mayStart: () => state.mayStart,
    retryAfter: () => retryAfter,
    reconcile: (key) => {
      state.asked++;
      if (hopeless.has(key)) return undefined;
      started.push(key);
      return new Promise((end, fail) => open.set(key, { end, fail }));
    },
  });
  return {
    queue,
    clock,
    started,
    bugs,
    state,
    hopeless,
    end: async (key: string, result: Result = {}) => {
      open.get(key)?.end(result);
      await clock.advance(0);
    },
    fail: async (key: string) => {
      open.get(key)?.fail(new Error('broken'));
      await clock.advance(0);
    },
  };
}

describe('a work queue', () => {
  test('works on so many keys at once, and on the others in order', async () => {
    const { queue, started, end } = rig();

    for (const key of ['d', 'c', 'a', 'b']) queue.add(key);
    await end('c');
    await end('d');

    expect(started).toEqual(['d', 'c', 'a', 'b']);
  });

  test('folds requests for a key that waits, and for one that is worked on', async () => {
    const { queue, started, end, clock } = rig({ workers: 1 });

    for (const key of ['a', 'b', 'b', 'a', 'a']) queue.add(key);
    await end('a');
    await end('b');
    await clock.advance(0);
    await end('a');
    await clock.advance(60_000);

    expect(started).toEqual(['a', 'b', 'a']);
  });

  test.each<[string, Result, number]>([
    ['when its result says', { requeueAfter: 5000 }, 5000],
    [
      'when its result says, although it was requested meanwhile, after a failure',
      { requeueAfter: 5000, isFailure: true },
      5000,
    ],
  ])('comes back to a key %s', async (_, result, after) => {
    const { queue, started, end, clock } = rig();
    queue.add('a');
    if (result.isFailure === true) queue.add('a');

    await end('a', result);
    await clock.advance(after - 1);
    expect(started).toEqual(['a']);
    await clock.advance(1);

    expect(started).toEqual(['a', 'a']);
  });

  test('comes back at once to a key that is requested before its time', async () => {
    const { queue, started, end, clock } = rig();
    queue.add('a');
    await end('a', { requeueAfter: 5000 });

    queue.add('a');
    await end('a');
    await clock.advance(60_000);

    expect(started).toEqual(['a', 'a']);
  });

  test('reports work that rejects, and comes back to its key', async () => {
    const { queue, started, fail, clock, bugs } = rig({ retryAfter: 3000 });
    queue.add('a');

    await fail('a');
    await clock.advance(3000);

    expect(bugs).toEqual([new Error('broken')]);
    expect(started).toEqual(['a', 'a']);
  });

  test('starts nothing while it may not, and goes on when it is served', () => {
    const { queue, started, state } = rig();
    state.mayStart = false;
    queue.add('a');
    expect(started).toEqual([]);
    state.mayStart = true;

    queue.serve();

    expect(started).toEqual(['a']);
  });

  test('leaves out a key for which nothing can be done, until it is served again', async () => {
    const { queue, started, state, hopeless, end } = rig({ workers: 1 });
    hopeless.add('a').add('b');
    for (const key of ['b', 'c', 'a', 'd']) queue.add(key);
    await end('c');
    expect(started).toEqual(['c', 'd']);
    await end('d');

    const { asked } = state;
    queue.withdraw('b');
    hopeless.clear();
    queue.add('a');
    expect(state.asked).toBe(asked);
    queue.serve();

    expect(started).toEqual(['c', 'd', 'a']);
  });

  test('begins with the first key again when something happens while a key is asked', () => {
    const { queue, started, hopeless } = rig({ workers: 9 });
    hopeless.add('a');
    queue.add('a');
    const ask = hopeless.has.bind(hopeless);
    hopeless.has = (key) => {
      const isHopeless = ask(key);
      if (key === 'b') {
        hopeless.clear();
        queue.serve();
      }
      return isHopeless;
    };

    queue.add('b');

    expect(started).toEqual(['b', 'a']);
  });

  test('works on a key later, unless it is requested before', async () => {
    const { queue, started, end, clock } = rig();
    for (const key of ['a', 'b', 'c']) queue.addLater(key, 5000);
    queue.addLater('a', 1);
    queue.add('b');
    queue.withdraw('c');
    await end('b');
    await clock.advance(4999);
    expect(started).toEqual(['b']);
    await clock.advance(60_000);

    expect(started).toEqual(['b', 'a']);
  });

  test('works on no key twice at once that is requested anew', async () => {
    const { queue, started, end, clock } = rig();
    queue.add('a');
    queue.withdraw('a');
    queue.addLater('a', 5000);
    await clock.advance(5000);
    expect(started).toEqual(['a']);
    await end('a');
    await clock.advance(0);

    expect(started).toEqual(['a', 'a']);
  });

  test('reports work that throws at once, and comes back to its key', async () => {
    const { queue, hopeless, started, clock, bugs } = rig({ retryAfter: 3000 });
    const [ask, broken] = [hopeless.has.bind(hopeless), new Error('broken')];
    hopeless.has = () => {
      throw broken;
    };
    queue.add('a');
    await clock.advance(0);
    hopeless.has = ask;
    await clock.advance(3000);

    expect(bugs).toEqual([broken]);
    expect(started).toEqual(['a']);
  });

  test('drops what work on a forgotten key ends with', async () => {
    const { queue, started, end, clock } = rig({ workers: 1 });
    for (const key of ['a', 'b', 'c']) queue.add(key);

    queue.forget('a');
    queue.forget('b');
    await end('a', { requeueAfter: 1 });
    await clock.advance(60_000);

    expect(started).toEqual(['a', 'c']);
  });

  test('starts nothing more once it stops, and waits for the work under way', async () => {
    const { queue, started, end } = rig({ workers: 1 });
    queue.add('a');
    queue.add('b');
    let isStopped = false;

    const stopped = queue.stop(new AbortController().signal).then(() => (isStopped = true));
    await Promise.resolve();
    expect(isStopped).toBe(false);
    await end('a', { requeueAfter: 0 });
    await stopped;

    expect(started).toEqual(['a']);
  });
});
