// How many addresses an agent of the multi-pool protocol asks for.

/** The only pool that cloud agents allocate from. */
export const defaultPool = 'default';

/** The buffer of an agent that nobody told another one. */
export const initialPreAllocate = 8;

/** How long a failed attempt counts as demand, in ms. */
const pendingLifetime = 5 * 60_000;

export interface DemandInputs {
  readonly inUse: number;
  readonly pending: number;
  readonly preAllocate: number;
}

/** Linear, so that whoever reads it can tell the use by subtracting the buffer. */
export function demandOf({ inUse, pending, preAllocate }: DemandInputs): number {
  return inUse + pending + preAllocate;
}

/** Attempts that failed and were not repeated with success yet, one for each owner. */
export class PendingAllocations {
  readonly #expiries = new Map<string, number>();

  /** Notes a failed attempt at `now`; a later one of the same owner takes its place. */
  failed(owner: string, now: number): void {
    this.#expiries.set(owner, now + pendingLifetime);
  }

  fulfilled(owner: string): void {
    this.#expiries.delete(owner);
  }

  /** How many count at `now`. */
  count(now: number): number {
    for (const [owner, expiry] of this.#expiries) {
      if (now > expiry) this.#expiries.delete(owner);
    }
    return this.#expiries.size;
  }
}
