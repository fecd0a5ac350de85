// Warnings about a node that is served, reported once while they last.
import type { Assessment } from '../conditions/assessment.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { InstanceView } from '../../providers/contract/instance-view.ts';
import {
  type NodeCondition,
  excludedInUse,
  presentable,
  unreachableStart,
  unreadableInterface,
} from '../conditions/node-condition.ts';
import { mostAllocatable } from '../demand/capacity.ts';
import { startThresholdOf } from '../demand/demand.ts';
import { exclusionsOf, type NodeRequirements } from '../demand/node-requirements.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NodeHooks } from './node-context.ts';
import { retiredUses } from '../release/retired-holdings.ts';

export interface WarningFacts {
  readonly view: InstanceView | undefined;
  readonly assessment: Assessment;
  /** Why the node lacks the static address it asks for. */
  readonly staticIp: NodeCondition | undefined;
}

/** An agent that requests a count, and starts with any address, has said so by then, in ms (docs/ciliumnode-contract.md 1.6). */
const requestDelay = 60_000;

export interface WarningsDeps {
  readonly hooks: Pick<NodeHooks, 'onWarning' | 'onExclusions'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Requests another update after this many ms. */
  readonly updateIn: (ms: number) => void;
}

export class Warnings {
  readonly #deps: WarningsDeps;
  #list: readonly NodeCondition[] = [];
  #exclusions = '[]';
  /** Since when its agent could not start, in monotonic ms. */
  #unstartableSince: number | undefined;

  constructor(deps: WarningsDeps) {
    this.#deps = deps;
  }

  get list(): readonly NodeCondition[] {
    return this.#list;
  }

  update(node: CiliumNode, { view, assessment, staticIp }: WarningFacts): void {
    const requirements = 'requirements' in assessment ? assessment.requirements : undefined;
    const unreadable = (view?.unreadable ?? []).map(unreadableInterface);
    const isKnown = view !== undefined && requirements !== undefined;
    const excluded = isKnown ? retiredUses(node, view, requirements).map(excludedInUse) : [];
    const reported = new Set(this.#list.map(({ message }) => message));
    const others = [this.#startWarning(node, view, assessment), staticIp].filter(
      (each) => each !== undefined,
    );
    const found = [...unreadable, ...excluded, ...others];
    this.#list = found.map(presentable);
    for (const warning of this.#list)
      if (!reported.has(warning.message)) this.#deps.hooks.onWarning(node, warning);
    if (view !== undefined && requirements !== undefined) this.#reportExclusions(node, view, requirements);
  }

  #startWarning(
    node: CiliumNode,
    view: InstanceView | undefined,
    assessment: Assessment,
  ): NodeCondition | undefined {
    const found = view && startWarning(node, view, assessment);
    const { clock, updateIn } = this.#deps;
    const now = clock.monotonic();
    this.#unstartableSince = found && (this.#unstartableSince ?? now);
    if (this.#unstartableSince === undefined) return undefined;
    const wait = this.#unstartableSince + requestDelay - now;
    if (wait <= 0) return found;
    updateIn(wait);
    return undefined;
  }

  #reportExclusions(node: CiliumNode, view: InstanceView, requirements: NodeRequirements): void {
    const exclusions = exclusionsOf(view, requirements);
    const text = JSON.stringify(exclusions);
    if (text === this.#exclusions) return;
    this.#exclusions = text;
    this.#deps.hooks.onExclusions(node.name, exclusions);
  }
}

/** The agent has all that it may have, and needs more to start, now or after a restart. */
function startWarning(
  node: CiliumNode,
  view: InstanceView,
  assessment: Assessment,
): NodeCondition | undefined {
  const threshold = startThresholdOf(node);
  if (assessment.kind !== 'served' || threshold === undefined) return undefined;
  const { limits, requirements, usage, retiredInUse } = assessment;
  const maxAllocate = node.ipam.maxAllocate || Infinity;
  const most = mostAllocatable(limits, view, requirements);
  const instance = most > 0 ? most + retiredInUse : Infinity;
  const { addresses } = threshold;
  if (usage.available >= addresses || usage.available < Math.min(maxAllocate, instance)) return undefined;
  const caps = { maxAllocate, instance, instanceType: requirements.instanceType };
  return unreachableStart(threshold, caps);
}
