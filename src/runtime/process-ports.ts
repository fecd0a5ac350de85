// The port of a part to its process.
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export interface ProcessPorts {
  readonly clock: Clock;
  readonly random: Random;
  /** Called with an error that nothing expected. Returns at once and does not throw. */
  readonly onBug: (error: unknown) => void;
}
