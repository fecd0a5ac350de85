// Notices that the files of an agent are gone, or are those of another one. Without its socket no call comes in; without its
// record a restart would give out what pods hold. The agent then ends, so that what supervises it starts it anew.
import { type Clock, sleep } from '../runtime/clock.ts';
import { untilAborted } from '../runtime/race-abort.ts';

const interval = 30_000;

/** Resolves to what is lost; to nothing once `signal` aborts. */
export function lostFile(
  checks: readonly (() => string | undefined)[],
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  return untilAborted(signal, async () => {
    for (;;) {
      await sleep(clock, interval, signal);
      const [lost] = checks.flatMap((check) => check() ?? []);
      if (lost !== undefined) return lost;
    }
  });
}
