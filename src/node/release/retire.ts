// Ends the release of retired holdings without a cloud call: pods must not have them, their agent gave them up,
// and they are hidden. After a live read of the CiliumNode they count as gone and are no longer offered. The
// cloud keeps them, because a call could take addresses from their owner, such as another service that manages
// the interface.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { ReleasePhase } from './release-state.ts';
import { ReleaseTasks } from './release-tasks.ts';
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
  readonly wake: () => void;
  readonly onRetired: (holdings: readonly Holding[]) => void;
  readonly onBug: (error: unknown) => void;
}

const backoffPolicy = { base: 1000, cap: 60_000 };
/** One read serves everything due on the node. */
const theNode = 'node';

export class Retirements {
  readonly #deps: RetirementsDeps;
  readonly #work: ReleaseTasks;

  constructor(deps: RetirementsDeps) {
    this.#deps = deps;
    this.#work = new ReleaseTasks(backoffPolicy, deps);
  }

  /** Nothing is retired earlier, after failed reads; in monotonic ms. */
  get pausedUntil(): number {
    return this.#work.backoff.until;
  }

  /** Retires what is due after a live read of the CiliumNode; at most one read is in flight. */
  begin(): void {
    this.#work.beginOnce(theNode, () => this.#run());
  }

  /** Starts no more reads; resolves once the one in flight has ended, at `deadline` at the latest. */
  stop(deadline: AbortSignal): Promise<void> {
    return this.#work.stop(deadline);
  }

  async #run(): Promise<void> {
    const { readNode, evaluate, due, enter, onRetired } = this.#deps;
    if (!(await readNode(this.#work.closing))) {
      this.#work.backoff.fail();
      return;
    }
    this.#work.backoff.forget();
    const holdings = evaluate() ? due() : [];
    if (holdings.length === 0) return;
    enter(holdings, (now) => ({ kind: 'released', since: now }));
    onRetired(holdings);
  }
}
