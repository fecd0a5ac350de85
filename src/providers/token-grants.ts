// Who of those who wait for tokens gets them now: the most urgent first, in order of arrival, but so that nobody starves.
// Pure: the same waiters and buckets give the same grants.
//
// - What was begun is seen through before anything else begins: an interface that was created is to be attached.
// - What no pod waits for leaves the last fifth of a bucket to what a pod may wait for in a moment.
// - A class that waits gets every 20th token of a bucket at least, however many are more urgent.
import { type TokenBucket, takeTokens, untilTokens } from './token-bucket.ts';
import { isPressing, rankOf, type Urgency, urgencies } from './urgency.ts';

export interface Asking {
  /** Tokens wanted of each bucket, all at the same instant. Who wants the same is to have the same map. */
  readonly costs: ReadonlyMap<string, number>;
  readonly urgency: Urgency;
  /** Part of something that was begun. */
  readonly begun: boolean;
}

export interface GrantedBucket {
  readonly bucket: TokenBucket;
  /** Nothing is granted before, in monotonic ms: the cloud said so. */
  readonly notBefore: number;
  /**
   * How long after they are granted its calls are sent, in ms, where they are granted together with the calls that go
   * before them: what the bucket gains until then is there in time.
   */
  readonly lead: number;
  /** Tokens that others got since a class that waits got its last one. */
  readonly passedOver: Readonly<Partial<Record<Urgency, number>>>;
}

export interface Grants<W> {
  readonly granted: readonly W[];
  readonly buckets: ReadonlyMap<string, GrantedBucket>;
  /** How long until somebody of the rest can be served, in ms; Infinity if nobody waits for time alone. */
  readonly wait: number;
}

/** Some calls are sent earlier than most: that part of the lead is relied on. */
const bookedLead = 0.75;
/** The part of a bucket that is left to those whom pods wait for. */
const reservedShare = 0.2;
/** A class that waits is passed over by no more tokens in a row: one in 20 is its own. */
const mostPassedOver = 19;

/** `waiters` in order of arrival. */
export function grantsFor<W extends Asking>(
  waiters: Iterable<W>,
  buckets: ReadonlyMap<string, GrantedBucket>,
  now: number,
): Grants<W> {
  return new Round(waiters, buckets, now).run();
}

/** How long somebody would wait if nobody else did, in ms. */
export function untilAlone(
  { costs, urgency, begun }: Asking,
  buckets: ReadonlyMap<string, GrantedBucket>,
  now: number,
): number {
  const waits = [...costs].map(([name, count]) => {
    const left = begun ? 0 : reserveOf(urgency, buckets, name);
    return untilFree(buckets, name, count + left, now + leadOf(costs, buckets, name));
  });
  return Math.max(0, ...waits);
}

/** Those who want the same, equally badly: where the first of them must wait, the others must too. */
interface Line<W> {
  readonly members: W[];
  /** When each of them arrived, as a place in the order of all: apart, since thousands may wait while one token is granted. */
  readonly orders: number[];
  readonly costs: ReadonlyMap<string, number>;
  readonly urgency: Urgency;
  readonly begun: boolean;
  next: number;
}

class Round<W extends Asking> {
  readonly #now: number;
  readonly #buckets: Map<string, GrantedBucket>;
  readonly #lines: readonly Line<W>[];
  /** Tokens kept for those who must wait: who comes after them may take what is there beyond. */
  readonly #kept = new Map<string, number>();
  readonly #blocked = new Set<Line<W>>();
  readonly #granted: W[] = [];
  #wait = Infinity;

  constructor(waiters: Iterable<W>, buckets: ReadonlyMap<string, GrantedBucket>, now: number) {
    this.#now = now;
    this.#lines = linesOf(waiters);
    this.#buckets = new Map([...buckets].map(([name, bucket]) => [name, this.#withoutAbsent(name, bucket)]));
  }

  run(): Grants<W> {
    for (let line = this.#first(); line !== undefined; line = this.#first()) {
      const until = this.#until(line);
      if (until > 0) this.#block(line, until);
      else this.#grant(line);
    }
    return { granted: this.#granted, buckets: this.#buckets, wait: this.#wait };
  }

  #first(): Line<W> | undefined {
    let first: Line<W> | undefined;
    for (const line of this.#lines) {
      if (this.#blocked.has(line) || line.next >= line.members.length) continue;
      if (first === undefined || this.#precedes(line, first)) first = line;
    }
    return first;
  }

  #precedes(a: Line<W>, b: Line<W>): boolean {
    const [rankA, rankB] = [this.#rankOf(a), this.#rankOf(b)];
    return rankA === rankB ? orderOf(a) < orderOf(b) : rankA < rankB;
  }

  #rankOf(line: Line<W>): number {
    if (line.begun) return -2;
    return this.#isDue(line) ? -1 : rankOf(line.urgency);
  }

  /** Its class was passed over long enough. */
  #isDue({ costs, urgency }: Line<W>): boolean {
    return [...costs.keys()].some((name) => this.#passedOver(name, urgency) >= mostPassedOver);
  }

  #passedOver(name: string, urgency: Urgency): number {
    return this.#buckets.get(name)?.passedOver[urgency] ?? 0;
  }

  #until(line: Line<W>): number {
    const reserved = !line.begun && !this.#isDue(line);
    let until = 0;
    for (const [name, count] of line.costs) {
      const kept = this.#kept.get(name) ?? 0;
      const capacity = this.#buckets.get(name)?.bucket.capacity ?? Infinity;
      // It can go only after those for whom so much is kept.
      if (kept > 0 && kept + count > capacity) return Infinity;
      const left = reserved ? reserveOf(line.urgency, this.#buckets, name) : 0;
      until = Math.max(until, untilFree(this.#buckets, name, kept + count + left, this.#at(line, name)));
    }
    return until;
  }

  /** When its call of the bucket will be sent. */
  #at({ costs }: Line<W>, name: string): number {
    return this.#now + leadOf(costs, this.#buckets, name);
  }

  #block(line: Line<W>, until: number): void {
    this.#blocked.add(line);
    this.#wait = Math.min(this.#wait, until);
    // Otherwise a call that needs two tokens would be overtaken for ever by calls that need one.
    for (const [name, count] of line.costs) this.#kept.set(name, (this.#kept.get(name) ?? 0) + count);
  }

  #grant(line: Line<W>): void {
    const waiter = line.members[line.next++];
    if (waiter === undefined) return;
    this.#granted.push(waiter);
    for (const [name, count] of line.costs) this.#take(name, count, line);
  }

  #take(name: string, count: number, { urgency, begun }: Line<W>): void {
    const known = this.#buckets.get(name);
    if (known === undefined) return;
    const passedOver: Partial<Record<Urgency, number>> = { ...known.passedOver };
    for (const other of this.#waitingFor(name)) passedOver[other] = (passedOver[other] ?? 0) + count;
    if (!begun) delete passedOver[urgency];
    this.#buckets.set(name, { ...known, bucket: takeTokens(known.bucket, count, this.#now), passedOver });
  }

  #waitingFor(name: string): ReadonlySet<Urgency> {
    const waiting = this.#lines.filter(
      ({ costs, next, members, begun }) => costs.has(name) && next < members.length && !begun,
    );
    return new Set(waiting.map(({ urgency }) => urgency));
  }

  /** A class that does not wait any more has nothing due. */
  #withoutAbsent(name: string, known: GrantedBucket): GrantedBucket {
    const passedOver = urgencies.filter((urgency) => known.passedOver[urgency] !== undefined);
    // Of most buckets nobody was passed over, and nobody waits.
    if (passedOver.length === 0) return known;
    const waiting = this.#waitingFor(name);
    const kept = passedOver.filter((urgency) => waiting.has(urgency));
    if (kept.length === passedOver.length) return known;
    return { ...known, passedOver: Object.fromEntries(kept.map((each) => [each, known.passedOver[each]])) };
  }
}

function linesOf<W extends Asking>(waiters: Iterable<W>): readonly Line<W>[] {
  const lines = new Map<ReadonlyMap<string, number>, Map<Urgency | 'begun', Line<W>>>();
  let order = 0;
  for (const waiter of waiters) {
    const { costs, urgency, begun } = waiter;
    const alike = lines.get(costs) ?? new Map<Urgency | 'begun', Line<W>>();
    let line = alike.get(begun ? 'begun' : urgency);
    if (line === undefined) {
      line = { members: [], orders: [], costs, urgency, begun, next: 0 };
      alike.set(begun ? 'begun' : urgency, line);
      lines.set(costs, alike);
    }
    line.members.push(waiter);
    line.orders.push(order++);
  }
  return [...lines.values()].flatMap((alike) => [...alike.values()]);
}

function orderOf<W>({ orders, next }: Line<W>): number {
  return orders[next] ?? Infinity;
}

/** The first call of a group is sent at once. */
function leadOf(
  costs: ReadonlyMap<string, number>,
  buckets: ReadonlyMap<string, GrantedBucket>,
  name: string,
): number {
  const [first] = costs.keys();
  return name === first ? 0 : (buckets.get(name)?.lead ?? 0) * bookedLead;
}

function reserveOf(urgency: Urgency, buckets: ReadonlyMap<string, GrantedBucket>, name: string): number {
  return isPressing(urgency) ? 0 : (buckets.get(name)?.bucket.capacity ?? 0) * reservedShare;
}

function untilFree(
  buckets: ReadonlyMap<string, GrantedBucket>,
  name: string,
  count: number,
  now: number,
): number {
  const known = buckets.get(name);
  if (known === undefined) return 0;
  return Math.max(known.notBefore - now, untilTokens(known.bucket, count, now));
}
