// Keeps any one object from flooding the cluster with events: a token bucket an object, as generous as client-go's.
import type { Clock } from '../scheduling/clock.ts';
import { RecentlyUsed } from './recently-used.ts';

interface Bucket {
  readonly tokens: number;
  /** When it held them, in monotonic ms. */
  readonly at: number;
}

/** So many events at once, and then one each `refill` ms. */
const burst = 25;
const refill = 300_000;

const mostObjects = 4096;

export class SpamFilter {
  readonly #clock: Clock;
  readonly #buckets = new RecentlyUsed<string, Bucket>(mostObjects);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether another event about the object is welcome; if so, it is counted. */
  allows(object: string): boolean {
    const now = this.#clock.monotonic();
    const { tokens, at } = this.#buckets.get(object) ?? { tokens: burst, at: now };
    const filled = Math.min(burst, tokens + (now - at) / refill);
    const allowed = filled >= 1;
    this.#buckets.set(object, { tokens: allowed ? filled - 1 : filled, at: now });
    return allowed;
  }
}
