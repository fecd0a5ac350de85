// The limits of the calls of a cloud, as data: each limit has a name, and a resource if each of several has its own.
import type { BucketSize } from './token-bucket.ts';

/** A limit that a call spends from. */
export interface LimitKey {
  /** The name of the size, without spaces. Equal limits of several resources share it. */
  readonly name: string;
  /** The resource, without spaces and in a single spelling. */
  readonly resource?: string;
}

export type LimitSize = BucketLimit | WindowLimit;

/** No more than `max` calls in any `ms`, wherever that time begins. */
export interface WindowLimit {
  readonly kind: 'window';
  readonly max: number;
  readonly ms: number;
  readonly isPerThing?: undefined;
}

export interface BucketLimit extends Omit<BucketSize, 'window'> {
  readonly kind: 'bucket';
  /**
   * Each resource is a single thing, such as a VM, and there may be thousands. Such a limit is forgotten once it is full
   * again. It keeps no reserve and counts no turns, since few calls share it.
   */
  readonly isPerThing?: true;
}

/** The sizes of a cloud's limits by name. A limit without a size does not limit. */
export type LimitSizes = ReadonlyMap<string, LimitSize>;

/** A call as its limits see it. It takes one token of each. */
export interface LimitedCall {
  /** The most specific one first: it takes the blame for a throttle that names no limit. */
  readonly limits: readonly LimitKey[];
}

/** Our `share` of the documented sizes: the account has other users. `raised`: sizes that the cloud changed for it. */
export function ourLimits(
  documented: LimitSizes,
  { share, raised }: { readonly share: number; readonly raised: ReadonlyMap<string, BucketSize> },
): LimitSizes {
  return new Map([...documented].map(([name, size]) => [name, ourLimit(size, share, raised.get(name))]));
}

/** A window has whole calls, and at least one. */
function ourLimit(size: LimitSize, share: number, raised: BucketSize | undefined): LimitSize {
  if (size.kind === 'window') {
    const max = raised?.capacity ?? size.max;
    return { ...size, max: Math.max(1, Math.floor(max * share)) };
  }
  const { capacity, refill } = raised ?? size;
  return { ...size, capacity: capacity * share, refill: refill * share };
}
