// Backs off from releases that failed: per holding when the agent needs it, and for the whole node when the
// cloud refuses permanently. Each pause is longer than the one before.
import { Backoff, type BackoffDeps } from '../../runtime/backoff.ts';
import { LazyMap } from '../../runtime/lazy-collections.ts';
import type { Holding } from '../demand/holdings.ts';

/** In ms. */
const policy = { base: 180_000, cap: 3_600_000 };

export class ReleaseBackoff {
  readonly #deps: BackoffDeps;
  readonly #byAgent = new LazyMap<string, Backoff>();
  readonly #byCloud: Backoff;

  constructor(deps: BackoffDeps) {
    this.#deps = deps;
    this.#byCloud = new Backoff(policy, deps);
  }

  /** The agent needs these holdings. */
  agentKeeps(holdings: readonly Holding[]): void {
    const now = this.#deps.clock.monotonic();
    for (const [id, { until }] of this.#byAgent) if (until + policy.cap < now) this.#byAgent.delete(id);
    for (const { id } of holdings) {
      const backoff = this.#byAgent.get(id) ?? new Backoff(policy, this.#deps);
      this.#byAgent.set(id, backoff);
      backoff.fail();
    }
  }

  /** The cloud refuses every release for now. */
  cloudRefused(): void {
    this.#byCloud.fail();
  }

  /** The cloud accepted a release. */
  cloudAccepted(): void {
    this.#byCloud.forget();
  }

  /** The cloud refused a release: the whole node releases nothing for now. */
  get isPausedByCloud(): boolean {
    return this.#byCloud.isPausing;
  }

  /** Ids of the holdings that the back-off excludes now. */
  get blocked(): ReadonlySet<string> {
    return new Set([...this.#byAgent].filter(([, { isPausing }]) => isPausing).map(([id]) => id));
  }

  /** When the pauses end, in monotonic ms; some may have passed. */
  get ends(): readonly number[] {
    return [this.#byCloud.until, ...[...this.#byAgent.values()].map(({ until }) => until)];
  }
}
