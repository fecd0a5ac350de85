// What a run is given by the process that it runs in.
import type { Clock } from '../src/scheduling/clock.ts';

export interface Surroundings {
  readonly clock: Clock;
  /** Aborted when the run is interrupted. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}
