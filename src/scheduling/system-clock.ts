// The machine's own time: the one file that sets real timers.
import { performance } from 'node:perf_hooks';
import type { Clock } from './clock.ts';

/** The longest delay that Node.js can hold; a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  schedule: (ms, action) => {
    const timer = setTimeout(action, Math.min(Math.max(ms, 0), longestTimer));
    return () => clearTimeout(timer);
  },
};
