// Measures a node's deficit, from noticing it until the agent is shown what it lacked: the time and the cloud calls.
import { type Assessment, isInDeficit } from '../conditions/assessment.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeState } from './node-state.ts';

export class Deficit {
  readonly #context: Pick<NodeContext, 'runtime' | 'emit'>;
  readonly #state: Pick<NodeState, 'calls'>;
  /** `calls`: those made before it. */
  #start: { readonly at: number; readonly calls: number } | undefined;

  constructor(context: Pick<NodeContext, 'runtime' | 'emit'>, state: Pick<NodeState, 'calls'>) {
    this.#context = context;
    this.#state = state;
  }

  /** When it was noticed, in monotonic ms; undefined without one. */
  get since(): number | undefined {
    return this.#start?.at;
  }

  notice(assessment: Assessment, pendingPods: number): void {
    // An unread node may lack anything; a node that cannot be served lacks what its pods wait for.
    const isMissing =
      assessment.kind === 'served'
        ? isInDeficit(assessment)
        : assessment.kind === 'unread' || (assessment.kind === 'blocked' && pendingPods > 0);
    if (isMissing) this.#start ??= { at: this.#context.runtime.clock.monotonic(), calls: this.#state.calls };
    // The node was not served and no pods wait any longer, so no deficit was resolved.
    else if (assessment.kind !== 'served') this.#start = undefined;
  }

  /** The agent is shown everything that the node has. */
  published(assessment: Assessment): void {
    const isSupplied = assessment.kind === 'served' && !isInDeficit(assessment);
    if (this.#start === undefined || !isSupplied) return;
    const { runtime, emit } = this.#context;
    const { at, calls: before } = this.#start;
    const duration = runtime.clock.monotonic() - at;
    emit({ kind: 'satisfied', duration, calls: this.#state.calls - before });
    this.#start = undefined;
  }
}
