// Measures a node's deficit, from noticing it until the agent is shown what it lacked: the time and the cloud calls.
import type { Clock } from '../../runtime/clock.ts';
import { type Assessment, isInDeficit } from '../conditions/assessment.ts';
import type { NodeEvent } from './node-event.ts';
import type { NodeState } from './node-state.ts';

export interface DeficitDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** `calls`: those made for the node so far. */
  readonly state: Pick<NodeState, 'calls'>;
  /** Tells that a deficit ended. */
  readonly emit: (event: NodeEvent) => void;
}

export class Deficit {
  readonly #deps: DeficitDeps;
  /** `calls`: those made before it. */
  #start: { readonly at: number; readonly calls: number } | undefined;

  constructor(deps: DeficitDeps) {
    this.#deps = deps;
  }

  /** When it was noticed, in monotonic ms; undefined without one. */
  get since(): number | undefined {
    return this.#start?.at;
  }

  notice(assessment: Assessment, pendingPods: number): void {
    if (countsAsDeficit(assessment, pendingPods))
      this.#start ??= { at: this.#deps.clock.monotonic(), calls: this.#deps.state.calls };
    // The node was not served and no pods wait any longer, so no deficit was resolved.
    else if (assessment.kind !== 'served') this.#start = undefined;
  }

  /** The agent is shown everything that the node has. */
  published(assessment: Assessment): void {
    const isSupplied = assessment.kind === 'served' && !isInDeficit(assessment);
    if (this.#start === undefined || !isSupplied) return;
    const { clock, state, emit } = this.#deps;
    const { at, calls: before } = this.#start;
    emit({ kind: 'satisfied', duration: clock.monotonic() - at, calls: state.calls - before });
    this.#start = undefined;
  }
}

/** An unread node may lack anything; a node that cannot be served lacks what its pods wait for. */
function countsAsDeficit(assessment: Assessment, pendingPods: number): boolean {
  if (assessment.kind === 'served') return isInDeficit(assessment);
  return assessment.kind === 'unread' || (assessment.kind === 'blocked' && pendingPods > 0);
}
