// Reports why a node cannot be satisfied: once while it lasts, and its end once the agent is shown what it lacked.
import { leastOf, type Requeue, requeueAt } from '../../runtime/requeue.ts';
import { detachingIn } from '../allocate/allocation-plan.ts';
import { type Assessment, isInDeficit } from '../conditions/assessment.ts';
import { blockingCondition, type PartReports } from '../conditions/blocking-condition.ts';
import {
  capCondition,
  lastingReasons,
  type NodeCondition,
  presentable,
} from '../conditions/node-condition.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeState } from './node-state.ts';

/**
 * How long a node is at its limit while pods wait before that is reported, in ms: an agent takes as long to report its used
 * addresses at the default update rate, and pods report theirs at once.
 */
const reportDelay = 15_000;

export class ConditionReport {
  readonly #context: NodeContext;
  readonly #state: NodeState;
  /** Since when the node is at its capacity limit while pods wait, in monotonic ms. */
  #cappedSince: number | undefined;
  #condition: NodeCondition | undefined;
  /** The last plan; undefined while the node cannot be served. */
  #plan: PartReports['plan'];
  /** A problem was reported and its end was not. */
  #isUnresolved = false;

  constructor(context: NodeContext, state: NodeState) {
    this.#context = context;
    this.#state = state;
  }

  /** Undefined while nothing keeps the node from being satisfied. */
  get condition(): NodeCondition | undefined {
    return this.#condition;
  }

  get plan(): PartReports['plan'] {
    return this.#plan;
  }

  /** Interfaces whose change a call of ours explains, or the condition. */
  get explained(): ReadonlySet<string> {
    return new Set([...this.#state.changedByUs, ...detachingIn(this.#plan)]);
  }

  step(reports: PartReports, now: number): Requeue {
    const { cloud, permission } = this.#context;
    const { node, instanceId, view } = this.#state;
    const { words } = cloud.implementation.section;
    const { assessment } = reports;
    const { condition: cap, ...requeue } = this.#capIn(assessment, now);
    this.#plan = reports.plan;
    const isUnread = assessment.kind === 'unread';
    const { ledger } = cloud.supply;
    const { obstacle } = reports.plan ?? {};
    const exhausted = obstacle?.kind === 'subnetsExhausted' ? obstacle.subnetIds : [];
    const awaited = exhausted.map((id) => ledger.countAwaitedUntil(id, now));
    const found = blockingCondition(reports, {
      node,
      instanceId,
      view,
      unread: isUnread ? (cloud.instances.failures.unreadBecause(instanceId) ?? this.#condition) : undefined,
      pause: permission.refusal('allocate', node.name),
      cap,
      words,
      refusedSubnets: { ledger, now },
    });
    const mayLast = this.#isTried(assessment) || awaited.some((until) => until > now);
    if (found !== undefined || !mayLast) this.#announce(found && presentable(found));
    return leastOf([requeue, requeueAt(awaited, now)]);
  }

  #capIn(assessment: Assessment, now: number): Requeue & { condition?: NodeCondition } {
    if (assessment.kind !== 'served' || assessment.cap === undefined) {
      this.#cappedSince = undefined;
      return {};
    }
    const { cap, marks, requirements } = assessment;
    this.#cappedSince ??= now;
    const due = this.#cappedSince + reportDelay;
    if (now < due) return requeueAt([due], now);
    const { words } = this.#context.cloud.implementation.section;
    const { instanceType } = requirements;
    return { condition: capCondition(cap, { max: marks.maxAllocate, instanceType }, words) };
  }

  /**
   * Whether the condition that is told may last: the node still lacks something, and a call under way shows whether it gets
   * some.
   */
  #isTried(assessment: Assessment): boolean {
    const isTold = this.#condition !== undefined && lastingReasons.has(this.#condition.reason);
    if (!isTold || assessment.kind !== 'served') return false;
    return assessment.toAllocate > 0 || assessment.ipv6 === 'missing';
  }

  #announce(condition: NodeCondition | undefined): void {
    if (condition?.message === this.#condition?.message) return;
    this.#condition = condition;
    if (condition !== undefined) this.#isUnresolved = true;
    this.#context.emit({ kind: 'condition', node: this.#state.node, condition });
  }

  /** The agent is shown all that it may be. Returns whether that may end the condition, so that a step must follow. */
  published(assessment: Assessment): boolean {
    // The API server accepted a write that it rejected before.
    if (this.#condition !== undefined) return this.#isUnresolved && this.#condition.reason === 'WriteRefused';
    const isServed = assessment.kind === 'served' && !isInDeficit(assessment);
    if (!this.#isUnresolved || !isServed) return false;
    this.#isUnresolved = false;
    this.#context.emit({ kind: 'resolved', node: this.#state.node });
    return false;
  }
}
