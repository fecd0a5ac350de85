// Logs what one dry run would do for one node, once while it stays the same.
import type { PlannedStep } from '../allocate/planned-step.ts';
import type { StaticAddressStep } from '../housekeeping/static-address.ts';
import type { NodeContext } from './node-context.ts';
import type { DryRunDecision } from './node-event.ts';
import type { NodeState } from './node-state.ts';

export class DryRunLog {
  readonly #context: Pick<NodeContext, 'emit'>;
  readonly #state: Pick<NodeState, 'node'>;
  /** The decisions last logged, by kind. */
  readonly #logged = new Map<DryRunDecision['kind'], ReadonlySet<string>>();

  constructor(context: Pick<NodeContext, 'emit'>, state: Pick<NodeState, 'node'>) {
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
    const logged = this.#logged.get(kind);
    const now = new Map(decisions.map((decision) => [JSON.stringify(decision), decision]));
    this.#logged.set(kind, new Set(now.keys()));
    for (const [text, decision] of now)
      if (logged?.has(text) !== true) emit({ kind: 'dryRun', node: this.#state.node, decision });
  }
}
