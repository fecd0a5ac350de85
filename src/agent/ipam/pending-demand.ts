// Requests that got nothing, by owner and family of a pool: each counts as demand until its owner gets an address, or 5 minutes
// have passed. Whoever asks again and again counts once.
import type { Family } from '../../cidr/set/cidr.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { IpamEvent } from './ipam.ts';
import type { IpamErrorKind } from './ipam-error.ts';

/** In ms. */
const lifetime = 300_000;
/** Owners are what a client says: beyond so many, the oldest counts no longer. */
const most = 4096;

const counted: readonly IpamErrorKind[] = ['exhausted', 'poolNotReady'];

export class PendingDemand {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waiting = new Map<
    string,
    { readonly pool: string; readonly family: Family; readonly until: number }
  >();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
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

  /** The pools that someone waits for. */
  pools(): ReadonlySet<string> {
    return new Set(Array.from(this.#live(), ({ pool }) => pool));
  }

  #add(key: string, pool: string, family: Family): void {
    this.#waiting.delete(key);
    this.#waiting.set(key, { pool, family, until: this.#clock.monotonic() + lifetime });
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > most && oldest !== undefined) this.#waiting.delete(oldest);
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
