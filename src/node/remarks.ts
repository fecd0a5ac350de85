// What is to be said about a node that is served all the same: told once, for as long as it stays so.
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import { type Diagnosis, unreadableInterface } from './diagnosis.ts';
import { exclusionsOf } from './exclusions.ts';
import type { NodeHooks } from './node-context.ts';
import type { NodeRequirements } from './node-requirements.ts';

export interface RemarkableFacts {
  readonly view: InstanceView | undefined;
  /** Undefined as long as it is not known what the node asks of its interfaces. */
  readonly requirements: NodeRequirements | undefined;
  /** Why it lacks the static address that it asks for. */
  readonly staticIp: Diagnosis | undefined;
}

export class Remarks {
  readonly #hooks: Pick<NodeHooks, 'onRemark' | 'onExclusions'>;
  #list: readonly Diagnosis[] = [];
  #exclusions = '[]';

  constructor(hooks: Pick<NodeHooks, 'onRemark' | 'onExclusions'>) {
    this.#hooks = hooks;
  }

  get list(): readonly Diagnosis[] {
    return this.#list;
  }

  tell(node: CiliumNode, { view, requirements, staticIp }: RemarkableFacts): void {
    const unreadable = (view?.unreadable ?? []).map(unreadableInterface);
    const told = new Set(this.#list.map(({ text }) => text));
    this.#list = staticIp === undefined ? unreadable : [...unreadable, staticIp];
    for (const remark of this.#list) if (!told.has(remark.text)) this.#hooks.onRemark(node, remark);
    if (view !== undefined && requirements !== undefined) this.#tellExclusions(node, view, requirements);
  }

  #tellExclusions(node: CiliumNode, view: InstanceView, requirements: NodeRequirements): void {
    const exclusions = exclusionsOf(view, requirements);
    const text = JSON.stringify(exclusions);
    if (text === this.#exclusions) return;
    this.#exclusions = text;
    this.#hooks.onExclusions(node.name, exclusions);
  }
}
