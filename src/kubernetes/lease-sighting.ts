// What one process has seen of a Lease, and what follows from it. The times written in the Lease are of no account: only
// when we saw it change, on our own clock.
import type { LeaseRecord } from './lease-record.ts';

export class LeaseSighting {
  readonly #identity: string;
  readonly #usualDuration: number;
  #lease: LeaseRecord | undefined;
  /** When it was first seen as it is, in monotonic ms. */
  #since = 0;
  #isMissing = false;

  /** `usualDuration`, in ms, counts for a Lease that does not say its own. */
  constructor(identity: string, usualDuration: number) {
    this.#identity = identity;
    this.#usualDuration = usualDuration;
  }

  /** The Lease as last seen; undefined when there was none the last time, or we have not looked yet. */
  get lease(): LeaseRecord | undefined {
    return this.#isMissing ? undefined : this.#lease;
  }

  get isMissing(): boolean {
    return this.#isMissing;
  }

  /** Who holds it as far as we know. */
  get holder(): string | undefined {
    return this.#isMissing ? undefined : this.#lease?.holder || undefined;
  }

  get isOurs(): boolean {
    return this.holder === this.#identity;
  }

  /** `now` is when the answer came, in monotonic ms. */
  see(lease: LeaseRecord, now: number): void {
    // Every write changes the resource version; the same one is no new sign of life.
    if (this.#lease?.resourceVersion !== lease.resourceVersion) this.#since = now;
    this.#lease = lease;
    this.#isMissing = false;
  }

  /**
   * The Lease was deleted, or never was. Whoever held it when we last saw it may still believe to hold it, and may have
   * renewed it until a moment ago. `now` is when the answer came, in monotonic ms.
   */
  miss(now: number): void {
    if (!this.#isMissing) this.#since = now;
    this.#isMissing = true;
  }

  /** When whoever was last seen holding it has lost it if nothing further is seen, in monotonic ms; -Infinity if nobody. */
  freeAt(): number {
    const lease = this.#lease;
    if (lease === undefined || lease.holder === '' || lease.holder === this.#identity) return -Infinity;
    return this.#since + (lease.duration ?? this.#usualDuration);
  }
}
