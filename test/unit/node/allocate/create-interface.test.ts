import { describe, expect, test } from '@jest/globals';
import { createInterface } from '../../../../src/node/allocate/create-interface.ts';
import type { Outcome } from '../../../../src/providers/contract/operations.ts';
import { VisibilityLag } from '../../../../src/providers/inventory/visibility-lag.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { scriptedImplementation } from '../../providers/scripted-implementation.ts';
import { deleted, inPlace, request, rig, run, type Setup, until } from '../create-interface-rig.ts';
import { attached, created, failed, failure, lost } from '../outcomes.ts';

describe('a new interface', () => {
  test('is created and attached', async () => {
    const { calls, requests, folded, result } = await run({ attach: [attached('eni-9', 1)] });

    expect(result()).toEqual(inPlace);
    expect(calls).toEqual(['create', 'attach@1']);
    expect(requests).toEqual([
      request,
      { kind: 'attachInterface', instanceId: 'i-1', interfaceId: 'eni-9', deviceIndex: 1 },
    ]);
    expect(folded).toEqual(['created', 'attached']);
  });

  test('is finished once its first call is sent, whatever is paused meanwhile', async () => {
    const { calls, started } = await run({
      create: [lost, created('eni-9')],
      attach: [failed('notAuthorized')],
    });

    expect(calls.filter((call) => !call.startsWith('admit'))).toEqual([
      'create',
      'create',
      'attach@1',
      'delete',
    ]);
    expect(started).toEqual(['create', 'attach', 'delete']);
  });

  test('is not started while it may not be, and nothing leaks', async () => {
    const { calls, result } = await run({ create: [failed('stopped')] });

    expect(calls).toEqual(['create']);
    expect(result()).toMatchObject({ kind: 'failed', at: 'create', left: undefined, uncertain: false });
  });

  test('is not attached when the cloud refuses to create it', async () => {
    const { calls, result } = await run({ create: [failed('subnetExhausted')] });

    expect(result()).toEqual({
      kind: 'failed',
      at: 'create',
      failure: failure('subnetExhausted'),
      left: undefined,
      uncertain: false,
    });
    expect(calls).toEqual(['create']);
  });

  test('is requested again with the same token as long as answers get lost', async () => {
    const { calls, requests, result } = await run({
      create: [lost, lost, lost, lost, created('eni-9')],
      attach: [attached('eni-9', 1)],
    });

    const again = ['admit create', 'create'];
    expect(result()).toEqual(inPlace);
    expect(calls).toEqual(['create', ...again, ...again, ...again, ...again, 'attach@1']);
    expect(requests.slice(0, 5)).toEqual([request, request, request, request, request]);
  });

  test('is given up after five lost answers, and is reported as one that may exist', async () => {
    const { requests, result } = await run({ create: [lost] });

    expect(requests).toHaveLength(5);
    expect(result()).toEqual({
      kind: 'failed',
      at: 'create',
      failure: failure('unreachable'),
      left: undefined,
      uncertain: true,
    });
  });

  test.each(['throttled', 'unreachable'] as const)(
    'is requested again when its answer got lost and the repetition is %s, which proves nothing',
    async (kind) => {
      const { calls, result } = await run({
        create: [lost, failed(kind), created('eni-9')],
        attach: [attached('eni-9', 1)],
      });

      expect(result()).toEqual(inPlace);
      expect(calls.filter((call) => call === 'create')).toHaveLength(3);
    },
  );

  test('is not requested again when the first try is throttled', async () => {
    const { calls, result } = await run({ create: [failed('throttled')] });

    expect(result()).toMatchObject({ kind: 'failed', at: 'create', uncertain: false });
    expect(calls).toEqual(['create']);
  });

  test('is requested again after a longer wait for each lost answer', async () => {
    const made = rig({ create: [lost] });
    const starts: number[] = [];

    for (let tries = 1; tries <= 5; tries++)
      starts.push(await until(made, () => made.requests.length === tries));

    const waits = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(500 * 2 ** index - 100);
      expect(wait).toBeLessThanOrEqual(1000 * 2 ** index + 100);
    }
  });
});

describe('an interface that is being attached', () => {
  test.each([
    ['at once when no lag is known', {}, 0],
    ['at once when calls are plenty', { lag: 700 }, 0],
    ['once the cloud shows it when calls are scarce', { lag: 700, wait: 1 }, 700],
    ['at once when calls are scarce and the cloud has no lag', { wait: 1 }, 0],
  ])('is attached %s', async (_, setup, at) => {
    const made = rig({ attach: [attached('eni-9', 1)], ...setup });

    await made.clock.advance(at - 1);
    const before = made.calls.includes('attach@1');
    await made.clock.advance(2);

    expect(before).toBe(false);
    expect(made.calls).toContain('attach@1');
    expect(made.result()).toEqual(inPlace);
  });

  test('is attached with another try as long as the cloud may not know it yet', async () => {
    const { calls, result } = await run({
      attach: [failed('notYetVisible'), failed('notYetVisible'), attached('eni-9', 1)],
    });

    const again = ['admit attach', 'attach@1'];
    expect(result()).toEqual(inPlace);
    expect(calls).toEqual(['create', 'attach@1', ...again, ...again]);
  });

  test('is attached with another try however often that is throttled, as soon as the rate limit allows', async () => {
    const throttled = Array.from({ length: 50 }, () => failed('throttled'));

    const made = rig({ attach: [...throttled, attached('eni-9', 1)] });
    const endedAt = await until(made, () => made.result() !== undefined);

    expect(made.result()).toEqual(inPlace);
    expect(made.calls.filter((call) => call === 'admit attach')).toHaveLength(50);
    expect(made.calls).not.toContain('delete');
    expect(made.throttles).toHaveLength(50);
    expect(endedAt).toBeLessThan(10_000);
  });

  test.each(['notYetVisible', 'unreachable'] as const)(
    'is deleted when it is %s for longer than the cloud may take to know it',
    async (kind) => {
      const made = rig({ attach: [failed(kind)], delete: [deleted] });
      const deletedAt = await until(made, () => made.calls.includes('delete'));

      await made.clock.advance(60_000);

      expect(made.result()).toEqual({
        kind: 'failed',
        at: 'attach',
        failure: failure(kind),
        left: undefined,
        uncertain: false,
      });
      expect(deletedAt).toBeGreaterThan(30_000);
      expect(deletedAt).toBeLessThan(45_000);
    },
  );

  test.each(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])(
    'is attached with at most one more try when the cloud must know it, also after a wait at first: %s',
    async (seed) => {
      const made = rig({ attach: [failed('notYetVisible')], delete: [deleted], lag: 2000, wait: 1, seed });
      const attachments = (): number => made.calls.filter((call) => call === 'attach@1').length;
      await made.clock.advance(30_000 - 1);
      const early = attachments();

      await made.clock.advance(60_000);

      expect(made.calls).toContain('delete');
      expect(attachments() - early).toBeLessThanOrEqual(1);
    },
  );

  test.each([
    'instanceGone',
    'instanceNotRunning',
    'limitReached',
    'notAuthorized',
    'invalid',
    'unknown',
  ] as const)('is deleted at once when the cloud answers %s', async (kind) => {
    const { calls, folded, result } = await run({ attach: [failed(kind)] });

    expect(result()).toMatchObject({ kind: 'failed', at: 'attach', failure: { kind }, left: undefined });
    expect(calls).toEqual(['create', 'attach@1', 'admit delete', 'delete']);
    expect(folded).toEqual(['created', 'deleted']);
  });

  test.each([
    ['is refused, for certain', [failed('invalid')], ['invalid']],
    ['is in use, as it says', [failed('conflict'), failed('invalid')], []],
    ['may be attached after an answer that got lost', [lost, failed('invalid')], []],
  ] as const)(
    'is reported as refused or not, while its deletion has to wait, when it %s',
    async (_, attach, reported) => {
      const { refused, result } = await run({
        attach,
        delete: [failed('fenced'), failed('fenced'), deleted],
      });

      expect([...new Set(refused)]).toEqual(reported);
      expect(result()).toMatchObject({ kind: 'failed', at: 'attach', left: undefined });
    },
  );

  test('takes the next free index when its own turns out to be taken', async () => {
    const { calls, result } = await run({
      attach: [failed('deviceIndexTaken'), failed('deviceIndexTaken'), attached('eni-9', 5)],
      taken: [2, 3],
    });

    expect(result()).toEqual(inPlace);
    expect(calls).toEqual([
      'create',
      'attach@1',
      'refresh',
      'admit attach',
      'attach@4',
      'refresh',
      'admit attach',
      'attach@5',
    ]);
  });

  test('tries five indexes and no more', async () => {
    const { calls, result } = await run({ attach: [failed('deviceIndexTaken')] });

    expect(result()).toMatchObject({ kind: 'failed', at: 'attach', failure: { kind: 'deviceIndexTaken' } });
    expect(calls.filter((call) => call.startsWith('attach'))).toEqual([
      'attach@1',
      'attach@2',
      'attach@3',
      'attach@4',
      'attach@5',
    ]);
  });

  test.each<[string, Outcome]>([
    ['whose answer got lost', lost],
    ['that the cloud says to be in use', failed('conflict')],
    ['whose index is taken', failed('deviceIndexTaken')],
  ])('%s is read again, and may be found attached', async (_, outcome) => {
    const { calls, result } = await run({ attach: [outcome], refreshes: [1] });

    expect(result()).toEqual(inPlace);
    expect(calls).toEqual(['create', 'attach@1', 'refresh']);
  });

  test('may be found attached late, because reads lag as well', async () => {
    const { calls, result } = await run({
      attach: [lost, failed('deviceIndexTaken'), failed('conflict'), failed('conflict')],
      refreshes: [undefined, undefined, undefined, 1],
    });

    expect(result()).toEqual(inPlace);
    expect(calls.filter((call) => call.startsWith('attach'))).toEqual([
      'attach@1',
      'attach@1',
      'attach@2',
      'attach@2',
    ]);
    expect(calls).not.toContain('delete');
  });

  test('is deleted when its answers get lost to the end', async () => {
    const { result } = await run({ attach: [lost], duration: 10_000 });

    expect(result()).toMatchObject({ kind: 'failed', at: 'attach', left: undefined });
  });
});

describe('an orphaned interface', () => {
  test.each<[string, readonly Outcome[], number, object]>([
    ['is attached', [attached('eni-9', 1)], 1, inPlace],
    ['is tried again after a lost answer', [lost, attached('eni-9', 1)], 2, inPlace],
    [
      'is gone when the cloud does not know it',
      [failed('notYetVisible')],
      1,
      { kind: 'failed', failure: { kind: 'interfaceGone' } },
    ],
  ])('%s', async (_, attach, tries, expected) => {
    const { calls, result } = await run({ adopts: true, attach });

    expect(result()).toMatchObject(expected);
    expect(calls.filter((call) => call === 'attach@1')).toHaveLength(tries);
  });
});

test('an orphaned interface is tried again although the attempt whose answer got lost took long', async () => {
  const { calls, result } = await run({
    adopts: true,
    attach: [lost, attached('eni-9', 1)],
    duration: 47_000,
    refresh: () => Promise.resolve(),
  });

  expect(result()).toMatchObject(inPlace);
  expect(calls.filter((call) => call === 'attach@1')).toHaveLength(2);
});

test.each<[string, Setup, number]>([
  ['an orphaned interface is', { adopts: true, attach: [failed('conflict')], duration: 47_000 }, 1],
  ['a new interface that is gone is', { attach: [lost, failed('notYetVisible')], duration: 20_000 }, 2],
])('%s not tried again when the attempts took long and the answer is known', async (_, setup, tries) => {
  const { calls, result } = await run({ ...setup, refresh: () => Promise.resolve() });

  expect(result()).toMatchObject({ kind: 'failed', at: 'attach' });
  expect(calls.filter((call) => call === 'attach@1')).toHaveLength(tries);
});

describe('an interface that could not be attached', () => {
  const attach = [failed('limitReached')];

  test.each<[string, readonly Outcome[], number]>([
    ['deleted', [deleted], 1],
    ['deleted at the second try', [failed('throttled'), deleted], 2],
    ['deleted although answers get lost', [lost, lost, deleted], 3],
    ['gone when it is read after a lost answer', [lost, failed('interfaceGone')], 2],
    ['deleted once the cloud knows it', [failed('interfaceGone'), failed('interfaceGone'), deleted], 3],
    ['taken for gone when the cloud never knows it', [failed('interfaceGone')], 5],
  ])('is %s', async (_, outcomes, tries) => {
    const { calls, folded, result } = await run({ attach, delete: outcomes });

    expect(result()).toMatchObject({
      kind: 'failed',
      at: 'attach',
      failure: { kind: 'limitReached' },
      left: undefined,
    });
    expect(calls.filter((call) => call === 'delete')).toHaveLength(tries);
    expect(calls.filter((call) => call === 'admit delete')).toHaveLength(tries);
    expect(folded).toEqual(['created', 'deleted']);
  });

  test('is treated as gone when the cloud does not know it for longer than the cloud may need', async () => {
    const { calls, folded, result } = await run({
      attach: [failed('notYetVisible')],
      delete: [failed('interfaceGone')],
    });

    expect(result()).toMatchObject({ kind: 'failed', at: 'attach', left: undefined });
    expect(calls.filter((call) => call === 'delete')).toHaveLength(1);
    expect(folded).toEqual(['created', 'deleted']);
  });

  test.each(['notAuthorized', 'conflict', 'throttled'] as const)(
    'is reported as orphaned when it cannot be deleted either (%s)',
    async (kind) => {
      const { calls, folded, result } = await run({ attach, delete: [failed(kind)] });

      expect(result()).toEqual({
        kind: 'failed',
        at: 'attach',
        failure: failure('limitReached'),
        left: 'eni-9',
        uncertain: false,
      });
      expect(calls.filter((call) => call === 'delete')).toHaveLength(5);
      expect(folded).toEqual(['created']);
    },
  );

  test('is deleted by a new leader when only that may delete it', async () => {
    const { calls, result } = await run({
      attach,
      delete: [...Array<Outcome>(6).fill(failed('fenced')), deleted],
    });

    expect(result()).toMatchObject({ kind: 'failed', at: 'attach', left: undefined });
    expect(calls.filter((call) => call === 'delete')).toHaveLength(7);
  });

  test('is reported as orphaned when it can never be deleted because the fence never opens', async () => {
    const { clock, result } = await run({ attach, delete: [failed('fenced')] });

    expect(result()).toMatchObject({ kind: 'failed', at: 'attach', left: 'eni-9' });
    expect(clock.monotonic()).toBeGreaterThan(30_000);
  });

  test('may be attached after all when it cannot be deleted either', async () => {
    const { result } = await run({
      attach: [failed('unknown')],
      delete: [failed('conflict')],
      refreshes: [1],
    });

    expect(result()).toEqual(inPlace);
  });
});

describe('the end of a shutdown', () => {
  const outOfTime = { kind: 'unknown', code: 'OutOfTime' };

  test.each<[string, Setup, number]>([
    ['while it waits to be attached again', { attach: [failed('notYetVisible')] }, 500],
    ['while it is read again', { attach: [lost], refresh: () => new Promise(() => undefined) }, 500],
    [
      'while it waits to be deleted again',
      { attach: [failed('invalid')], delete: [failed('throttled')] },
      500,
    ],
  ])('reports an interface as orphaned %s', async (_, setup, after) => {
    const { clock, deadline, result, error } = rig(setup);
    await clock.advance(after);

    deadline.abort(new Error('no time left'));
    await clock.advance(0);

    expect(error()).toBeUndefined();
    expect(result()).toMatchObject({ kind: 'failed', at: 'attach', left: 'eni-9' });
  });

  test('reports an interface whose creation got no answer as one that may exist', async () => {
    const { clock, deadline, result, error } = rig({ create: [lost] });
    await clock.advance(100);

    deadline.abort(new Error('no time left'));
    await clock.advance(0);

    expect(error()).toBeUndefined();
    expect(result()).toMatchObject({ kind: 'failed', at: 'create', left: undefined, uncertain: true });
  });

  test('ends a wait for the rate limits', async () => {
    const { clock, calls, deadline, result } = rig({
      attach: [failed('invalid')],
      delete: [failed('throttled')],
    });
    deadline.abort(new Error('no time left'));

    await clock.advance(1000);

    expect(calls).not.toContain('delete');
    expect(result()).toMatchObject({
      kind: 'failed',
      at: 'attach',
      failure: { kind: 'invalid' },
      left: 'eni-9',
    });
  });

  test('ends a call that was not sent yet', async () => {
    const clock = new VirtualClock();
    const deadline = new AbortController();
    const creating = createInterface(request, {
      node: {
        implementation: scriptedImplementation({
          perform: (_, { signal }) => sleep(clock, 60_000, signal).then(() => lost),
        }),
        applyAnswer: () => undefined,
        refresh: () => Promise.resolve(),
        attachedAt: () => undefined,
        indexAfter: (index) => index + 1,
      },
      clock,
      random: new Random('unit'),
      consistencyWindow: 30_000,
      context: { caller: { priority: 'normal' }, signal: deadline.signal },
      emit: () => undefined,
      visibilityLag: new VisibilityLag(),
    });

    deadline.abort(new Error('no time left'));

    expect(await creating).toMatchObject({
      kind: 'failed',
      at: 'create',
      failure: outOfTime,
      left: undefined,
    });
  });
});
