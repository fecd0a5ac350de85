// Assignments whose answer got lost. An assignment has no token: repeated, it may assign twice. Its interface is left
// alone until the lost call can no longer take effect unseen, and what the looks show in the meantime is its result.
import type { InstanceView } from '../providers/instance-view.ts';
import type { Clock } from '../scheduling/clock.ts';
import { SeldomSet } from '../memory/seldom-filled.ts';
import { type CallTiming, openFor } from './call-timing.ts';
import { type PlannedStep, takenBy } from './planned-step.ts';

export type Assignment = PlannedStep & { readonly kind: 'allocateIPs' | 'allocatePrefixes' };

export interface LostAssignmentsDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timing: CallTiming;
  /** Something about the instance became unclear. */
  readonly doubt: (from: number) => void;
  readonly look: () => Promise<void>;
  readonly later: (ms: number, action: () => void) => void;
  /** An assignment is lost no more. */
  readonly onFound: () => void;
}

interface LostAssignment {
  readonly step: Assignment;
  /** What of the kind that was asked for the interface had before. */
  readonly before: ReadonlySet<string>;
}

export class LostAssignments {
  readonly #deps: LostAssignmentsDeps;
  readonly #lost = new SeldomSet<LostAssignment>();
  /** Addresses and prefixes that answers to assignments named, for as long as one that was under way then may be lost. */
  readonly #answered = new SeldomSet<string>();
  #underway = 0;

  constructor(deps: LostAssignmentsDeps) {
    this.#deps = deps;
  }

  /** Those that may still take effect unseen. */
  get steps(): readonly Assignment[] {
    return [...this.#lost].map(({ step }) => step);
  }

  /** An assignment is about to be sent. To be followed by `ended`, after whatever is to be told of it. */
  sent(): void {
    this.#underway++;
  }

  ended(): void {
    this.#underway--;
    this.#forget();
  }

  /** An answer named these addresses or prefixes: no lost assignment brought them. */
  answered(holdings: Iterable<string>): void {
    for (const holding of holdings) this.#answered.add(holding);
  }

  /** The answer to this one got lost. `before`: what `shownOn` said when it was sent. */
  add(step: Assignment, before: ReadonlySet<string>): void {
    const { clock, timing, doubt, look, later, onFound } = this.#deps;
    const lost = { step, before };
    this.#lost.add(lost);
    doubt(clock.monotonic());
    later(openFor(timing), () => {
      // Found by a look that begins now, not by one before.
      void look().then(() => {
        this.#lost.delete(lost);
        this.#forget();
        onFound();
      });
    });
  }

  /** Addresses that they may have brought, or may yet bring, and that are not seen so far. */
  unseen(view: InstanceView): number {
    let sum = 0;
    // What several on one interface brought cannot be told apart: it counts once for all of them.
    const groups = Map.groupBy(this.#lost, ({ step }) => `${step.kind} ${step.interfaceId}`);
    for (const group of groups.values()) {
      const [{ step } = { step: undefined }] = group;
      if (step === undefined) continue;
      const isNew = (holding: string): boolean => group.some(({ before }) => !before.has(holding));
      const brought = shownOn(view, step).filter((each) => isNew(each) && !this.#answered.has(each));
      const asked = group.reduce((count, other) => count + other.step.count, 0);
      sum += takenBy({ ...step, count: Math.max(0, asked - brought.length) });
    }
    return sum;
  }

  /** What is known by now was there before the next assignment is sent, or may be brought by it a second time. */
  #forget(): void {
    if (this.#underway === 0 && this.#lost.size === 0) this.#answered.clear();
  }
}

/** What the interface of an assignment has of the kind that it asks for. */
export function shownOn(view: InstanceView | undefined, step: Assignment): readonly string[] {
  const shown = view?.interfaces.find(({ id }) => id === step.interfaceId);
  return (step.kind === 'allocatePrefixes' ? shown?.prefixes : shown?.addresses) ?? [];
}
