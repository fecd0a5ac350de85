// How many addresses of each subnet can still be asked for. The cloud's own count is old as soon as it is read: what we
// have asked for since is subtracted here, and a subnet that said "exhausted" is set aside for a while. One that said
// "fragmented" is asked for fewer prefixes at once for as long.

/** How long a subnet that said "exhausted" is not asked again, in ms. */
export const exhaustedFor = 120_000;

/** How long it is remembered that a subnet said "fragmented", in ms. */
export const fragmentedFor = 120_000;

export interface Reservation {
  /** The call ended at `endedAt` and took `taken` addresses. */
  settle(taken: number, endedAt: number): void;
}

interface Entry {
  /** Less than 0 for addresses that came back. */
  count: number;
  /** Undefined while the call is under way. */
  endedAt: number | undefined;
}

interface Account {
  free: number;
  /** When the request that counted was sent. */
  countedAt: number;
  readonly entries: Set<Entry>;
  exhaustedUntil: number;
  /** Most prefixes to ask for at once, until `fragmentedUntil`. */
  mostPrefixes: number;
  fragmentedUntil: number;
  /** The cloud said that it does not exist. */
  isGone: boolean;
}

export class SubnetLedger {
  readonly #accounts = new Map<string, Account>();

  /** Folds in the cloud's counts, asked for at `begunAt`. Subnets that are not among them have nothing to give. */
  observe(counts: ReadonlyMap<string, number>, begunAt: number): void {
    for (const [id, account] of this.#accounts) {
      if (counts.has(id) || begunAt < account.countedAt) continue;
      recount(account, 0, begunAt);
      // It may be shown again: what was asked of it meanwhile must be known then.
      const remembered = Math.max(account.exhaustedUntil, account.fragmentedUntil);
      if (account.entries.size === 0 && remembered <= begunAt) this.#accounts.delete(id);
    }
    for (const [id, free] of counts) {
      const account = this.#accounts.get(id);
      if (account === undefined) {
        this.#accounts.set(id, {
          free,
          countedAt: begunAt,
          entries: new Set(),
          exhaustedUntil: -Infinity,
          mostPrefixes: Infinity,
          fragmentedUntil: -Infinity,
          isGone: false,
        });
      } else if (begunAt >= account.countedAt) {
        recount(account, free, begunAt);
      }
    }
  }

  /** Addresses that may still be asked for at `now`; 0 for a subnet that is unknown or set aside. */
  free(subnetId: string, now: number): number {
    const account = this.#accounts.get(subnetId);
    if (account === undefined || now < account.exhaustedUntil) return 0;
    return Math.max(0, account.free + this.#returned(subnetId) - this.reserved(subnetId));
  }

  /** Addresses asked for that the cloud's count does not show yet. */
  reserved(subnetId: string): number {
    let sum = 0;
    for (const { count } of this.#accounts.get(subnetId)?.entries ?? []) sum += Math.max(0, count);
    return sum;
  }

  /** Addresses that came back since the cloud counted. */
  #returned(subnetId: string): number {
    let sum = 0;
    for (const { count } of this.#accounts.get(subnetId)?.entries ?? []) sum += Math.max(0, -count);
    return sum;
  }

  /** Holds `count` addresses for a call that is about to be sent. */
  reserve(subnetId: string, count: number): Reservation {
    const entry: Entry = { count, endedAt: undefined };
    const account = this.#accounts.get(subnetId);
    account?.entries.add(entry);
    return {
      settle: (taken, endedAt) => {
        entry.count = taken;
        entry.endedAt = endedAt;
        if (taken === 0) account?.entries.delete(entry);
      },
    };
  }

  /** The cloud said at `now` that the subnet has nothing left, or that there is none. */
  exhausted(subnetId: string, now: number, isGone = false): void {
    const account = this.#accounts.get(subnetId);
    if (account === undefined) return;
    account.exhaustedUntil = now + exhaustedFor;
    account.isGone = isGone;
  }

  /** Whether the cloud said of the subnet, when it was asked last, that there is none. */
  isGone(subnetId: string, now: number): boolean {
    const account = this.#accounts.get(subnetId);
    return account !== undefined && account.isGone && now < account.exhaustedUntil;
  }

  /**
   * The cloud said at `now` that the subnet has not as many whole blocks as `asked`. It may have some: half as many are
   * asked for next, and none once it has refused a single one.
   */
  fragmented(subnetId: string, asked: number, now: number): void {
    const account = this.#accounts.get(subnetId);
    if (account === undefined) return;
    account.mostPrefixes = Math.min(this.mostPrefixes(subnetId, now), Math.floor(asked / 2));
    account.fragmentedUntil = now + fragmentedFor;
  }

  /** Most prefixes that the subnet may be asked for at once; Infinity unless it said "fragmented" a short while ago. */
  mostPrefixes(subnetId: string, now: number): number {
    const account = this.#accounts.get(subnetId);
    return account !== undefined && now < account.fragmentedUntil ? account.mostPrefixes : Infinity;
  }

  /** `count` addresses came back to the subnet at `endedAt`: it may be asked again, for prefixes too. */
  released(subnetId: string, count: number, endedAt: number): void {
    const account = this.#accounts.get(subnetId);
    if (account === undefined) return;
    account.exhaustedUntil = -Infinity;
    account.fragmentedUntil = -Infinity;
    if (endedAt > account.countedAt) account.entries.add({ count: -count, endedAt });
  }

  /** Subnets that are set aside at `now`, with the time until which. */
  setAside(now: number): ReadonlyMap<string, number> {
    const aside = new Map<string, number>();
    for (const [id, { exhaustedUntil }] of this.#accounts)
      if (now < exhaustedUntil) aside.set(id, exhaustedUntil);
    return aside;
  }
}

function recount(account: Account, free: number, begunAt: number): void {
  account.free = free;
  account.countedAt = begunAt;
  // What ended before the cloud counted is in its count.
  for (const entry of account.entries) {
    if (entry.endedAt !== undefined && entry.endedAt <= begunAt) account.entries.delete(entry);
  }
}
