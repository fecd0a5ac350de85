// Expires Events an hour after their last write.
// https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/ (--event-ttl)
import type { Clock } from '../../../runtime/clock.ts';
import { coreEvents } from '../resources/events/events.ts';
import type { ObjectStore } from '../storage/object-store.ts';

const timeToLive = 3_600_000;

interface Entry {
  readonly key: string;
  readonly revision: number;
  /** In monotonic ms. */
  readonly end: number;
}

export class EventExpiry {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  /** Ordered by expiry, since all have the same lifetime. */
  readonly #entries: Entry[] = [];

  constructor(store: ObjectStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    store.listen((collection, { kind, key, revision }) => {
      if (collection !== coreEvents.collection || kind === 'DELETED') return;
      this.#entries.push({ key, revision, end: clock.monotonic() + timeToLive });
    });
  }

  /** Removes expired Events before any read. */
  run(): void {
    const now = this.#clock.monotonic();
    const alive = this.#entries.findIndex(({ end }) => end > now);
    const over = this.#entries.splice(0, alive === -1 ? this.#entries.length : alive);
    const events = this.#store.collection(coreEvents.collection);
    for (const { key, revision } of over) {
      if (events.get(key)?.metadata.resourceVersion === String(revision)) events.remove(key);
    }
  }
}
