import { callerOf } from '../rate-limiter-rig.ts';
import { describe, expect, test } from '@jest/globals';
import { ConcurrencyLimiter } from '../../../../src/providers/rate-limit/concurrency-limiter.ts';
import type { Priority } from '../../../../src/providers/contract/priority.ts';

const never = new AbortController().signal;

/** Calls that start when they get a place and end when the test ends them. */
function rig(max: number) {
  const inFlight = new ConcurrencyLimiter(max);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const call = (
    name: string,
    priority: Priority | (() => Priority),
    { signal = never, started: isStarted = false } = {},
  ): Promise<string> =>
    inFlight.run({ caller: callerOf(priority), signal, inFlight: isStarted }, () => {
      started.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await settled();
  };
  return { inFlight, started, call, end };
}

/** Runs everything that waits for no external event. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

describe('places among the requests in flight', () => {
  test('are limited, and go to the highest priority in order of arrival', async () => {
    const { started, call, end } = rig(2);
    const calls = [
      call('a', 'high'),
      call('b', 'high'),
      call('c', 'housekeeping'),
      call('d', 'high'),
      call('e', 'critical'),
      call('f', 'high'),
    ];
    const history: string[] = [started.join('')];

    for (const name of ['a', 'b', 'e', 'd', 'f']) {
      await end(name);
      history.push(started.join(''));
    }
    await end('c');

    expect(history).toEqual(['ab', 'abe', 'abed', 'abedf', 'abedfc', 'abedfc']);
    await expect(Promise.all(calls)).resolves.toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('go first to operations in flight, so that nothing stays unfinished', async () => {
    const { started, call, end } = rig(1);
    void call('a', 'high');
    void call('create', 'critical');
    void call('attach', 'normal', { started: true });

    await end('a');
    await end('attach');

    expect(started).toEqual(['a', 'attach', 'create']);
  });

  test('go to calls with pending pods while none is free for unfinished operations without pending pods', async () => {
    const { started, call, end } = rig(5);
    for (const name of ['a', 'b', 'c', 'd']) void call(name, 'high');
    void call('e', 'normal');
    void call('attach', 'normal', { started: true });
    void call('create', 'critical');

    await end('a');
    await end('e');

    expect(started).toEqual(['a', 'b', 'c', 'd', 'e', 'create', 'attach']);
  });

  test('are given at once to a call with pending pods when that is announced', async () => {
    const { inFlight, started, call } = rig(3);
    let priority: Priority = 'normal';
    for (const name of ['a', 'b', 'c']) void call(name, () => priority);
    const before = started.length;

    priority = 'high';
    inFlight.reconsider();
    await settled();

    expect([before, started.length]).toEqual([2, 3]);
  });

  test('go by the priority of a call now, not by that on arrival', async () => {
    const { inFlight, started, call, end } = rig(1);
    let [second, third]: Priority[] = ['high', 'normal'];
    void call('first', 'high');
    void call('second', () => second ?? 'high');
    void call('third', () => third ?? 'high');
    void call('fourth', 'high');

    [second, third] = ['housekeeping', 'critical'];
    inFlight.reconsider();
    for (const name of ['first', 'third', 'fourth']) await end(name);

    expect(started).toEqual(['first', 'third', 'fourth', 'second']);
  });

  test('go to calls that lost their priority after the others, even without notice', async () => {
    const { started, call, end } = rig(1);
    let priority: Priority = 'critical';
    void call('first', 'high');
    void call('second', () => priority);
    void call('third', 'high');

    priority = 'normal';
    for (const name of ['first', 'third']) await end(name);

    expect(started).toEqual(['first', 'third', 'second']);
  });

  test.each([
    [10, 6],
    [50, 30],
    [3, 2],
    [1, 1],
  ])('are %i, and %i at most go to calls without pending pods', async (max, withoutPods) => {
    const { started, call, end } = rig(max);
    for (let index = 0; index <= max; index++) void call(`topUp${index}`, 'normal');
    const alone = started.length;
    for (let index = 0; index <= max; index++) void call(`pressing${index}`, 'high');
    const together = started.length;

    await end('topUp0');
    const next = started[together] ?? '';

    expect([alone, together]).toEqual([withoutPods, max]);
    expect(next).toMatch('pressing');
  });

  test.each([
    [10, 2],
    [50, 10],
    [1, 1],
  ])(
    'are %i, and %i at most go to calls without pending pods as long as there are others',
    async (max, withoutPods) => {
      const { started, call, end } = rig(max);
      void call('pressing', 'high');
      for (let index = 0; index <= max; index++) void call(`topUp${index}`, 'normal');
      const besides = started.length - 1;

      await end('pressing');
      const alone = started.length - 1;

      expect([besides, alone]).toEqual([Math.min(withoutPods, max - 1), Math.ceil(max * 0.6)]);
    },
  );

  test('all go to calls with pending pods, if there are so many', () => {
    const { started, call } = rig(10);

    for (let index = 0; index < 20; index++) void call(`${index}`, 'critical');

    expect(started).toHaveLength(10);
  });

  test('are not taken by a call that is aborted while it waits, and it blocks no other', async () => {
    const { started, call, end } = rig(1);
    const giveUp = new AbortController();
    void call('first', 'high');
    const second = call('second', 'critical', { signal: giveUp.signal });
    void call('third', 'high');

    giveUp.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await end('first');

    expect(started).toEqual(['first', 'third']);
  });

  test('are passed on by a call that is aborted at the moment of entry', async () => {
    const { started, call, end } = rig(1);
    const giveUp = new AbortController();
    void call('first', 'high');
    let isLetIn = false;
    const priority = (): Priority => {
      if (isLetIn) queueMicrotask(() => giveUp.abort(new Error('enough')));
      return 'critical';
    };
    const second = call('second', priority, { signal: giveUp.signal });
    void call('third', 'high');

    isLetIn = true;
    await Promise.all([end('first'), expect(second).rejects.toThrow('enough')]);

    expect(started).toEqual(['first', 'third']);
  });

  test('are not taken by a call that was aborted before', async () => {
    const { started, call } = rig(1);

    await expect(call('first', 'high', { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    );

    expect(started).toEqual([]);
  });

  test('are taken at once if there are any, or after a wait, which can be aborted', async () => {
    const { inFlight, started, call, end } = rig(2);
    const leaves: (() => void)[] = [];
    const enter = (name: string, priority: Priority): (() => void) =>
      inFlight.enter({ caller: { priority } }, (leave) => {
        started.push(name);
        leaves.push(leave);
      });
    const endWait = enter('a', 'high');
    void call('b', 'high');
    enter('c', 'high');
    const leaveLine = enter('d', 'critical');
    void call('e', 'high');
    const before = [...started];

    leaveLine();
    endWait();
    await end('b');
    for (const leave of leaves) leave();
    await settled();

    expect([before, started]).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c', 'e'],
    ]);
  });

  test('are returned after a failure, which is passed on', async () => {
    const { inFlight } = rig(1);
    const request = { caller: { priority: 'high' as const }, signal: never };

    const failing = inFlight.run(request, () => Promise.reject(new Error('no')));

    await expect(failing).rejects.toThrow('no');
    await expect(inFlight.run(request, () => Promise.resolve('yes'))).resolves.toBe('yes');
  });
});
