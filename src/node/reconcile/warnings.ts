// Warnings about a node that is served, reported once while they last.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { InstanceView } from '../../providers/contract/instance-view.ts';
import {
  type NodeCondition,
  excludedInUse,
  presentable,
  unreadableInterface,
} from '../conditions/node-condition.ts';
import { exclusionsOf, type NodeRequirements } from '../demand/node-requirements.ts';
import type { NodeHooks } from './node-context.ts';
import { retiredUses } from '../release/retired-holdings.ts';

export interface WarningFacts {
  readonly view: InstanceView | undefined;
  /** Undefined while the node's interface requirements are unknown. */
  readonly requirements: NodeRequirements | undefined;
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

  update(node: CiliumNode, { view, requirements, staticIp }: WarningFacts): void {
    const unreadable = (view?.unreadable ?? []).map(unreadableInterface);
    const isKnown = view !== undefined && requirements !== undefined;
    const excluded = isKnown ? retiredUses(node, view, requirements).map(excludedInUse) : [];
    const reported = new Set(this.#list.map(({ message }) => message));
    const found = [...unreadable, ...excluded, ...(staticIp === undefined ? [] : [staticIp])];
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
