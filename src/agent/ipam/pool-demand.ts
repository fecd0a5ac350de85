// How many addresses this node needs of each pool: those in use, those that requests wait for, and some to hold. A request that
// got nothing counts, by owner and family of a pool, until its owner gets an address or 5 minutes have passed. One that
// asks again and again counts once.
import { type Family, familyOf } from '../../blocks/set/cidr.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { DemandRule } from '../allocators/block-balance.ts';
import type { Holdings } from './holdings.ts';
import type { IpamEvent } from './ipam.ts';
import type { IpamErrorKind } from './ipam-error.ts';

/** In ms. */
const lifetime = 300_000;
/** Owners are what a client says: beyond so many, the oldest counts no longer. */
const max = 4096;

const counted: readonly IpamErrorKind[] = ['exhausted', 'poolNotReady'];

export class PoolDemand {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #holdings: Holdings;
  readonly #rule: DemandRule;
  #preAllocation: ReadonlyMap<string, number>;
  readonly #waiting = new Map<
    string,
    { readonly pool: string; readonly family: Family; readonly until: number }
  >();

  /** `preAllocation`: free addresses to hold, by pool; 0 for others. */
  constructor(
    clock: Pick<Clock, 'monotonic'>,
    holdings: Holdings,
    rule: DemandRule,
    preAllocation: ReadonlyMap<string, number>,
  ) {
    this.#clock = clock;
    this.#holdings = holdings;
    this.#rule = rule;
    this.#preAllocation = preAllocation;
  }

  /** Instead of an earlier count. */
  hold(pool: string, free: number): void {
    this.#preAllocation = new Map([...this.#preAllocation, [pool, free]]);
  }

  needed(pool: string, family: Family): number {
    const preAllocate = this.#preAllocation.get(pool) ?? 0;
    const inUse = this.inUse(pool, family);
    return this.#rule({ inUse, pending: this.count(pool, family), preAllocate });
  }

  inUse(pool: string, family: Family): number {
    let count = 0;
    for (const held of this.#holdings.held()) if (held.pool === pool && familyOf(held.ip) === family) count++;
    return count;
  }

  /** The pools of which this node may need addresses, sorted. */
  pools(): readonly string[] {
    const waiting = Array.from(this.#live(), ({ pool }) => pool);
    const held = Array.from(this.#holdings.held(), ({ pool }) => pool);
    return [...new Set([...this.#preAllocation.keys(), ...waiting, ...held])].toSorted();
  }

  take(event: IpamEvent): void {
    if (event.kind === 'allocated')
      this.#waiting.delete(keyOf(event.held.pool, event.family, event.held.owner));
    if (event.kind !== 'refused' || !counted.includes(event.why)) return;
    for (const { pool, family } of event.wanted) this.#add(keyOf(pool, family, event.owner), pool, family);
  }

  /** How many wait, for this family of this pool or at all. */
  count(pool?: string, family?: Family): number {
    let count = 0;
    for (const each of this.#live())
      if ((pool ?? each.pool) === each.pool && (family ?? each.family) === each.family) count++;
    return count;
  }

  #add(key: string, pool: string, family: Family): void {
    this.#waiting.delete(key);
    this.#waiting.set(key, { pool, family, until: this.#clock.monotonic() + lifetime });
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > max && oldest !== undefined) this.#waiting.delete(oldest);
  }

  *#live(): Generator<{ readonly pool: string; readonly family: Family }> {
    const now = this.#clock.monotonic();
    for (const [key, each] of this.#waiting) {
      if (each.until > now) yield each;
      else this.#waiting.delete(key);
    }
  }
}

function keyOf(pool: string, family: Family, owner: string): string {
  return `${pool}/${family}/${owner}`;
}
