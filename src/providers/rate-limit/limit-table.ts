// The state of all rate limits of a cloud, by id. A limit is made when a call first spends from it. One of a single
// thing is forgotten once it is full again, which changes no answer: it would be made full.
import type { Clock } from '../../runtime/clock.ts';
import { ratioAt } from './learned-ratio.ts';
import type { LimitKey, LimitSize, LimitSizes } from './limit-key.ts';
import { isAsUnused, limitAt, type RateLimit, unusedLimit } from './rate-limit.ts';
import { type BucketSize, tokensAt } from './token-bucket.ts';

/** The current state of a limit. */
export interface LimitFigures {
  readonly tokens: number;
  readonly capacity: number;
  readonly refillPerSecond: number;
  /** The learned ratio: what throttled calls have left of our quota, from 0 to 1. */
  readonly learnedRatio: number;
  readonly throttled: number;
  /** Set for a sliding window: each token comes back this long after it was taken. */
  readonly windowSeconds?: number;
  /** Set where each thing, such as a VM, has a limit of its own. */
  readonly perThing?: true;
}

/** A limit that a call spends from. */
export interface ResolvedLimit {
  readonly id: string;
  readonly isPerThing: boolean;
}

/** Things are looked through when their number has doubled, from here on. */
const minThings = 256;

export class LimitTable {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #sizes: LimitSizes;
  readonly #shared = new Map<string, RateLimit>();
  readonly #perThing = new Map<string, RateLimit>();
  #maxThings = minThings;

  constructor(clock: Pick<Clock, 'monotonic'>, sizes: LimitSizes) {
    this.#clock = clock;
    this.#sizes = sizes;
  }

  /** The limit of a key, which is made unless it is one of a single thing; undefined if nothing limits it. */
  resolve({ name, resource }: LimitKey): ResolvedLimit | undefined {
    const size = this.#sizes.get(name);
    if (size === undefined) return undefined;
    const id = resource === undefined ? name : `${name} ${resource}`;
    const isPerThing = size.isPerThing === true;
    if (!isPerThing && !this.#shared.has(id))
      this.#shared.set(id, unusedLimit(bucketOf(size), this.#clock.monotonic()));
    return { id, isPerThing };
  }

  /** The limit as it was last changed; undefined if nothing limits it. */
  get(id: string): RateLimit | undefined {
    const known = this.#shared.get(id) ?? this.#perThing.get(id);
    if (known !== undefined) return known;
    const size = this.#sizes.get(nameOf(id));
    return size && unusedLimit(bucketOf(size), this.#clock.monotonic());
  }

  change(id: string, change: (limit: RateLimit, now: number) => RateLimit): void {
    const limit = this.get(id);
    if (limit === undefined) return;
    const after = change(limit, this.#clock.monotonic());
    if (this.#shared.has(id)) this.#shared.set(id, after);
    else this.#setThing(id, after);
  }

  /** All limits that many calls share, at their present size. */
  shared(): ReadonlyMap<string, RateLimit> {
    for (const id of this.#shared.keys()) this.change(id, limitAt);
    return this.#shared;
  }

  /**
   * Figures of every limit, used or not. Limits of single resources share a name, and only the one with the fewest tokens
   * counts.
   */
  figures(): readonly (readonly [id: string, figures: LimitFigures])[] {
    return [...this.#sizes].flatMap(([name, size]) => this.#figuresOf(name, size));
  }

  /** How many limits of single things are remembered. */
  get things(): number {
    return this.#perThing.size;
  }

  #figuresOf(name: string, size: LimitSize): readonly (readonly [string, LimitFigures])[] {
    const now = this.#clock.monotonic();
    const form = formOf(size);
    const used = [...(size.isPerThing === true ? this.#perThing : this.#shared)]
      .filter(([id]) => nameOf(id) === name)
      .map(([id, limit]) => [id, { ...figuresAt(limit, now), ...form }] as const);
    if (used.length === 0) return [[name, { ...figuresAt(unusedLimit(bucketOf(size), now), now), ...form }]];
    if (size.isPerThing !== true) return used;
    const [[, first], ...others] = used as [(typeof used)[number], ...typeof used];
    return [[name, others.reduce((min, [, each]) => (each.tokens < min.tokens ? each : min), first)]];
  }

  #setThing(id: string, limit: RateLimit): void {
    this.#perThing.set(id, limit);
    if (this.#perThing.size <= this.#maxThings) return;
    const now = this.#clock.monotonic();
    for (const [each, known] of this.#perThing) {
      if (isAsUnused(known, now)) this.#perThing.delete(each);
    }
    this.#maxThings = Math.max(minThings, 2 * this.#perThing.size);
  }
}

export function nameOf(id: string): string {
  const end = id.indexOf(' ');
  return end === -1 ? id : id.slice(0, end);
}

function formOf(size: LimitSize): Pick<LimitFigures, 'windowSeconds' | 'perThing'> {
  if (size.kind === 'window') return { windowSeconds: size.ms / 1000 };
  return size.isPerThing === true ? { perThing: true } : {};
}

function figuresAt(known: RateLimit, now: number): LimitFigures {
  const { bucket, learnedRatio, throttled } = limitAt(known, now);
  return {
    tokens: tokensAt(bucket, now),
    capacity: bucket.capacity,
    refillPerSecond: bucket.refill,
    learnedRatio: ratioAt(learnedRatio, now),
    throttled,
  };
}

/** The bucket or window that a limit is. */
function bucketOf(size: LimitSize): BucketSize {
  if (size.kind === 'bucket') return { capacity: size.capacity, refill: size.refill };
  return { capacity: size.max, refill: (size.max / size.ms) * 1000, window: size.ms };
}
