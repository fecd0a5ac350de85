// What a run gets from its process.
import type { Clock } from '../src/runtime/clock.ts';

export interface ProcessEnvironment {
  readonly clock: Clock;
  /** Aborted when the run is interrupted. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}
