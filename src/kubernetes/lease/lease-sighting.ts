// Derives from what this process saw of a Lease when that lease expires. It ignores the times in the Lease: only the
// moment we saw a change counts, on our own clock.
import type { LeaseRecord } from './lease-record.ts';

export class LeaseSighting {
  readonly #identity: string;
  readonly #usualDuration: number;
  #lease: LeaseRecord | undefined;
  /** When this state was first seen, in monotonic ms. */
  #since = 0;
  #isMissing = false;

  /** `usualDuration`, in ms, applies to a Lease without a duration. */
  constructor(identity: string, usualDuration: number) {
    this.#identity = identity;
    this.#usualDuration = usualDuration;
  }

  /** The Lease as last seen; undefined when it was missing or has not been read yet. */
  get lease(): LeaseRecord | undefined {
    return this.#isMissing ? undefined : this.#lease;
  }

  /** Whether it was ever seen. */
  get isKnown(): boolean {
    return this.#lease !== undefined;
  }

  get isMissing(): boolean {
    return this.#isMissing;
  }

  /** The holder as last seen. */
  get holder(): string | undefined {
    return this.#isMissing ? undefined : this.#lease?.holder || undefined;
  }

  get isOurs(): boolean {
    return this.holder === this.#identity;
  }

  /** `now` is when the answer arrived, in monotonic ms. */
  see(lease: LeaseRecord, now: number): void {
    // Every write changes the resource version, so an unchanged one is no renewal.
    if (this.#lease?.resourceVersion !== lease.resourceVersion) this.#since = now;
    this.#lease = lease;
    this.#isMissing = false;
  }

  /**
   * Records that the Lease was deleted or never existed. The last seen holder may still believe it leads, and may have
   * renewed moments ago. `now` is when the answer arrived, in monotonic ms.
   */
  miss(now: number): void {
    if (!this.#isMissing) this.#since = now;
    this.#isMissing = true;
  }

  /** When the last seen holder's lease expires without another renewal, in monotonic ms; -Infinity without a holder. */
  freeAt(): number {
    const lease = this.#lease;
    if (lease === undefined || lease.holder === '' || lease.holder === this.#identity) return -Infinity;
    return this.#since + (lease.duration ?? this.#usualDuration);
  }
}
