// The timers of addresses that are released unless their requester comes back. What a timer knows is in the record, so that
// it survives a restart; here is only what wakes.
import type { Clock } from '../../runtime/clock.ts';
import { type Expiry, type Held, type Place, placeKey } from './holdings.ts';

/** After a release that failed, in ms. */
const retryAfter = 10_000;

export class Expirations {
  readonly #clock: Clock;
  /** Returns whether the address needs no timer any longer. */
  readonly #expire: (held: Held, uuid: string) => boolean;
  readonly #cancels = new Map<string, () => void>();

  constructor(clock: Clock, expire: (held: Held, uuid: string) => boolean) {
    this.#clock = clock;
    this.#expire = expire;
  }

  /** Starts the timer of an address that has one in the record, in place of an earlier one. */
  arm(held: Held): void {
    this.cancel(held);
    if (held.expiry === undefined) return;
    this.#wake(held, held.expiry, remaining(held.expiry, this.#clock.wall()));
  }

  cancel(place: Place): void {
    const key = placeKey(place);
    this.#cancels.get(key)?.();
    this.#cancels.delete(key);
  }

  stop(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  #wake(held: Held, expiry: Expiry, wait: number): void {
    const key = placeKey(held);
    const cancel = this.#clock.schedule(wait, () => {
      this.#cancels.delete(key);
      if (!this.#expire(held, expiry.uuid)) this.#wake(held, expiry, retryAfter);
    });
    this.#cancels.set(key, cancel);
  }
}

/** A wall clock that was set back never makes a timer longer than it was. */
function remaining({ at, timeout }: Expiry, now: number): number {
  return Math.min(timeout, Math.max(0, at - now));
}
