import { describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../../src/providers/contract/priority.ts';
import { type PendingOperation, Poller, type Progress } from '../../../../src/providers/pending/poller.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

type View = ReadonlySet<string>;

function pollerRig({ crowd = 50, readMs = 0 } = {}) {
  const clock = new VirtualClock();
  const done = new Set<string>();
  const polls: string[] = [];
  const groupReads: string[] = [];
  const keysRead: string[] = [];
  let groupCaller: Caller | undefined;
  let isFailing = false;
  const poller = new Poller<View>({
    clock,
    crowd,
    readGroup: async (group, { keys, caller, signal }) => {
      groupReads.push(`${group} at ${clock.monotonic() / 1000}`);
      keysRead.push(keys.join());
      groupCaller = caller;
      const view = isFailing ? undefined : new Set(done);
      if (readMs > 0) await sleep(clock, readMs, signal);
      return view;
    },
  });
  const ended = (name: string): Progress<string> =>
    done.has(name) ? { kind: 'ended', result: `${name} ended` } : { kind: 'pending' };
  const operation = (
    name: string,
    change: Partial<PendingOperation<View, string>> = {},
  ): PendingOperation<View, string> => ({
    group: 'set',
    key: name,
    caller: { priority: 'normal' },
    signal: new AbortController().signal,
    poll: () => {
      polls.push(`${name} at ${clock.monotonic() / 1000}`);
      return Promise.resolve(ended(name));
    },
    find: (view) => (view.has(name) ? { kind: 'ended', result: `${name} found` } : { kind: 'pending' }),
    ...change,
  });
  return {
    clock,
    done,
    polls,
    groupReads,
    keysRead,
    poller,
    operation,
    priority: () => groupCaller?.priority,
    failGroups: () => (isFailing = true),
  };
}

describe('an operation that goes on in the cloud', () => {
  test('is polled after 1 s, 2 s and then every 6 s', async () => {
    const { clock, poller, polls, operation, done } = pollerRig();
    const result = poller.wait(operation('a'), undefined);

    await clock.advance(16_000);
    done.add('a');
    await clock.advance(6000);

    expect(polls).toEqual(['a at 1', 'a at 3', 'a at 9', 'a at 15', 'a at 21']);
    expect(await result).toBe('a ended');
    expect(poller.size).toBe(0);
  });

  test('is polled when the cloud asks for it', async () => {
    const { clock, poller, polls, operation } = pollerRig();
    void poller.wait(
      operation('a', {
        poll: () => {
          polls.push(`at ${clock.monotonic() / 1000}`);
          return Promise.resolve({ kind: 'pending', retryAfter: 20_000 });
        },
      }),
      10_000,
    );

    await clock.advance(60_000);

    expect(polls).toEqual(['at 10', 'at 30', 'at 50']);
  });

  test.each([
    ['at once', 0, ['at 1', 'at 2', 'at 3']],
    ['an hour later', 3_600_000, ['at 60', 'at 120', 'at 180']],
  ])(
    'is polled every second at most, and every minute at least, if the cloud asks for it %s',
    async (_, retryAfter, expected) => {
      const { clock, poller, polls, operation } = pollerRig();
      const poll = (): Promise<Progress<string>> => {
        polls.push(`at ${clock.monotonic() / 1000}`);
        return Promise.resolve({ kind: 'pending', retryAfter });
      };
      void poller.wait(operation('a', { poll }), retryAfter);

      await clock.runUntil(() => polls.length === 3, 300_000);

      expect(polls).toEqual(expected);
    },
  );

  test('is overdue after 10 minutes', async () => {
    const { clock, poller, operation } = pollerRig();
    const result = poller.wait(operation('a'), undefined);

    await clock.advance(599_000);
    expect(poller.size).toBe(1);
    await clock.advance(2000);

    expect(await result).toBe('overdue');
  });

  test('is given up with its signal', async () => {
    const { clock, poller, polls, operation } = pollerRig();
    const stop = new AbortController();
    const result = poller.wait(operation('a', { signal: stop.signal }), undefined);
    const reason = result.catch((error: unknown) => error);

    await clock.advance(500);
    stop.abort(new Error('enough'));
    await clock.advance(60_000);

    expect(await reason).toEqual(new Error('enough'));
    expect(polls).toEqual([]);
    expect(poller.size).toBe(0);
  });

  test('that fails in an unexpected way fails for its waiter alone', async () => {
    const { clock, poller, operation, done } = pollerRig();
    const bug = poller
      .wait(operation('a', { poll: () => Promise.reject(new Error('a bug')) }), undefined)
      .catch((error: unknown) => error);
    const other = poller.wait(operation('b'), undefined);
    done.add('b');

    await clock.advance(10_000);

    expect(await bug).toEqual(new Error('a bug'));
    expect(await other).toBe('b ended');
  });
});

describe('many operations that go on in the cloud', () => {
  test('are found by one read of their group at most every 6 s', async () => {
    const { clock, poller, polls, groupReads, operation, done } = pollerRig({ crowd: 3 });
    const results = ['a', 'b', 'c', 'd', 'e'].map((name) => poller.wait(operation(name), undefined));

    await clock.advance(9000);
    for (const name of ['a', 'b', 'c', 'd', 'e']) done.add(name);
    await clock.advance(10_000);

    expect(await Promise.all(results)).toEqual(['a found', 'b found', 'c found', 'd found', 'e found']);
    expect(groupReads).toEqual(['set at 1', 'set at 7', 'set at 13']);
    expect(polls).toEqual([]);
  });

  test('that come later wait for the next read of the group', async () => {
    const { clock, poller, groupReads, operation, done } = pollerRig({ crowd: 1 });
    const early = [poller.wait(operation('a'), undefined), poller.wait(operation('b'), undefined)];
    await clock.advance(1500);

    const late = poller.wait(operation('c'), undefined);
    for (const name of ['a', 'b', 'c']) done.add(name);
    await clock.advance(10_000);

    expect(await Promise.all([...early, late])).toEqual(['a found', 'b found', 'c found']);
    expect(groupReads).toEqual(['set at 1', 'set at 7']);
  });

  test('are read only if they would be due before the next read', async () => {
    const { clock, poller, keysRead, operation } = pollerRig({ crowd: 1 });
    void poller.wait(operation('a'), undefined);
    void poller.wait(operation('b'), 7000);
    void poller.wait(operation('c'), 7001);

    await clock.advance(1000);

    expect(keysRead).toEqual(['a,b']);
  });

  test('that come due during a read of their group are in the next one', async () => {
    const { clock, poller, groupReads, keysRead, operation } = pollerRig({ crowd: 1, readMs: 9000 });
    for (const name of ['a', 'b']) void poller.wait(operation(name), undefined);
    await clock.advance(1000);
    for (const name of ['c', 'd']) void poller.wait(operation(name), 500);

    await clock.advance(20_000);

    expect(groupReads).toEqual(['set at 1', 'set at 10', 'set at 21']);
    expect(keysRead).toEqual(['a,b', 'a,b,c,d', 'a,b,c,d']);
  });

  test('are polled one by one without a group, and if only one is in it', async () => {
    const { clock, poller, polls, groupReads, operation, done } = pollerRig({ crowd: 1 });
    const results = [
      poller.wait(operation('a', { group: undefined }), undefined),
      poller.wait(operation('b', { group: undefined }), undefined),
      poller.wait(operation('c'), undefined),
    ];
    for (const name of ['a', 'b', 'c']) done.add(name);

    await clock.advance(1000);

    expect(await Promise.all(results)).toEqual(['a ended', 'b ended', 'c ended']);
    expect(polls).toHaveLength(3);
    expect(groupReads).toEqual([]);
  });

  test('of which a group shows something odd are polled by themselves', async () => {
    const { clock, poller, polls, operation } = pollerRig({ crowd: 1 });
    void poller.wait(operation('a', { find: () => ({ kind: 'pending', isOdd: true }) }), undefined);
    void poller.wait(operation('b'), undefined);

    await clock.advance(8000);

    expect(polls).toEqual(['a at 3']);
  });

  test('go on after a read of their group failed', async () => {
    const { clock, poller, operation, done, failGroups } = pollerRig({ crowd: 1 });
    failGroups();
    const results = [poller.wait(operation('a'), undefined), poller.wait(operation('b'), undefined)];
    for (const name of ['a', 'b']) done.add(name);

    await clock.advance(20_000);

    expect(poller.size).toBe(2);
    void results;
  });

  test('are read with the priority of the most urgent one', async () => {
    const { clock, poller, operation, priority } = pollerRig({ crowd: 1 });
    void poller.wait(operation('a', { caller: { priority: 'release' } }), undefined);
    void poller.wait(operation('b', { caller: { priority: 'critical' } }), undefined);

    await clock.advance(1000);

    expect(priority()).toBe('critical');
  });
});
