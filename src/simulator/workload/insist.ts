// Repeats a request until it takes effect or its effect already exists.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Answer } from './kubernetes-client.ts';

/** Pause between attempts if the API does not answer as expected, in ms. */
const pause = 1_000;

/** Whether a retry may get another answer: no answer, too many requests, or a server error. */
export function isPassing(status: number): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/**
 * Sends until the answer succeeds or has the status `enough`. Throws an Error for any other permanent
 * refusal, and the reason of `signal` once it aborts.
 */
export async function insist(
  send: () => Promise<Answer>,
  enough: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const answer = await send();
    if (answer.kind === 'ok' || answer.status === enough) return;
    if (!isPassing(answer.status)) {
      throw new Error(`the API refuses what the workload needs: ${answer.status} ${answer.message}`);
    }
    await sleep(clock, pause, signal);
  }
}
