import { expect, test } from '@jest/globals';
import { doneOrAborted } from '../../../src/scheduling/done-or-aborted.ts';

const forEver = new Promise<never>(() => undefined);

test('waits for the work', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const waiting = doneOrAborted(promise, new AbortController().signal).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  resolve();
  await waiting;
  expect(isOver).toBe(true);
});

test('waits no longer once aborted, also where that was before', async () => {
  const controller = new AbortController();
  const waiting = doneOrAborted(forEver, controller.signal);
  controller.abort();
  await expect(waiting).resolves.toBeUndefined();
  await expect(doneOrAborted(forEver, controller.signal)).resolves.toBeUndefined();
});

test('rejects as the work does', async () => {
  const failed = Promise.reject(new Error('no'));
  await expect(doneOrAborted(failed, new AbortController().signal)).rejects.toThrow('no');
});

test('what fails after it was aborted is told to nobody, also where that was before', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const { promise, reject } = Promise.withResolvers<void>();
  await doneOrAborted(promise, AbortSignal.abort());
  reject(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
