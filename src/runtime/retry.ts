// The one loop of "try, pause, give up".
import { type Clock, sleep } from './clock.ts';

export interface RetryDeps {
  readonly clock: Pick<Clock, 'monotonic' | 'wall' | 'schedule'>;
  readonly signal: AbortSignal;
}

/**
 * Repeats `attempt` until its result is final, and resolves to that. `pauseAfter`: how long to wait before the next
 * attempt, in ms; undefined if the result is final. Attempts count from 1. Rejects with what an attempt rejects with, and
 * with the reason of the signal as soon as that aborts a pause.
 */
export async function retry<T>(
  { clock, signal }: RetryDeps,
  attempt: (tries: number) => Promise<T>,
  pauseAfter: (result: T, tries: number) => number | undefined | Promise<number | undefined>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const result = await attempt(tries);
    const pause = await pauseAfter(result, tries);
    if (pause === undefined) return result;
    if (pause > 0) await sleep(clock, pause, signal);
    signal.throwIfAborted();
  }
}
