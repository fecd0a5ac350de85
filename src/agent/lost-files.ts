// Notices that the files of an agent are gone, or are those of another one. Without its socket no call comes in; without its
// record a restart would give out what pods hold. The agent then ends, so that what supervises it starts it anew.
import { type Clock, sleep } from '../runtime/clock.ts';

const interval = 30_000;

/** Resolves to what is lost; to nothing once `signal` aborts. */
export async function lostFile(
  checks: readonly (() => string | undefined)[],
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    while (!signal.aborted) {
      await sleep(clock, interval, signal);
      const [lost] = checks.flatMap((check) => check() ?? []);
      if (lost !== undefined) return lost;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return undefined;
}
