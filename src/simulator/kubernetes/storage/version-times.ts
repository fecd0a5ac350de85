// Commit times of recent writes, recorded by the server. Tests can time a reaction to a write without the
// delays of its observer.
import type { Clock } from '../../../runtime/clock.ts';
import type { ObjectStore } from './object-store.ts';

export interface VersionTime {
  readonly resourceVersion: string;
  /** In ms of the server's own monotonic clock. */
  readonly at: number;
}

/** Maximum number of writes remembered. */
const limit = 50_000;

export class VersionTimes {
  /** By resource version, oldest first. */
  readonly #times = new Map<number, number>();

  constructor(store: ObjectStore, clock: Clock) {
    store.listen((_, { revision }) => {
      this.#times.set(revision, clock.monotonic());
      const [oldest] = this.#times.keys();
      if (this.#times.size > limit && oldest !== undefined) this.#times.delete(oldest);
    });
  }

  /** Oldest first. */
  all(): readonly VersionTime[] {
    return Array.from(this.#times, ([revision, at]) => ({ resourceVersion: String(revision), at }));
  }
}
