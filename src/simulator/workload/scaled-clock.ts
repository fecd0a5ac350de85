// A clock that runs at a multiple of another clock's speed, for people who watch a modelled cloud.
import type { Clock } from '../../runtime/clock.ts';

/** A clock on which one second of `clock` lasts `factor` seconds. Both start at the same instant. */
export function scaledClock(clock: Clock, factor: number): Clock {
  const wallStart = clock.wall();
  const monotonicStart = clock.monotonic();

  return {
    wall: () => wallStart + (clock.monotonic() - monotonicStart) * factor,
    monotonic: () => monotonicStart + (clock.monotonic() - monotonicStart) * factor,
    schedule: (ms, action) => clock.schedule(ms / factor, action),
  };
}
