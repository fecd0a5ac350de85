// The state of a node for metrics and reports: what its reconciler knows, or why it has none.
import type { InstanceView } from '../../providers/contract/facts.ts';
import type { PlannedStep } from '../allocate/planned-step.ts';
import { type Assessment, isInDeficit } from '../conditions/assessment.ts';
import { occupiedSlots, roomOn } from '../demand/capacity.ts';
import type { AgentProtocol } from '../demand/demand.ts';
import type { NodeCondition } from '../conditions/node-condition.ts';
import { exclusionOf } from '../demand/node-requirements.ts';

export interface NodeFigures {
  /** Whether a Node verifies the instance. */
  readonly isVerified: boolean;
  readonly protocol: AgentProtocol;
  readonly assessment: Assessment;
  readonly pendingPods: number;
  readonly condition: NodeCondition | undefined;
  /** Warnings about a node that is served. */
  readonly warnings: readonly NodeCondition[];
  readonly view: InstanceView | undefined;
  /** Addresses that are leaving: hidden from the agent, not released yet. */
  readonly releasing: number;
  /** Addresses that are to be released, those included. Default: none. */
  readonly toRelease?: number;
  /** Interfaces that are leaving: without pods for long enough. Default: none. */
  readonly leavingInterfaces?: number;
  /** Steps that the last decision would take. Default: none. */
  readonly planned?: readonly PlannedStep[];
  /** Whether its CiliumNode holds all desired content, unless writes were rejected. */
  readonly isPublished: boolean;
  /** When the deficit started, or pods started to wait on a node that is not served, in monotonic ms. */
  readonly inDeficitSince: number | undefined;
}

export type NodeSummary =
  | { readonly kind: 'reconciled'; readonly name: string; readonly figures: NodeFigures }
  | {
      readonly kind: 'blocked';
      readonly name: string;
      readonly condition: NodeCondition;
      readonly pendingPods: number;
      /** In monotonic ms. */
      readonly blockedSince: number | undefined;
    };

/** Why the node cannot be satisfied, whether its CiliumNode is served or not. */
export function conditionOf(entry: NodeSummary): NodeCondition | undefined {
  return entry.kind === 'reconciled' ? entry.figures.condition : entry.condition;
}

/** Whether the node lacks addresses, or its IPv6 prefix. */
export function inDeficit({ assessment }: NodeFigures): boolean {
  return assessment.kind === 'served' && isInDeficit(assessment);
}

export interface InterfaceRoom {
  /** Interfaces with room for pod addresses. */
  readonly candidates: number;
  readonly full: number;
  /** Interfaces that carry no pods. */
  readonly excluded: number;
  readonly emptySlots: number;
}

/** Counts the instance's interfaces by their room for pods; all zero if the node is not served. */
export function interfaceRoom(figures: NodeFigures): InterfaceRoom {
  const { assessment, view } = figures;
  if (assessment.kind !== 'served' || view === undefined)
    return { candidates: 0, full: 0, excluded: 0, emptySlots: 0 };
  const { limits, requirements } = assessment;
  const usable = view.interfaces.filter((item) => exclusionOf(item, requirements) === undefined);
  const candidates = usable.filter((item) => roomOn(item, limits) > 0).length;
  return {
    candidates,
    full: usable.length - candidates,
    excluded: view.interfaces.length - usable.length,
    emptySlots: Math.max(0, limits.interfaces - occupiedSlots(view)),
  };
}
