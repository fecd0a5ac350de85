// What is not asked for again for a while, longer each time: what an agent needs, and anything at all once the cloud has
// refused in a way that trying again does not mend.
import type { Clock } from '../scheduling/clock.ts';
import { type Backoff, backOff } from '../scheduling/exponential-backoff.ts';
import type { Random } from '../scheduling/random.ts';
import type { Holding } from './address-release.ts';

/** In ms. */
const policy = { base: 180_000, cap: 3_600_000 };

export class Refusals {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: Random;
  readonly #byAgent = new Map<string, Backoff>();
  #byCloud: Backoff | undefined;

  constructor({ clock, random }: { readonly clock: Pick<Clock, 'monotonic'>; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The agent needs these. */
  agentKeeps(holdings: readonly Holding[]): void {
    const now = this.#clock.monotonic();
    for (const [id, { until }] of this.#byAgent) if (until + policy.cap < now) this.#byAgent.delete(id);
    for (const { id } of holdings) {
      this.#byAgent.set(id, backOff(this.#byAgent.get(id), policy, now, this.#random));
    }
  }

  /** The cloud won't have anything back for now. */
  cloudRefused(): void {
    this.#byCloud = backOff(this.#byCloud, policy, this.#clock.monotonic(), this.#random);
  }

  /** The cloud took something back. */
  cloudAccepted(): void {
    this.#byCloud = undefined;
  }

  get isOfCloud(): boolean {
    return this.#clock.monotonic() < (this.#byCloud?.until ?? 0);
  }

  /** Ids of the holdings that the agent is not to be asked for now. */
  get aside(): ReadonlySet<string> {
    const now = this.#clock.monotonic();
    return new Set([...this.#byAgent].filter(([, { until }]) => now < until).map(([id]) => id));
  }

  /** When they end, in monotonic ms; some may be over. */
  get ends(): readonly number[] {
    return [this.#byCloud?.until ?? 0, ...[...this.#byAgent.values()].map(({ until }) => until)];
  }
}
