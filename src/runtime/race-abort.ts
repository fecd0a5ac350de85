// Waits that an abort signal ends.
import type { Clock } from './clock.ts';

/**
 * Resolves once `work` resolves or the signal aborts, for work that cannot be aborted. Rejects if `work` rejects first;
 * ignores the outcome of `work` after the abort.
 */
export async function raceAbort(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  await Promise.race([work, ended]).finally(() => signal.removeEventListener('abort', end));
}

/**
 * Settles as `work` does, and rejects with the signal's reason where `work` has not settled `grace` ms after the abort. For
 * work that should end with the signal and holds something until it does: no promise of a library is trusted to settle.
 */
export function settledSoonAfterAbort<T>(
  work: Promise<T>,
  {
    clock,
    signal,
    grace,
  }: { readonly clock: Pick<Clock, 'schedule'>; readonly signal: AbortSignal; readonly grace: number },
): Promise<T> {
  return new Promise((resolve, reject) => {
    let cancel = (): void => undefined;
    const abandon = (): void => {
      cancel = clock.schedule(grace, () => reject(signal.reason as Error));
    };
    const finish = (): void => {
      cancel();
      signal.removeEventListener('abort', abandon);
    };
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
    work.then(resolve, reject).finally(finish);
  });
}

/** Settles as `work` does, except that nothing `work` rejects with counts once the signal is aborted: that resolves. */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Resolves once the signal is aborted. Use it for one wait per signal: each call adds a listener. */
export function aborted(signal: AbortSignal): Promise<'stopped'> {
  const { promise, resolve } = Promise.withResolvers<'stopped'>();
  if (signal.aborted) resolve('stopped');
  signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  return promise;
}
