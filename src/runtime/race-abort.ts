// Waits that an abort signal ends.

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

/** Resolves once the signal is aborted. Use it for one wait per signal: each call adds a listener. */
export function aborted(signal: AbortSignal): Promise<'stopped'> {
  const { promise, resolve } = Promise.withResolvers<'stopped'>();
  if (signal.aborted) resolve('stopped');
  signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  return promise;
}
