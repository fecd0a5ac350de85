import { expect, test } from '@jest/globals';
import { raceAbort } from '../../../src/runtime/race-abort.ts';

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
