// The machine's own time. Only this file sets real timers.
import { performance } from 'node:perf_hooks';
import type { Clock } from './clock.ts';
import { FairTimers } from './fair-timers.ts';

/** Node.js's longest delay; a longer one would fire at once. */
const maxTimer = 2 ** 31 - 1;

const monotonic = (): number => performance.now();

/** A single instance for the event loop. */
const fairTimers = new FairTimers(monotonic, (action) => void setImmediate(action));

/** Actions due at once take turns with I/O, however many there are. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic,
  schedule: (ms, action, isPressing = false) => {
    if (ms <= 0) return fairTimers.take(action, isPressing);
    return punctually({ monotonic, set }, ms, action);
  },
};

function set(ms: number, action: () => void): () => void {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
}

export interface TimerSource {
  readonly monotonic: () => number;
  /** Node.js timers may fire up to a millisecond early, because they drop the fraction. */
  readonly set: (ms: number, action: () => void) => () => void;
}

/**
 * Calls `action` once `ms` have passed and never earlier. A caller that reads the clock then finds its time
 * has come; nothing else would wake it. The returned function cancels the timer.
 */
export function punctually(
  { monotonic: now, set: arm }: TimerSource,
  ms: number,
  action: () => void,
): () => void {
  const due = now() + ms;
  let cancel: () => void;
  const wait = (left: number): void => {
    cancel = arm(Math.min(Math.ceil(left), maxTimer), () => {
      const rest = due - now();
      if (rest > 0) wait(rest);
      else action();
    });
  };
  wait(ms);
  return () => cancel();
}
