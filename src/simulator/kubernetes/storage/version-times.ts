// When each of the latest writes was committed: kept by the server, so that what was done in answer to a write can be timed
// without the delays of whoever looks at it.
import type { Clock } from '../../../scheduling/clock.ts';
import type { ObjectStore } from './object-store.ts';

export interface VersionTime {
  readonly resourceVersion: string;
  /** In ms of the server's own monotonic clock. */
  readonly at: number;
}

/** So many writes at most are remembered. */
const limit = 50_000;

export class VersionTimes {
  /** By resource version, the oldest first. */
  readonly #times = new Map<number, number>();

  constructor(store: ObjectStore, clock: Clock) {
    store.listen((_, { revision }) => {
      this.#times.set(revision, clock.monotonic());
      const [oldest] = this.#times.keys();
      if (this.#times.size > limit && oldest !== undefined) this.#times.delete(oldest);
    });
  }

  /** The oldest first. */
  all(): readonly VersionTime[] {
    return Array.from(this.#times, ([revision, at]) => ({ resourceVersion: String(revision), at }));
  }
}
