// Gathers the chain from the need of one node to its remedy, when somebody asks.
import type { InstanceLimits } from '../../providers/contract/facts.ts';
import type { Backoff } from '../../runtime/backoff.ts';
import { type NextTry, nextTry } from '../conditions/next-try.ts';
import { type SubnetSelection, subnetSelection } from '../conditions/subnet-verdicts.ts';
import { delegatesPrefixes, maximumAllocatable, occupiedSlots } from '../demand/capacity.ts';
import type { Watermarks } from '../demand/statistics.ts';
import type { ConditionReport } from './condition-report.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeState } from './node-state.ts';
import type { RecentCall } from './recent-calls.ts';

export interface NodeExplanation {
  /** Undefined while the node is not served, like the two below. */
  readonly marks: Watermarks | undefined;
  readonly capacity: NodeCapacity | undefined;
  readonly selection: SubnetSelection | undefined;
  /** The last calls, oldest first. */
  readonly calls: readonly RecentCall[];
  readonly next: NextTry;
}

/** Capacity of the instance. */
export interface NodeCapacity extends Pick<InstanceLimits, 'interfaces' | 'addressesPerInterface'> {
  readonly instanceType: string;
  /** Places of interfaces that are taken. */
  readonly attached: number;
  /** Pod addresses at most. */
  readonly addresses: number;
  readonly prefixes: boolean;
}

interface Deciding {
  readonly backoff: Backoff;
  readonly report: ConditionReport;
}

export function explainNode(context: NodeContext, state: NodeState, deciding: Deciding): NodeExplanation {
  const assessment = state.assess();
  return {
    // The capacity of the instance bounds the marks, too, and is told apart.
    marks:
      assessment.kind === 'served'
        ? { ...assessment.marks, maxAllocate: state.node.ipam.maxAllocate }
        : undefined,
    capacity: capacityOf(state),
    selection: selectionOf(context, state),
    calls: state.recentCalls.list,
    next: nextOf(context, state, deciding),
  };
}

function capacityOf(state: NodeState): NodeCapacity | undefined {
  const facts = state.forAllocation();
  if (facts === undefined) return undefined;
  const { limits, requirements, view } = facts;
  return {
    instanceType: requirements.instanceType,
    interfaces: limits.interfaces,
    attached: occupiedSlots(view),
    addressesPerInterface: limits.addressesPerInterface,
    addresses: maximumAllocatable(limits, requirements),
    prefixes: delegatesPrefixes(limits, requirements),
  };
}

function selectionOf(context: NodeContext, state: NodeState): SubnetSelection | undefined {
  const facts = state.forAllocation();
  const { ledger, blocked } = context.cloud.supply;
  const now = context.runtime.clock.monotonic();
  return (
    facts &&
    subnetSelection({
      ...facts,
      refusalOf: (scope) => blocked.refusalOf(scope, state.instanceId),
      refused: { ledger, now },
    })
  );
}

function nextOf(context: NodeContext, state: NodeState, { backoff, report }: Deciding): NextTry {
  const { ledger, blocked } = context.cloud.supply;
  const { plan, condition } = report;
  const now = context.runtime.clock.monotonic();
  const ends = ledger.blocked(now);
  const exhausted = plan?.obstacle?.kind === 'subnetsExhausted' ? plan.obstacle.subnetIds : [];
  const subnetsBack = exhausted.flatMap((id) => ends.get(id) ?? []);
  const refusals = [...(plan?.refusals ?? []), ...(plan?.ipv6?.refusals ?? [])];
  return nextTry({
    assessment: state.assess(),
    plan,
    condition,
    pause: context.permission.refusal('allocate', state.node.name),
    steps: { inFlight: state.growth.steps.size, waiting: state.growth.waiting },
    pausedUntil: backoff.until,
    refusedUntil: blocked.dueAt(
      refusals.map(({ scope }) => scope),
      state.instanceId,
    ),
    subnetsBackAt: subnetsBack.length === 0 ? undefined : Math.min(...subnetsBack),
    now,
  });
}
