// Decides which waiting calls get tokens now: highest priority first, then order of arrival, without starvation. Pure:
// the same waiters and buckets give the same grants.
//
// - Operations in flight go before new ones: a created interface must be attached.
// - Calls that no pod waits for leave the last fifth of a bucket to calls that pods may need soon.
// - A waiting priority gets at least every 20th token of a bucket, however many calls rank higher.
// - A call that only its own thing holds up, such as a throttled VM, lets the others pass.
import { type TokenBucket, takeTokens, untilTokens } from './token-bucket.ts';
import { type Caller, isPressing, rankOf, type Priority, priorities } from '../contract/priority.ts';

/** Tokens of buckets that many calls share. */
export interface SharedCosts {
  readonly tokens: ReadonlyMap<string, number>;
  /** Buckets that only later calls of the sequence need, which are sent after the first call. */
  readonly later: ReadonlySet<string>;
}

export interface Asking {
  /** Tokens wanted, all at the same instant. Equal requests must share one object. */
  readonly costs: SharedCosts;
  /** Tokens wanted with them from buckets of single things, which few other calls need. */
  readonly perThing: ReadonlyMap<string, number>;
  readonly caller: Caller;
  /** Part of an operation in flight. */
  readonly inFlight: boolean;
}

export interface GrantedBucket {
  readonly bucket: TokenBucket;
  /** No token is granted earlier, in monotonic ms: the cloud asked us to wait. */
  readonly notBefore: number;
  /**
   * Expected delay, in ms, from the first call of a sequence to the call of this bucket, which got its token with it.
   * Tokens refilled in that time are available.
   */
  readonly followDelay: number;
  /** Tokens that others got since each waiting priority got its last one. */
  readonly skipped: Readonly<Partial<Record<Priority, number>>>;
}

export interface KnownBuckets {
  readonly shared: ReadonlyMap<string, GrantedBucket>;
  /** One of a single thing, looked up only when a call of it may be next: there may be thousands. */
  readonly ofThing: (name: string) => GrantedBucket | undefined;
}

export interface Grants<W> {
  readonly granted: readonly W[];
  /** All shared buckets, and those of things that changed. */
  readonly buckets: ReadonlyMap<string, GrantedBucket>;
  /** How long until another waiter can be served, in ms; Infinity if no waiter depends on time alone. */
  readonly wait: number;
}

/** Some calls are sent earlier than average, so only this part of the delay is relied on. */
const reliedOnShare = 0.75;
/** Share of a bucket reserved for calls that pods wait for. */
const reservedShare = 0.2;
/** A waiting priority is skipped for at most this many tokens in a row, so it gets one in 20. */
const maxSkips = 19;

/** `waiters` are in order of arrival. */
export function grantsFor<W extends Asking>(
  waiters: Iterable<W>,
  buckets: KnownBuckets,
  now: number,
): Grants<W> {
  return new Round(waiters, buckets, now).run();
}

/** How long a request would wait with an empty queue, in ms. */
export function untilAlone(
  { costs, perThing, caller, inFlight }: Asking,
  buckets: Buckets,
  now: number,
): number {
  let until = 0;
  for (const [name, count] of costs.tokens) {
    const left = inFlight ? 0 : reserveOf(caller.priority, buckets, name);
    const sentAt = now + followDelayOf(costs, buckets, name);
    until = Math.max(until, untilFree(buckets, name, count + left, sentAt));
  }
  for (const [name, count] of perThing) until = Math.max(until, untilFree(buckets, name, count, now));
  return until;
}

type Buckets = Pick<ReadonlyMap<string, GrantedBucket>, 'get'>;

/** Requests for the same shared tokens with the same priority: if the first must wait for those, the others must too. */
interface Queue<W> {
  readonly members: W[];
  /**
   * Position of each member in the overall order of arrival. A separate array, because thousands may wait while one
   * token is granted.
   */
  readonly orders: number[];
  readonly costs: SharedCosts;
  readonly priority: Priority;
  readonly inFlight: boolean;
  next: number;
}

class Round<W extends Asking> {
  readonly #now: number;
  readonly #buckets = new Map<string, GrantedBucket>();
  /** The result of a lookup: the buckets as they are now in this round. */
  readonly #known: Buckets;
  readonly #queues: readonly Queue<W>[];
  /** Tokens reserved for blocked requests; later requests may take only what exceeds them. */
  readonly #kept = new Map<string, number>();
  readonly #blocked = new Set<Queue<W>>();
  readonly #granted: W[] = [];
  #wait = Infinity;

  constructor(waiters: Iterable<W>, { shared, ofThing }: KnownBuckets, now: number) {
    this.#now = now;
    this.#queues = queuesOf(waiters);
    for (const [name, bucket] of shared) this.#buckets.set(name, this.#withoutAbsent(name, bucket));
    this.#known = { get: (name) => this.#buckets.get(name) ?? ofThing(name) };
  }

  run(): Grants<W> {
    for (let queue = this.#first(); queue !== undefined; queue = this.#first()) {
      const until = this.#until(queue);
      const untilOfThing = this.#untilOfThing(queue);
      if (until > 0) this.#block(queue, until);
      else if (untilOfThing > 0) this.#skip(queue, untilOfThing);
      else this.#grant(queue);
    }
    return { granted: this.#granted, buckets: this.#buckets, wait: this.#wait };
  }

  #first(): Queue<W> | undefined {
    let first: Queue<W> | undefined;
    for (const queue of this.#queues) {
      if (this.#blocked.has(queue) || queue.next >= queue.members.length) continue;
      if (first === undefined || this.#precedes(queue, first)) first = queue;
    }
    return first;
  }

  #precedes(a: Queue<W>, b: Queue<W>): boolean {
    const [rankA, rankB] = [this.#rankOf(a), this.#rankOf(b)];
    return rankA === rankB ? orderOf(a) < orderOf(b) : rankA < rankB;
  }

  #rankOf(queue: Queue<W>): number {
    if (queue.inFlight) return -2;
    return this.#isDue(queue) ? -1 : rankOf(queue.priority);
  }

  /** Whether the priority of the queue was skipped often enough. */
  #isDue({ costs, priority }: Queue<W>): boolean {
    for (const name of costs.tokens.keys())
      if ((this.#buckets.get(name)?.skipped[priority] ?? 0) >= maxSkips) return true;
    return false;
  }

  #until(queue: Queue<W>): number {
    const reserved = !queue.inFlight && !this.#isDue(queue);
    let until = 0;
    for (const [name, count] of queue.costs.tokens) {
      const kept = this.#kept.get(name) ?? 0;
      const capacity = this.#buckets.get(name)?.bucket.capacity ?? Infinity;
      // It can go only after the requests that these tokens are reserved for.
      if (kept > 0 && kept + count > capacity) return Infinity;
      const left = reserved ? reserveOf(queue.priority, this.#buckets, name) : 0;
      const sentAt = this.#now + followDelayOf(queue.costs, this.#buckets, name);
      until = Math.max(until, untilFree(this.#buckets, name, kept + count + left, sentAt));
    }
    return until;
  }

  #block(queue: Queue<W>, until: number): void {
    this.#blocked.add(queue);
    this.#wait = Math.min(this.#wait, until);
    // Otherwise calls that need one token would starve a call that needs two.
    for (const [name, count] of queue.costs.tokens) this.#keep(name, count);
  }

  #keep(name: string, count: number): void {
    this.#kept.set(name, (this.#kept.get(name) ?? 0) + count);
  }

  #untilOfThing(queue: Queue<W>): number {
    let until = 0;
    for (const [name, count] of queue.members[queue.next]?.perThing ?? []) {
      const kept = this.#kept.get(name) ?? 0;
      until = Math.max(until, untilFree(this.#known, name, kept + count, this.#now));
    }
    return until;
  }

  /** Its first member waits for its own thing, before later calls for the same thing. */
  #skip(queue: Queue<W>, until: number): void {
    this.#wait = Math.min(this.#wait, until);
    for (const [name, count] of queue.members[queue.next++]?.perThing ?? []) this.#keep(name, count);
  }

  #grant(queue: Queue<W>): void {
    const waiter = queue.members[queue.next++];
    if (waiter === undefined) return;
    this.#granted.push(waiter);
    for (const [name, count] of queue.costs.tokens) this.#take(name, count, queue);
    for (const [name, count] of waiter.perThing) this.#takeOfThing(name, count);
  }

  #takeOfThing(name: string, count: number): void {
    const known = this.#known.get(name);
    if (known !== undefined)
      this.#buckets.set(name, { ...known, bucket: takeTokens(known.bucket, count, this.#now) });
  }

  #take(name: string, count: number, { priority, inFlight }: Queue<W>): void {
    const known = this.#buckets.get(name);
    if (known === undefined) return;
    const skipped: Partial<Record<Priority, number>> = { ...known.skipped };
    for (const other of this.#waitingFor(name)) skipped[other] = (skipped[other] ?? 0) + count;
    if (!inFlight) delete skipped[priority];
    this.#buckets.set(name, { ...known, bucket: takeTokens(known.bucket, count, this.#now), skipped });
  }

  #waitingFor(name: string): ReadonlySet<Priority> {
    const waiting = new Set<Priority>();
    for (const { costs, next, members, inFlight, priority } of this.#queues)
      if (costs.tokens.has(name) && next < members.length && !inFlight) waiting.add(priority);
    return waiting;
  }

  /** Resets the skip counts of priorities that no longer wait. */
  #withoutAbsent(name: string, known: GrantedBucket): GrantedBucket {
    const skipped = priorities.filter((priority) => known.skipped[priority] !== undefined);
    // In most buckets no priority was skipped and none waits.
    if (skipped.length === 0) return known;
    const waiting = this.#waitingFor(name);
    const kept = skipped.filter((priority) => waiting.has(priority));
    if (kept.length === skipped.length) return known;
    return { ...known, skipped: Object.fromEntries(kept.map((each) => [each, known.skipped[each]])) };
  }
}

function queuesOf<W extends Asking>(waiters: Iterable<W>): readonly Queue<W>[] {
  const queues: Queue<W>[] = [];
  const byCosts = new Map<SharedCosts, Map<Priority | 'inFlight', Queue<W>>>();
  let order = 0;
  for (const waiter of waiters) {
    const { costs, caller, inFlight } = waiter;
    const { priority } = caller;
    const alike = byCosts.get(costs) ?? new Map<Priority | 'inFlight', Queue<W>>();
    byCosts.set(costs, alike);
    let queue = alike.get(inFlight ? 'inFlight' : priority);
    if (queue === undefined) {
      queue = { members: [], orders: [], costs, priority, inFlight, next: 0 };
      alike.set(inFlight ? 'inFlight' : priority, queue);
      queues.push(queue);
    }
    queue.members.push(waiter);
    queue.orders.push(order++);
  }
  return queues;
}

function orderOf<W>({ orders, next }: Queue<W>): number {
  return orders[next] ?? Infinity;
}

/** The first call of a group is sent at once. A window relies on no delay: its maximum holds even if the next call is early. */
function followDelayOf({ later }: SharedCosts, buckets: Buckets, name: string): number {
  const known = later.has(name) ? buckets.get(name) : undefined;
  return known?.bucket.window === undefined ? (known?.followDelay ?? 0) * reliedOnShare : 0;
}

function reserveOf(priority: Priority, buckets: Buckets, name: string): number {
  return isPressing(priority) ? 0 : (buckets.get(name)?.bucket.capacity ?? 0) * reservedShare;
}

function untilFree(buckets: Buckets, name: string, count: number, now: number): number {
  const known = buckets.get(name);
  if (known === undefined) return 0;
  return Math.max(known.notBefore - now, untilTokens(known.bucket, count, now));
}
