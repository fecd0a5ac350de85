// Logs what a dry run would do for one node, once while it stays the same.
import type { Activity, MutationPermission } from '../../providers/gate/mutation-permission.ts';
import { LazyMap } from '../../runtime/lazy-collections.ts';
import type { PlannedStep } from '../allocate/planned-step.ts';
import type { Write } from '../publish/next-write.ts';

export type DryRunDecision =
  | { readonly kind: 'step'; readonly step: PlannedStep }
  | { readonly kind: 'deleteOnTermination'; readonly interfaceId: string }
  | { readonly kind: 'write'; readonly write: Write };

const activityOf: Readonly<Record<DryRunDecision['kind'], Activity>> = {
  step: 'give',
  deleteOnTermination: 'give',
  write: 'publish',
};

export class DryRunLog {
  readonly #permission: Pick<MutationPermission, 'refusal'>;
  readonly #tell: (decision: DryRunDecision) => void;
  /** The decisions last logged, by kind. */
  readonly #told = new LazyMap<DryRunDecision['kind'], ReadonlySet<string>>();

  constructor(permission: Pick<MutationPermission, 'refusal'>, tell: (decision: DryRunDecision) => void) {
    this.#permission = permission;
    this.#tell = tell;
  }

  /** Takes all current decisions of a kind and logs those that are new. */
  show<Kind extends DryRunDecision['kind']>(
    kind: Kind,
    decisions: readonly Extract<DryRunDecision, { readonly kind: Kind }>[],
  ): void {
    if (this.#permission.refusal(activityOf[kind]) !== 'dryRun') {
      this.#told.delete(kind);
      return;
    }
    const told = this.#told.get(kind);
    const now = new Map(decisions.map((decision) => [JSON.stringify(decision), decision]));
    this.#told.set(kind, new Set(now.keys()));
    for (const [text, decision] of now) if (told?.has(text) !== true) this.#tell(decision);
  }
}
