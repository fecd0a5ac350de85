import { describe, expect, test } from '@jest/globals';
import { Batcher } from '../../../src/runtime/batcher.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

interface Rig {
  readonly clock: VirtualClock;
  readonly batcher: Batcher<string>;
  /** `keys@ms` of the start of each call. */
  readonly calls: string[];
  readonly failures: string[];
  /** `key@ms` of each request that was answered. */
  readonly answered: string[];
  readonly ask: (...keys: string[]) => void;
}

type Run = (
  keys: readonly string[],
  signal: AbortSignal,
  call: number,
) => Promise<ReadonlyMap<string, unknown> | undefined>;

function rig(change: { readonly max?: number; readonly run?: Run } = {}): Rig {
  const clock = new VirtualClock();
  const calls: string[] = [];
  const failures: string[] = [];
  const answered: string[] = [];
  const batcher = new Batcher<string>({
    clock,
    random: new Random('batcher'),
    window: 50,
    max: change.max ?? 200,
    backoff: { base: 1000, cap: 30_000 },
    run: async (keys, signal) => {
      calls.push(`${keys.join('')}@${Math.round(clock.monotonic())}`);
      return change.run?.(keys, signal, calls.length);
    },
    onFailure: (error, keys) => failures.push(`${(error as Error).message}:${keys.join('')}`),
  });
  const ask = (...keys: string[]): void => {
    for (const key of keys) {
      void batcher.request(key).then(() => answered.push(`${key}@${Math.round(clock.monotonic())}`));
    }
  };
  return { clock, batcher, calls, failures, answered, ask };
}

function keysOf(answered: readonly string[]): string[] {
  return answered.map((entry) => entry.slice(0, 1)).toSorted();
}

const failing =
  (bad: string): Run =>
  (keys) =>
    keys.includes(bad) ? Promise.reject(new Error('refused')) : Promise.resolve(undefined);

test('a failure that needs no long pause gets none, however many preceded it', async () => {
  const clock = new VirtualClock();
  const calls: number[] = [];
  const batcher = new Batcher<string>({
    clock,
    random: new Random('batcher'),
    window: 50,
    max: 200,
    backoff: { base: 1000, cap: 30_000 },
    maxPause: (error) => ((error as Error).message === 'soon' ? 4000 : Infinity),
    run: () => {
      calls.push(clock.monotonic());
      return Promise.reject(new Error('soon'));
    },
    onFailure: () => undefined,
  });

  void batcher.request('a');
  await clock.advance(120_000);

  const pauses = calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
  expect(pauses.length).toBeGreaterThan(20);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(4000);
});

describe('a batcher', () => {
  test('puts all requests within a window into one call, each key once', async () => {
    const { clock, calls, answered, ask } = rig();

    ask('a', 'b');
    await clock.advance(49);
    ask('c', 'a');
    await clock.advance(500);

    expect(calls).toEqual(['abc@50']);
    expect(answered).toEqual(['a@50', 'a@50', 'b@50', 'c@50']);
  });

  test('makes calls of a limited number of keys, one after the other', async () => {
    const { clock, calls, answered, ask } = rig({
      max: 2,
      run: (_, signal) => sleep(clock, 300, signal).then(() => undefined),
    });

    ask('a', 'b', 'c', 'd', 'e');
    await clock.advance(2000);

    expect(calls).toEqual(['ab@50', 'cd@400', 'e@750']);
    expect(answered).toEqual(['a@350', 'b@350', 'c@700', 'd@700', 'e@1050']);
  });

  test('answers a request made during a call with a later call', async () => {
    const { clock, calls, answered, ask } = rig({
      run: (_, signal) => sleep(clock, 300, signal).then(() => undefined),
    });
    ask('a');
    await clock.advance(100);

    ask('a', 'b');
    await clock.advance(2000);

    expect(calls).toEqual(['a@50', 'ab@400']);
    expect(answered).toEqual(['a@350', 'a@700', 'b@700']);
  });

  test('starts a new window after a pause', async () => {
    const { clock, calls, ask } = rig();
    ask('a');
    await clock.advance(10_000);

    ask('a');
    await clock.advance(10_000);

    expect(calls).toEqual(['a@50', 'a@10050']);
  });

  test('repeats what failed, until it succeeds, more and more rarely', async () => {
    const { clock, calls, failures, answered, ask } = rig({
      run: (_keys, _signal, call) =>
        call <= 4 ? Promise.reject(new Error('down')) : Promise.resolve(undefined),
    });

    ask('a');
    await clock.advance(60_000);

    const starts = calls.map((call) => Number(call.split('@')[1]));
    const waits = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    expect(failures).toEqual(['down:a', 'down:a', 'down:a', 'down:a']);
    expect(answered).toHaveLength(1);
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(500 * 2 ** index);
      expect(wait).toBeLessThanOrEqual(1001 * 2 ** index);
    }
  });

  test('starts with short waits again after a success', async () => {
    const { clock, calls, ask } = rig({
      run: (_keys, _signal, call) =>
        [1, 2, 4].includes(call) ? Promise.reject(new Error('down')) : Promise.resolve(undefined),
    });
    ask('a');
    await clock.advance(10_000);

    ask('a');
    await clock.advance(1051);

    expect(calls).toHaveLength(5);
  });

  test('answers the other keys in spite of one bad key', async () => {
    const { clock, answered, ask } = rig({ run: failing('x') });
    const keys = ['a', 'b', 'c', 'x', 'd', 'e', 'f', 'g'];

    ask(...keys);
    await clock.advance(20_000);

    expect(keysOf(answered)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  test('answers later keys soon in spite of one bad key', async () => {
    const { clock, answered, ask } = rig({ run: failing('x') });
    ask('x');
    await clock.advance(120_000);

    ask('a', 'b', 'c');
    await clock.advance(60_000);

    expect(keysOf(answered)).toEqual(['a', 'b', 'c']);
  });

  test('answers a request made during a failing call along with the older one', async () => {
    const { clock, calls, answered, ask } = rig({
      run: async (_keys, signal, call) => {
        await sleep(clock, 300, signal);
        if (call === 1) throw new Error('down');
      },
    });
    ask('a');
    await clock.advance(100);

    ask('a');
    await clock.advance(10_000);

    expect(calls).toHaveLength(2);
    expect(answered).toHaveLength(2);
  });

  test('makes larger calls again after a success', async () => {
    const { clock, calls, ask } = rig({
      max: 4,
      run: (_keys, _signal, call) =>
        call === 1 ? Promise.reject(new Error('down')) : Promise.resolve(undefined),
    });

    ask('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    await clock.advance(10_000);

    expect(calls.map((call) => call.split('@')[0])).toEqual(['abcd', 'ef', 'ghab', 'cd']);
  });
});

describe('a batcher that is stopped', () => {
  test('ends the call in flight, makes no other and leaves requests open', async () => {
    const { clock, batcher, calls, failures, answered, ask } = rig({
      run: (_, signal) => sleep(clock, 300, signal).then(() => undefined),
    });
    ask('a');
    await clock.advance(100);
    ask('b');

    await batcher.stop();
    ask('c');
    await clock.advance(10_000);

    expect(calls).toEqual(['a@50']);
    expect([failures, answered]).toEqual([[], []]);
  });

  test('leaves no timer behind', async () => {
    const { clock, batcher, ask } = rig();
    ask('a');

    await batcher.stop();

    expect(await clock.runUntil(() => false, 1000)).toBe(false);
    expect(clock.monotonic()).toBe(0);
  });

  test('waits for a call that ignores the abort', async () => {
    const never = new AbortController().signal;
    const { clock, batcher, ask } = rig({ run: () => sleep(clock, 300, never).then(() => undefined) });
    ask('a');
    await clock.advance(100);

    let stoppedAt: number | undefined;
    void batcher.stop().then(() => {
      stoppedAt = clock.monotonic();
    });
    await clock.advance(1000);

    expect(stoppedAt).toBe(350);
  });
});

describe('a call that cannot answer for one of its keys', () => {
  const without =
    (bad: string, calls: number): Run =>
    (keys, _, call) =>
      Promise.resolve(
        keys.includes(bad) && call <= calls ? new Map([[bad, new Error('denied')]]) : undefined,
      );

  test('answers for the others at once', async () => {
    const { clock, ask, answered, failures } = rig({ run: without('b', 1) });

    ask('a', 'b', 'c');
    await clock.advance(60);

    expect(keysOf(answered)).toEqual(['a', 'c']);
    expect(failures).toEqual(['denied:b']);
  });

  test('is followed by one for that key, later and later, that delays nobody else', async () => {
    const { clock, ask, answered, calls } = rig({ run: without('b', 4) });

    ask('b');
    await clock.advance(400);
    ask('a', 'b');
    await clock.advance(60);

    expect(answered).toEqual(['a@450']);

    await clock.advance(60_000);

    expect(keysOf(answered)).toEqual(['a', 'b', 'b']);
    expect(calls.filter((call) => call.startsWith('b'))).toHaveLength(4);
  });
});
