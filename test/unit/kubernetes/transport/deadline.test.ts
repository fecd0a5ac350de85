import { describe, expect, test } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { withDeadline } from '../../../../src/kubernetes/transport/deadline.ts';
import { LinkedAbort } from '../../../../src/kubernetes/transport/linked-abort.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

describe('withDeadline', () => {
  const waitingFor = 'GET /x';

  test.each<[string, (signal: AbortSignal) => Promise<string>, object]>([
    ['done in time', () => Promise.resolve('done'), { status: 'fulfilled', value: 'done' }],
    [
      'failed in time',
      () => Promise.reject(new Error('broken')),
      { status: 'rejected', reason: { message: 'broken' } },
    ],
    [
      'not done in time',
      () => new Promise(() => undefined),
      {
        status: 'rejected',
        reason: { code: 'KUBERNETES_TIMEOUT', message: 'no answer to GET /x within 500 ms' },
      },
    ],
  ])('returns work that is %s, and leaves neither timer nor listener', async (_what, work, outcome) => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();

    const [settled] = await Promise.all([
      Promise.allSettled([withDeadline({ clock, ms: 500, signal, waitingFor }, work)]),
      clock.advance(500),
    ]);

    expect(settled[0]).toMatchObject(outcome);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(await clock.runUntil(() => false, 10_000)).toBe(false);
    expect(clock.monotonic()).toBe(500);
  });

  test('ends at once when it is aborted, before or during the work, and aborts the work', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const reported: unknown[] = [];
    const work = (signal: AbortSignal): Promise<never> => {
      signal.addEventListener('abort', () => reported.push(signal.reason));
      return new Promise(() => undefined);
    };
    const reason = new Error('enough');

    const during = withDeadline({ clock, ms: 500, signal: controller.signal, waitingFor }, work);
    controller.abort(reason);
    const before = withDeadline({ clock, ms: 500, signal: controller.signal, waitingFor }, work);

    await expect(during).rejects.toBe(reason);
    await expect(before).rejects.toBe(reason);
    expect(reported).toEqual([reason]);
  });
});

describe('LinkedAbort', () => {
  test('follows its parent, and leaves no listener on it at the end', () => {
    const parent = new AbortController();
    const followed = new LinkedAbort(parent.signal);
    const over = new LinkedAbort(parent.signal);
    const released = new LinkedAbort(parent.signal);

    over.abort(new Error('over'));
    released.release();
    const listeners = getEventListeners(parent.signal, 'abort').length;
    parent.abort(new Error('parent'));

    expect(listeners).toBe(1);
    expect(followed.signal.reason).toEqual(new Error('parent'));
    expect(over.signal.reason).toEqual(new Error('over'));
    expect(released.signal.aborted).toBe(false);
    expect(new LinkedAbort(parent.signal).signal.aborted).toBe(true);
  });
});
