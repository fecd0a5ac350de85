// What is not asked for again for a while, longer each time: what an agent needs, and anything at all once the cloud has
// refused in a way that trying again does not mend.
import { FailureStreak, type FailureStreakDeps } from '../scheduling/failure-streak.ts';
import { SeldomMap } from '../memory/seldom-filled.ts';
import type { Holding } from './address-release.ts';

/** In ms. */
const policy = { base: 180_000, cap: 3_600_000 };

export class Refusals {
  readonly #deps: FailureStreakDeps;
  readonly #byAgent = new SeldomMap<string, FailureStreak>();
  readonly #byCloud: FailureStreak;

  constructor(deps: FailureStreakDeps) {
    this.#deps = deps;
    this.#byCloud = new FailureStreak(policy, deps);
  }

  /** The agent needs these. */
  agentKeeps(holdings: readonly Holding[]): void {
    const now = this.#deps.clock.monotonic();
    for (const [id, { until }] of this.#byAgent) if (until + policy.cap < now) this.#byAgent.delete(id);
    for (const { id } of holdings) {
      const streak = this.#byAgent.get(id) ?? new FailureStreak(policy, this.#deps);
      this.#byAgent.set(id, streak);
      streak.fail();
    }
  }

  /** The cloud won't have anything back for now. */
  cloudRefused(): void {
    this.#byCloud.fail();
  }

  /** The cloud took something back. */
  cloudAccepted(): void {
    this.#byCloud.forget();
  }

  get isOfCloud(): boolean {
    return this.#byCloud.isPausing;
  }

  /** Ids of the holdings that the agent is not to be asked for now. */
  get aside(): ReadonlySet<string> {
    return new Set([...this.#byAgent].filter(([, { isPausing }]) => isPausing).map(([id]) => id));
  }

  /** When they end, in monotonic ms; some may be over. */
  get ends(): readonly number[] {
    return [this.#byCloud.until, ...[...this.#byAgent.values()].map(({ until }) => until)];
  }
}
