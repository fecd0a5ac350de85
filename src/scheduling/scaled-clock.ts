// A clock that runs faster or slower than another one: how a model of a cloud is given to people who cannot wait.
import type { Clock } from './clock.ts';

/** A clock on which one second of `clock` counts `factor` seconds. Both begin at the same instant. */
export function scaledClock(clock: Clock, factor: number): Clock {
  const wallStart = clock.wall();
  const monotonicStart = clock.monotonic();

  return {
    wall: () => wallStart + (clock.monotonic() - monotonicStart) * factor,
    monotonic: () => monotonicStart + (clock.monotonic() - monotonicStart) * factor,
    schedule: (ms, action) => clock.schedule(ms / factor, action),
  };
}
