// Logs what a dry run would do for one node, once while it stays the same.
import type { Activity } from '../../providers/gate/mutation-permission.ts';
import { LazyMap } from '../../runtime/lazy-collections.ts';
import type { PlannedStep } from '../allocate/planned-step.ts';
import type { StaticAddressStep } from '../housekeeping/static-address.ts';
import type { NodeContext } from './node-context.ts';
import type { DryRunDecision } from './node-event.ts';
import type { NodeState } from './node-state.ts';

const activityOf: Readonly<Record<DryRunDecision['kind'], Activity>> = {
  step: 'allocate',
  deleteOnTermination: 'allocate',
  staticAddress: 'allocate',
  write: 'publish',
};

export class DryRunLog {
  readonly #context: Pick<NodeContext, 'emit'>;
  readonly #state: Pick<NodeState, 'node' | 'refusal'>;
  /** The decisions last logged, by kind. */
  readonly #logged = new LazyMap<DryRunDecision['kind'], ReadonlySet<string>>();

  constructor(context: Pick<NodeContext, 'emit'>, state: Pick<NodeState, 'node' | 'refusal'>) {
    this.#context = context;
    this.#state = state;
  }

  /**
   * Records the changes that would be made in the cloud: the steps of a plan, a static address, and interfaces that must go
   * with their instance.
   */
  showPlanned(
    steps: readonly PlannedStep[],
    address: StaticAddressStep['missing'],
    terminating: readonly string[],
  ): void {
    this.show(
      'step',
      steps.map((step) => ({ kind: 'step', step })),
    );
    this.show('staticAddress', address ? [{ kind: 'staticAddress', ...address }] : []);
    this.show(
      'deleteOnTermination',
      terminating.map((interfaceId) => ({ kind: 'deleteOnTermination', interfaceId })),
    );
  }

  /** Takes all current decisions of a kind and logs those that are new. */
  show<Kind extends DryRunDecision['kind']>(
    kind: Kind,
    decisions: readonly Extract<DryRunDecision, { readonly kind: Kind }>[],
  ): void {
    const { emit } = this.#context;
    if (this.#state.refusal(activityOf[kind]) !== 'dryRun') {
      this.#logged.delete(kind);
      return;
    }
    const logged = this.#logged.get(kind);
    const now = new Map(decisions.map((decision) => [JSON.stringify(decision), decision]));
    this.#logged.set(kind, new Set(now.keys()));
    for (const [text, decision] of now)
      if (logged?.has(text) !== true) emit({ kind: 'dryRun', node: this.#state.node, decision });
  }
}
