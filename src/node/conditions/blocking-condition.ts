// Chooses why a node is blocked: the first reason that applies. Pure.
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import type { PauseReason } from '../../providers/gate/mutation-permission.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { AllocationPlan } from '../allocate/allocation-plan.ts';
import { awaitedOn, overdueAmong } from '../demand/awaited.ts';
import { unusableIpv6On } from '../demand/ipv6.ts';
import { type Assessment, isInDeficit } from './assessment.ts';
import { ipv6Condition, unshowableIpv6 } from './ipv6-condition.ts';
import { unseenInterfaces, unusableIpv6 } from './interface-condition.ts';
import { failureCondition } from './call-condition.ts';
import { planCondition, type RefusedSubnets } from './plan-condition.ts';
import { type NodeCondition, stoppedInstance } from './node-condition.ts';
import { mutationsPaused, refusedWrite } from './pause-condition.ts';

/** Reports of the parts of a node: what they decided, and what they met. */
export interface PartReports {
  readonly assessment: Assessment;
  /** Undefined while the node is not served. */
  readonly plan: AllocationPlan | undefined;
  /** The failure of the last calls of the node, if it is worth a report. */
  readonly trouble: CloudFailure | undefined;
  /** Why the node lacks the public address for which its agent may wait. */
  readonly staticIp: NodeCondition | undefined;
  /** The write that the API server refuses to accept. */
  readonly refusedWrite: string | undefined;
  /** Why some of its addresses are contested. */
  readonly contested: NodeCondition | undefined;
}

export interface BlockingFacts {
  readonly node: CiliumNode;
  readonly instanceId: string;
  readonly view: InstanceView | undefined;
  /** Why an unread instance is not read. */
  readonly unread: NodeCondition | undefined;
  /** Why nothing may be allocated. */
  readonly pause: PauseReason | undefined;
  /** The capacity limit that pods have met for a while. */
  readonly cap: NodeCondition | undefined;
  readonly words: CloudWords;
  readonly refusedSubnets: RefusedSubnets;
}

/** Undefined if nothing keeps the node from being satisfied. */
export function blockingCondition(reports: PartReports, facts: BlockingFacts): NodeCondition | undefined {
  const { assessment, plan, contested, staticIp } = reports;
  if (assessment.kind === 'unread') return facts.unread;
  if (assessment.kind !== 'served') return assessment.condition;
  const stuck = plan === undefined ? undefined : planCondition(plan, facts.words, facts.refusedSubnets);
  const trouble = stuck ?? troubleCondition(assessment, reports, facts);
  if (trouble !== undefined) return trouble;
  if (reports.refusedWrite !== undefined) return refusedWrite(reports.refusedWrite);
  return ipv6ConditionIn(assessment, plan, facts) ?? facts.cap ?? staticIp ?? contested;
}

function ipv6ConditionIn(
  { requirements, ipv6 }: Assessment & { kind: 'served' },
  plan: AllocationPlan | undefined,
  { words, view }: BlockingFacts,
): NodeCondition | undefined {
  if (ipv6 === 'unshowable') return unshowableIpv6();
  if (ipv6 === 'unusable') return view && unusableIpv6On(view, requirements).map(unusableIpv6)[0];
  return plan?.ipv6 && ipv6Condition(plan.ipv6, requirements.instanceType, words);
}

function troubleCondition(
  assessment: Assessment & { kind: 'served' },
  { trouble, plan }: PartReports,
  facts: BlockingFacts,
): NodeCondition | undefined {
  const { pause } = facts;
  const failure = assessment.toAllocate > 0 ? trouble : undefined;
  if (failure?.kind === 'instanceNotRunning') return stopped(facts);
  if (failure !== undefined) return failureCondition(failure);
  const hasSteps = plan !== undefined && plan.steps.length > 0;
  // A dry run reports what it would do instead.
  if (pause === undefined || pause === 'dryRun' || !hasSteps) return unseenCondition(assessment, facts);
  return mutationsPaused(pause);
}

function stopped({ instanceId, view }: BlockingFacts): NodeCondition {
  return stoppedInstance(instanceId, view?.instance?.state);
}

/** Only the missing interface could supply what the node lacks. */
function unseenCondition(
  assessment: Assessment & { kind: 'served' },
  { view, node, instanceId }: BlockingFacts,
): NodeCondition | undefined {
  if (view === undefined || view.awaited.size === 0 || !isInDeficit(assessment)) return undefined;
  const overdue = overdueAmong(awaitedOn(view, node));
  return overdue.length === 0 ? undefined : unseenInterfaces(overdue, instanceId);
}
