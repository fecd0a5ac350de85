// The machine's own time: the one file that sets real timers.
import { performance } from 'node:perf_hooks';
import type { Clock } from './clock.ts';
import { Turns } from './turns.ts';

/** The longest delay that Node.js can hold; a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1;

const monotonic = (): number => performance.now();

/** Of the one event loop that there is. */
const turns = new Turns({ monotonic, afterOthers: (action) => void setImmediate(action) });

/** What is scheduled for at once runs in turns with input and output, however much of it there is. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic,
  schedule: (ms, action, isPressing = false) => {
    if (ms <= 0) return turns.take(action, isPressing);
    const timer = setTimeout(action, Math.min(ms, longestTimer));
    return () => clearTimeout(timer);
  },
};
