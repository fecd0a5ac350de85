// Tells of a node that has all it may have while pods wait, once that has lasted: an agent and the pods that it serves
// tell of the same address at different times.
import type { Clock } from '../scheduling/clock.ts';
import type { Assessment } from './assessment.ts';
import { type Diagnosis, diagnoseCap } from './diagnosis.ts';

/** How long an agent takes to tell what it uses, in ms, at its default update rate. */
const toldWithin = 15_000;

export class LastingCap {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #wakeIn: (ms: number) => void;
  #since: number | undefined;

  /** `wakeIn`: to be asked again after so many ms. */
  constructor(clock: Pick<Clock, 'monotonic'>, wakeIn: (ms: number) => void) {
    this.#clock = clock;
    this.#wakeIn = wakeIn;
  }

  diagnose({ cap, marks, requirements }: Assessment & { kind: 'served' }): Diagnosis | undefined {
    if (cap === undefined) {
      this.#since = undefined;
      return undefined;
    }
    const now = this.#clock.monotonic();
    this.#since ??= now;
    const wait = this.#since + toldWithin - now;
    if (wait <= 0) return diagnoseCap(cap, marks.maxAllocate, requirements.instanceType);
    this.#wakeIn(wait);
    return undefined;
  }
}
