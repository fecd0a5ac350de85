// Reports why a node cannot be satisfied: once while it lasts, and its end once the agent is shown what it lacked.
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import { leastOf, type Requeue, requeueAt } from '../../runtime/requeue.ts';
import { type Assessment, isInDeficit } from '../conditions/assessment.ts';
import { type BlockingFacts, blockingCondition } from '../conditions/blocking-condition.ts';
import { lastingReasons, type NodeCondition, presentable } from '../conditions/node-condition.ts';
import { CapacityLimit } from './capacity-limit.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeState } from './node-state.ts';

export interface ConditionReportDeps {
  readonly context: Pick<NodeContext, 'cloud' | 'settings' | 'emit'>;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  readonly state: Pick<NodeState, 'instanceId' | 'node' | 'view'>;
}

export class ConditionReport {
  readonly #deps: ConditionReportDeps;
  readonly #cap = new CapacityLimit();
  #condition: NodeCondition | undefined;
  /** A problem was reported and its end was not. */
  #isUnresolved = false;

  constructor(deps: ConditionReportDeps) {
    this.#deps = deps;
  }

  /** Undefined while nothing keeps the node from being satisfied. */
  get condition(): NodeCondition | undefined {
    return this.#condition;
  }

  step(
    facts: Pick<BlockingFacts, 'assessment' | 'plan' | 'trouble' | 'refusedWrite' | 'staticIp' | 'claimed'>,
    now: number,
  ): Requeue {
    const { context, permission, state } = this.#deps;
    const { cloud } = context;
    const { node, instanceId, view } = state;
    const { words } = cloud.implementation.section;
    const { assessment } = facts;
    const { condition: cap, ...requeue } = this.#cap.step(assessment, words, now);
    const isUnread = assessment.kind === 'unread';
    const { ledger } = cloud.supply;
    const { obstacle } = facts.plan ?? {};
    const exhausted = obstacle?.kind === 'subnetsExhausted' ? obstacle.subnetIds : [];
    const awaited = exhausted.map((id) => ledger.countAwaitedUntil(id, now));
    const found = blockingCondition({
      ...facts,
      node,
      instanceId,
      view,
      unread: isUnread ? (cloud.instances.unreadBecause(instanceId) ?? this.#condition) : undefined,
      pause: permission.refusal('allocate'),
      cap,
      words,
      refusedSubnets: {
        isGone: (subnetId) => ledger.isGone(subnetId, now),
        countedIn: (subnetId) => ledger.countedThoughFull(subnetId, now),
        awaitsCount: (subnetId) => ledger.countAwaitedUntil(subnetId, now) > now,
      },
    });
    const mayLast = this.#isTried(assessment) || awaited.some((until) => until > now);
    if (found !== undefined || !mayLast) this.#announce(found && presentable(found));
    return leastOf([requeue, requeueAt(awaited, now)]);
  }

  /** What is told may last: the node still lacks something, and a call under way shows whether it gets some. */
  #isTried(assessment: Assessment): boolean {
    const isTold = this.#condition !== undefined && lastingReasons.has(this.#condition.reason);
    if (!isTold || assessment.kind !== 'served') return false;
    return assessment.toAllocate > 0 || assessment.ipv6 === 'missing';
  }

  #announce(condition: NodeCondition | undefined): void {
    if (condition?.message === this.#condition?.message) return;
    this.#condition = condition;
    if (condition !== undefined) this.#isUnresolved = true;
    this.#deps.context.emit({ kind: 'condition', node: this.#deps.state.node, condition });
  }

  /** The agent is shown all that it may be. Returns whether that may end the condition, so that a step must follow. */
  published(assessment: Assessment): boolean {
    // The API server accepted a write that it rejected before.
    if (this.#condition !== undefined) return this.#isUnresolved && this.#condition.reason === 'WriteRefused';
    const isServed = assessment.kind === 'served' && !isInDeficit(assessment);
    if (!this.#isUnresolved || !isServed) return false;
    this.#isUnresolved = false;
    this.#deps.context.emit({ kind: 'resolved', node: this.#deps.state.node });
    return false;
  }
}
