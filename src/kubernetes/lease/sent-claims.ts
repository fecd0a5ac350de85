// The writes of a Lease that may have been carried out and have not counted yet. The renew time that the Lease shows tells which
// of them was.
import type { LeaseEnd } from './lease-record.ts';

export class SentClaims {
  readonly #leaseDuration: number;
  /** When each was sent, by the renew time it sets. */
  readonly #sent = new Map<string, LeaseEnd>();

  /** `leaseDuration` in ms: what was sent longer ago grants nothing. */
  constructor(leaseDuration: number) {
    this.#leaseDuration = leaseDuration;
  }

  /** Two writes may set the same renew time after the wall clock was set back: the earlier one counts. */
  add(renewTime: string, sent: LeaseEnd): void {
    this.forget(sent.monotonic - this.#leaseDuration);
    if (!this.#sent.has(renewTime)) this.#sent.set(renewTime, sent);
  }

  /** When the write was sent that sets this renew time. */
  at(renewTime: string): LeaseEnd | undefined {
    return this.#sent.get(renewTime);
  }

  /** Forgets those that were sent until then, in monotonic ms. */
  forget(until: number): void {
    for (const [renewTime, { monotonic }] of this.#sent) if (monotonic <= until) this.#sent.delete(renewTime);
  }
}
