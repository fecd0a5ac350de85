// What a run is given by the process that it runs in.
import type { Clock } from '../src/runtime/clock.ts';

export interface ProcessEnvironment {
  readonly clock: Clock;
  /** Aborted when the run is interrupted. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}
