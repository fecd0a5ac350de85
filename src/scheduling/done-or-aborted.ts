/**
 * Resolves once `work` does, or the signal is aborted: for what cannot be aborted itself. Rejects as `work` does before that;
 * what becomes of it afterwards is nobody's concern.
 */
export async function doneOrAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  await Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', end));
}
