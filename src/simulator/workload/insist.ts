// Repeats a request that must take effect, until it has or its effect is there already.
import { type Clock, sleep } from '../../scheduling/clock.ts';
import type { Answer } from './kubernetes-client.ts';

/** Between attempts when the API does not answer as it should, in ms. */
const pause = 1_000;

/** Whether the same request may get another answer: nobody answered, too many asked, or the server is at fault. */
export function isPassing(status: number): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/**
 * Sends until the answer is good or has the status `enough`. Throws an Error for any other refusal that repeating would
 * not change, and the reason of `signal` once it is aborted.
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
