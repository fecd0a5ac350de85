// Bounds the duration of asynchronous work, on the injected clock.
import type { Clock } from '../../runtime/clock.ts';
import { KubernetesError } from './kubernetes-error.ts';

export interface Deadline {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
  /** The thing awaited, as the object of "no answer to …". */
  readonly waitingFor: string;
}

/**
 * Settles with `work`. Rejects with the signal's reason when it aborts, and with KUBERNETES_TIMEOUT after `ms`. Both
 * reject at once: they abort the signal passed to `work` and do not wait for it.
 */
export function withDeadline<T>(deadline: Deadline, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, ms, signal, waitingFor } = deadline;
  if (signal.aborted) return Promise.reject(signal.reason as Error);

  return new Promise((resolve, reject) => {
    const inner = new AbortController();
    const giveUp = (reason: Error): void => {
      finish();
      reject(reason);
      inner.abort(reason);
    };
    const abandon = (): void => giveUp(signal.reason as Error);
    const cancel = clock.schedule(ms, () => {
      giveUp(
        new KubernetesError('KUBERNETES_TIMEOUT', `no answer to ${waitingFor} within ${ms} ms`, {
          details: { ms },
        }),
      );
    });
    const finish = (): void => {
      cancel();
      signal.removeEventListener('abort', abandon);
    };
    signal.addEventListener('abort', abandon, { once: true });
    work(inner.signal).then(resolve, reject).finally(finish);
  });
}
