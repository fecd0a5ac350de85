// Ends the release of retired holdings without a cloud call: pods must not have them, their agent gave them up,
// and they are hidden. After a live read of the CiliumNode they count as gone and are no longer offered. The
// cloud keeps them, because a call could take addresses from their owner, such as another service that manages
// the interface.
import { Backoff } from '../../runtime/backoff.ts';
import type { TaskGroup } from '../../runtime/task-group.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { ReleasePhase } from './release-state.ts';
import type { Holding } from '../demand/holdings.ts';

export interface RetirementsDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Reads the CiliumNode live; false when that fails. */
  readonly readNode: (signal: AbortSignal) => Promise<boolean>;
  /** Decides again from the facts known now; false while too little is known. */
  readonly evaluate: () => boolean;
  /** What may be retired now. */
  readonly due: () => readonly Holding[];
  /** Moves these holdings to another phase. */
  readonly enter: (holdings: readonly Holding[], phaseAt: (now: number) => ReleasePhase) => void;
  readonly tasks: TaskGroup;
  readonly onRetired: (holdings: readonly Holding[]) => void;
}

const backoffPolicy = { base: 1000, cap: 60_000 };
/** One read serves everything due on the node. */
const subject = 'retire';

export class Retirements {
  readonly #deps: RetirementsDeps;
  readonly #backoff: Backoff;

  constructor(deps: RetirementsDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(backoffPolicy, deps);
  }

  /** Nothing is retired earlier, after failed reads; in monotonic ms. */
  get pausedUntil(): number {
    return this.#backoff.until;
  }

  /** Retires what is due after a live read of the CiliumNode; at most one read is in flight. */
  begin(): void {
    const { tasks } = this.#deps;
    const backOff = (): number => this.#backoff.fail();
    if (!tasks.isAbout(subject)) tasks.begin(() => this.#run(), subject, backOff);
  }

  async #run(): Promise<void> {
    const { readNode, evaluate, due, enter, onRetired } = this.#deps;
    if (!(await readNode(this.#deps.tasks.closing))) {
      this.#backoff.fail();
      return;
    }
    this.#backoff.forget();
    const holdings = evaluate() ? due() : [];
    if (holdings.length === 0) return;
    enter(holdings, (now) => ({ kind: 'released', since: now }));
    onRetired(holdings);
  }
}
