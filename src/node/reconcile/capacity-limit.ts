// Reports a node at its capacity limit while pods wait, once this lasts: the agent and the pods report the
// same address at different times.
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import { type Requeue, requeueAt } from '../../runtime/requeue.ts';
import type { Assessment } from '../conditions/assessment.ts';
import { type NodeCondition, capCondition } from '../conditions/node-condition.ts';

/** How long an agent takes to report its used addresses at the default update rate, in ms. */
const reportDelay = 15_000;

export class CapacityLimit {
  #since: number | undefined;

  step(assessment: Assessment, words: CloudWords, now: number): Requeue & { condition?: NodeCondition } {
    if (assessment.kind !== 'served' || assessment.cap === undefined) {
      this.#since = undefined;
      return {};
    }
    const { cap, marks, requirements } = assessment;
    this.#since ??= now;
    const due = this.#since + reportDelay;
    if (now < due) return requeueAt([due], now);
    const { instanceType } = requirements;
    return { condition: capCondition(cap, { max: marks.maxAllocate, instanceType }, words) };
  }
}
