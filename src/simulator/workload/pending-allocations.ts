// How many addresses a multi-pool agent requests.

/** The only pool that cloud agents allocate from. */
export const defaultPool = 'default';

/** The buffer of an agent without a configured one. */
export const initialPreAllocate = 8;

/** How long a failed attempt counts as demand, in ms. */
const pendingLifetime = 5 * 60_000;

export interface DemandInputs {
  readonly inUse: number;
  readonly pending: number;
  readonly preAllocate: number;
}

/** Linear, so a reader gets the use by subtracting the buffer. */
export function demandOf({ inUse, pending, preAllocate }: DemandInputs): number {
  return inUse + pending + preAllocate;
}

/** Failed attempts without a later success, one per owner. */
export class PendingAllocations {
  readonly #expiries = new Map<string, number>();

  /** Records a failed attempt at `now`; a later one of the same owner replaces it. */
  failed(owner: string, now: number): void {
    this.#expiries.set(owner, now + pendingLifetime);
  }

  fulfilled(owner: string): void {
    this.#expiries.delete(owner);
  }

  /** Number of attempts that count at `now`. */
  count(now: number): number {
    for (const [owner, expiry] of this.#expiries) {
      if (now > expiry) this.#expiries.delete(owner);
    }
    return this.#expiries.size;
  }
}
