import { expect, test } from '@jest/globals';
import { raceAbort, settledSoonAfterAbort } from '../../../src/runtime/race-abort.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const forEver = new Promise<never>(() => undefined);

test('raceAbort waits for the work', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const waiting = raceAbort(promise, new AbortController().signal).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  resolve();
  await waiting;
  expect(isOver).toBe(true);
});

test('raceAbort resolves once it is aborted, also if that was before it started', async () => {
  const controller = new AbortController();
  const waiting = raceAbort(forEver, controller.signal);
  controller.abort();
  await expect(waiting).resolves.toBeUndefined();
  await expect(raceAbort(forEver, controller.signal)).resolves.toBeUndefined();
});

test('raceAbort rejects with the error of the work', async () => {
  const failed = Promise.reject(new Error('no'));
  await expect(raceAbort(failed, new AbortController().signal)).rejects.toThrow('no');
});

test('raceAbort ignores a failure after the abort, also if that was before it started', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const { promise, reject } = Promise.withResolvers<void>();
  await raceAbort(promise, AbortSignal.abort());
  reject(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test('settledSoonAfterAbort settles as the work does, also after the abort', async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const waiting = settledSoonAfterAbort(promise, { clock, signal: controller.signal, grace: 1000 });
  controller.abort();
  await clock.advance(999);
  resolve('done');
  expect(await waiting).toBe('done');
});

test('settledSoonAfterAbort gives up work that does not end', async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const waiting = settledSoonAfterAbort(forEver, { clock, signal: controller.signal, grace: 1000 }).catch(
    (error: unknown) => error,
  );
  controller.abort(new Error('stop'));
  await clock.advance(1000);
  expect(await waiting).toMatchObject({ message: 'stop' });
});
