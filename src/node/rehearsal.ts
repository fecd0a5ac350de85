// What a dry run would do for one node, told once for as long as it stays the same.
import type { Activity, MutationPermission } from '../providers/mutation-permission.ts';
import { SeldomMap } from '../memory/seldom-filled.ts';
import type { PlannedStep } from './planned-step.ts';
import type { Write } from './publication.ts';

export type Rehearsed =
  | { readonly kind: 'step'; readonly step: PlannedStep }
  | { readonly kind: 'deleteOnTermination'; readonly interfaceId: string }
  | { readonly kind: 'write'; readonly write: Write };

const activityOf: Readonly<Record<Rehearsed['kind'], Activity>> = {
  step: 'give',
  deleteOnTermination: 'give',
  write: 'publish',
};

export class Rehearsal {
  readonly #permission: Pick<MutationPermission, 'refusal'>;
  readonly #tell: (decision: Rehearsed) => void;
  /** What was told last, by kind. */
  readonly #told = new SeldomMap<Rehearsed['kind'], ReadonlySet<string>>();

  constructor(permission: Pick<MutationPermission, 'refusal'>, tell: (decision: Rehearsed) => void) {
    this.#permission = permission;
    this.#tell = tell;
  }

  /** Takes all of one kind that would be done now, and tells what of it was not among them before. */
  show<Kind extends Rehearsed['kind']>(
    kind: Kind,
    decisions: readonly Extract<Rehearsed, { readonly kind: Kind }>[],
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
