// Tracks how many addresses can still be requested from each subnet: the cloud's last count, less what was requested
// since, plus what was released since. A subnet that reported "exhausted" is blocked for two minutes; one that reported
// "fragmented" is asked for fewer prefixes.
//
// Prefixes may come out of a space that is reserved for them, which no count includes
// (https://docs.aws.amazon.com/vpc/latest/userguide/subnet-cidr-reservation.html). Counts show whether they do.

/** How long an exhausted subnet is blocked, in ms. */
export const exhaustedFor = 120_000;

/** How long the cloud is given to count a subnet that it reports as exhausted, in ms. */
const countedWithin = 15_000;

/** How long a "fragmented" answer is remembered, in ms. */
export const fragmentedFor = 120_000;

export interface Reservation {
  /** The call took all of it at `at`, although what it is for goes on: counts include it from then on. */
  took(at: number): void;
  /** The call ended at `endedAt` and took `taken` addresses. */
  settle(taken: number, endedAt: number): void;
}

/** In a subnet that no count shows. */
const unknown: Reservation = { took: () => undefined, settle: () => undefined };

interface Entry {
  /** Negative for addresses that were released. */
  count: number;
  /** The part of `count` that is in prefixes, also negative. */
  inPrefixes: number;
  /** Undefined while the call is in flight. */
  endedAt: number | undefined;
}

interface Account {
  free: number;
  /** When the request for the count was sent. */
  countedAt: number;
  readonly entries: Set<Entry>;
  exhaustedUntil: number;
  /** Maximum prefixes to request at once, until `fragmentedUntil`. */
  maxPrefixes: number;
  fragmentedUntil: number;
  /** Its prefixes come out of a space of their own. */
  arePrefixesApart: boolean;
  /** The cloud reported that the subnet does not exist. */
  isGone: boolean;
  /** The cloud counted free addresses after it reported the subnet as exhausted, and has assigned none since. */
  isCountedThoughFull: boolean;
}

export class SubnetLedger {
  readonly #accounts = new Map<string, Account>();

  /**
   * Applies the cloud's counts, requested at `startedAt`. A subnet without a count has no free addresses, except where
   * `read` is false: the cloud was not asked about it.
   */
  observe(
    counts: ReadonlyMap<string, number>,
    startedAt: number,
    read?: (subnetId: string) => boolean,
  ): void {
    const isMissing = (id: string): boolean => !counts.has(id) && read?.(id) !== false;
    for (const [id, account] of this.#accounts) {
      if (startedAt < account.countedAt || !isMissing(id)) continue;
      recount(account, 0, startedAt);
      // If the subnet reappears, requests in the meantime must still count.
      const remembered = Math.max(account.exhaustedUntil, account.fragmentedUntil);
      if (account.entries.size === 0 && remembered <= startedAt) this.#accounts.delete(id);
    }
    for (const [id, free] of counts) {
      const account = this.#accounts.get(id);
      if (account === undefined) {
        this.#accounts.set(id, {
          free,
          countedAt: startedAt,
          entries: new Set(),
          exhaustedUntil: -Infinity,
          maxPrefixes: Infinity,
          fragmentedUntil: -Infinity,
          arePrefixesApart: false,
          isGone: false,
          isCountedThoughFull: false,
        });
      } else if (startedAt >= account.countedAt) {
        recount(account, free, startedAt);
      }
    }
  }

  /** Whether the cloud has ever reported a count for the subnet. */
  hasCounted(subnetId: string): boolean {
    return this.#accounts.has(subnetId);
  }

  /** Addresses that can still be requested at `now`; 0 for an unknown or blocked subnet. */
  free(subnetId: string, now: number): number {
    const account = this.#accounts.get(subnetId);
    if (account === undefined || now < account.exhaustedUntil) return 0;
    let { free } = account;
    for (const entry of account.entries) free -= countedOf(account, entry);
    return Math.max(0, free);
  }

  /** Requested addresses that the cloud's count does not include yet. */
  reserved(subnetId: string): number {
    const account = this.#accounts.get(subnetId);
    let sum = 0;
    if (account === undefined) return sum;
    for (const entry of account.entries) sum += Math.max(0, countedOf(account, entry));
    return sum;
  }

  /** Reserves `count` addresses for a call about to be sent, some of them in prefixes. */
  reserve(subnetId: string, count: number, inPrefixes = 0): Reservation {
    const entry: Entry = { count, inPrefixes, endedAt: undefined };
    const account = this.#accounts.get(subnetId);
    if (account === undefined) return unknown;
    const { entries } = account;
    entries.add(entry);
    return {
      took: (at) => {
        entry.endedAt = at;
      },
      settle: (taken, endedAt) => {
        // A count that includes it lacks what was given back since.
        const isCounted = !entries.has(entry);
        entry.count = isCounted ? taken - count : taken;
        entry.inPrefixes = Math.min(inPrefixes, taken) - (isCounted ? inPrefixes : 0);
        if (isCounted || entry.endedAt === undefined) entry.endedAt = endedAt;
        if (entry.count === 0) entries.delete(entry);
        else entries.add(entry);
        if (taken > 0) account.isCountedThoughFull = false;
      },
    };
  }

  /** The cloud reported at `now` that the subnet is exhausted or does not exist. */
  exhausted(subnetId: string, now: number, isGone = false): void {
    const account = this.#accounts.get(subnetId);
    if (account === undefined) return;
    account.exhaustedUntil = now + exhaustedFor;
    account.isGone = isGone;
  }

  /** Whether the cloud's last answer said that the subnet does not exist. */
  isGone(subnetId: string, now: number): boolean {
    const account = this.#accounts.get(subnetId);
    return account !== undefined && account.isGone && now < account.exhaustedUntil;
  }

  /**
   * Until when a count of the subnet is awaited: the cloud reports it as exhausted, and counted free addresses before. It does
   * not say which is true. -Infinity for others.
   */
  countAwaitedUntil(subnetId: string, now: number): number {
    const account = this.#accounts.get(subnetId);
    if (account === undefined || account.isGone || account.isCountedThoughFull) return -Infinity;
    const reportedAt = account.exhaustedUntil - exhaustedFor;
    const isCounted = account.countedAt >= reportedAt || account.free <= this.reserved(subnetId);
    return isCounted || now >= reportedAt + countedWithin ? -Infinity : reportedAt + countedWithin;
  }

  /** Whether a count of any subnet is awaited. */
  awaitsCount(now: number): boolean {
    return [...this.#accounts.keys()].some((id) => this.countAwaitedUntil(id, now) > now);
  }

  /**
   * How many addresses the cloud counts as free in a subnet that it reports as exhausted, again and again; 0 for others. A
   * count from before the first report says nothing.
   */
  countedThoughFull(subnetId: string, now: number): number {
    const account = this.#accounts.get(subnetId);
    if (account === undefined || account.isGone || now >= account.exhaustedUntil) return 0;
    return account.isCountedThoughFull ? Math.max(0, account.free - this.reserved(subnetId)) : 0;
  }

  /**
   * The cloud reported at `now` that the subnet has fewer than `asked` whole blocks. The next request asks for half
   * as many, and for none after a single one was refused.
   */
  fragmented(subnetId: string, asked: number, now: number): void {
    const account = this.#accounts.get(subnetId);
    if (account === undefined) return;
    account.maxPrefixes = Math.min(this.maxPrefixes(subnetId, now), Math.floor(asked / 2));
    account.fragmentedUntil = now + fragmentedFor;
  }

  /** Maximum prefixes to request from the subnet at once; Infinity unless it recently reported "fragmented", or is gone. */
  maxPrefixes(subnetId: string, now: number): number {
    const account = this.#accounts.get(subnetId);
    if (this.isGone(subnetId, now)) return 0;
    return account !== undefined && now < account.fragmentedUntil ? account.maxPrefixes : Infinity;
  }

  /** `count` addresses were released to the subnet at `endedAt`. It can be asked again, for prefixes too. */
  released(subnetId: string, count: number, endedAt: number): void {
    const account = this.#accounts.get(subnetId);
    if (account === undefined) return;
    account.exhaustedUntil = -Infinity;
    account.fragmentedUntil = -Infinity;
    if (endedAt > account.countedAt) account.entries.add({ count: -count, inPrefixes: 0, endedAt });
  }

  /** Blocked subnets at `now`, with the time when each block ends. */
  blocked(now: number): ReadonlyMap<string, number> {
    const blocked = new Map<string, number>();
    for (const [id, { exhaustedUntil }] of this.#accounts)
      if (now < exhaustedUntil) blocked.set(id, exhaustedUntil);
    return blocked;
  }
}

/** The part of an entry that counts of the subnet include, or will. */
function countedOf({ arePrefixesApart }: Account, { count, inPrefixes }: Entry): number {
  return arePrefixesApart ? count - inPrefixes : count;
}

function recount(account: Account, free: number, startedAt: number): void {
  // The count includes calls that ended before it.
  const included = [...account.entries].filter(({ endedAt = Infinity }) => endedAt <= startedAt);
  const inPrefixes = sumOf(included.map((entry) => entry.inPrefixes));
  const others = sumOf(included.map(({ count, inPrefixes: apart }) => count - apart));
  // Others take and release addresses, too: what the count fell by is nearer to all of the prefixes, or to none.
  if (inPrefixes > 0) account.arePrefixesApart = account.free - free - others < inPrefixes / 2;
  account.free = free;
  if (free === 0) account.isCountedThoughFull = false;
  else if (startedAt >= account.exhaustedUntil - exhaustedFor && startedAt < account.exhaustedUntil)
    account.isCountedThoughFull = true;
  account.countedAt = startedAt;
  for (const entry of included) account.entries.delete(entry);
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
