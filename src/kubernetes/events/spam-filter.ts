// Limits the rate of events per object with token buckets, as generous as client-go's.
import type { Clock } from '../../runtime/clock.ts';
import { LruMap } from './lru-map.ts';

interface Bucket {
  readonly tokens: number;
  /** When the bucket held these tokens, in monotonic ms. */
  readonly at: number;
}

/** Events in a burst, then one per `refill` ms. */
const burst = 25;
const refill = 300_000;

const maxObjects = 4096;

export class SpamFilter {
  readonly #clock: Clock;
  readonly #buckets = new LruMap<string, Bucket>(maxObjects);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether another event about the object may be written; spends a token if so. */
  allows(object: string): boolean {
    const now = this.#clock.monotonic();
    const { tokens, at } = this.#buckets.get(object) ?? { tokens: burst, at: now };
    const filled = Math.min(burst, tokens + (now - at) / refill);
    const allowed = filled >= 1;
    this.#buckets.set(object, { tokens: allowed ? filled - 1 : filled, at: now });
    return allowed;
  }
}
