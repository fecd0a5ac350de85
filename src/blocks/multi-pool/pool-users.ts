// Which nodes ask a pool for addresses, or have blocks under its name: a change of the pool concerns them, and no others.

export class PoolUsers {
  readonly #poolsOf = new Map<string, ReadonlySet<string>>();
  readonly #uidsOf = new Map<string, Set<string>>();

  /** `pools`: all that the node uses from now on. */
  set(uid: string, pools: Iterable<string>): void {
    const [before, now] = [this.#poolsOf.get(uid) ?? none, new Set(pools)];
    for (const pool of before) if (!now.has(pool)) this.#strike(pool, uid);
    for (const pool of now) {
      if (before.has(pool)) continue;
      const uids = this.#uidsOf.get(pool) ?? new Set();
      this.#uidsOf.set(pool, uids.add(uid));
    }
    this.#poolsOf.set(uid, now);
  }

  delete(uid: string): void {
    this.set(uid, none);
    this.#poolsOf.delete(uid);
  }

  /** Uids of the nodes that use a pool. */
  of(pool: string): ReadonlySet<string> {
    return this.#uidsOf.get(pool) ?? none;
  }

  #strike(pool: string, uid: string): void {
    const uids = this.#uidsOf.get(pool);
    uids?.delete(uid);
    if (uids?.size === 0) this.#uidsOf.delete(pool);
  }
}

const none: ReadonlySet<string> = new Set();
