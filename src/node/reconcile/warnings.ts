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
import type { BindingCap } from '../demand/statistics.ts';
import { exclusionsOf, type NodeRequirements } from '../demand/node-requirements.ts';
import type { NodeHooks } from './node-context.ts';
import { retiredUses } from '../release/retired-holdings.ts';

export interface WarningFacts {
  readonly view: InstanceView | undefined;
  readonly assessment: Assessment;
  /** Why the node lacks the static address it asks for. */
  readonly staticIp: NodeCondition | undefined;
}

export class Warnings {
  readonly #hooks: Pick<NodeHooks, 'onWarning' | 'onExclusions'>;
  #list: readonly NodeCondition[] = [];
  #exclusions = '[]';

  constructor(hooks: Pick<NodeHooks, 'onWarning' | 'onExclusions'>) {
    this.#hooks = hooks;
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
    const others = [startWarning(node, view, assessment), staticIp].filter((each) => each !== undefined);
    const found = [...unreadable, ...excluded, ...others];
    this.#list = found.map(presentable);
    for (const warning of this.#list)
      if (!reported.has(warning.message)) this.#hooks.onWarning(node, warning);
    if (view !== undefined && requirements !== undefined) this.#reportExclusions(node, view, requirements);
  }

  #reportExclusions(node: CiliumNode, view: InstanceView, requirements: NodeRequirements): void {
    const exclusions = exclusionsOf(view, requirements);
    const text = JSON.stringify(exclusions);
    if (text === this.#exclusions) return;
    this.#exclusions = text;
    this.#hooks.onExclusions(node.name, exclusions);
  }
}

/** Also while the agent runs: it could not start again. */
function startWarning(
  node: CiliumNode,
  view: InstanceView | undefined,
  assessment: Assessment,
): NodeCondition | undefined {
  const threshold = startThresholdOf(node);
  if (view === undefined || assessment.kind !== 'served' || threshold === undefined) return undefined;
  const { limits, requirements } = assessment;
  const caps: readonly (readonly [BindingCap, number])[] = [
    ['maxAllocate', node.ipam.maxAllocate],
    ['instance', mostAllocatable(limits, view, requirements)],
  ];
  // 0 is no limit.
  const [lowest] = caps.filter(([, most]) => most > 0).toSorted(([, a], [, b]) => a - b);
  if (lowest === undefined || threshold.addresses <= lowest[1]) return undefined;
  return unreachableStart(threshold, ...lowest, requirements.instanceType);
}
