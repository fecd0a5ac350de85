// Reports a node at its capacity limit while pods wait, once this lasts: the agent and the pods report the
// same address at different times.
import type { Clock } from '../../runtime/clock.ts';
import type { Assessment } from '../conditions/assessment.ts';
import { type NodeCondition, capCondition } from '../conditions/node-condition.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';

/** How long an agent takes to report its used addresses at the default update rate, in ms. */
const reportDelay = 15_000;

export class CapacityLimit {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #wakeIn: (ms: number) => void;
  #since: number | undefined;

  /** `wakeIn`: requests another evaluation after this many ms. */
  constructor(clock: Pick<Clock, 'monotonic'>, wakeIn: (ms: number) => void) {
    this.#clock = clock;
    this.#wakeIn = wakeIn;
  }

  conditionOf(
    { cap, marks, requirements }: Assessment & { kind: 'served' },
    words: CloudWords,
  ): NodeCondition | undefined {
    if (cap === undefined) {
      this.#since = undefined;
      return undefined;
    }
    const now = this.#clock.monotonic();
    this.#since ??= now;
    const wait = this.#since + reportDelay - now;
    const { instanceType } = requirements;
    if (wait <= 0) return capCondition(cap, { most: marks.maxAllocate, instanceType }, words);
    this.#wakeIn(wait);
    return undefined;
  }
}
