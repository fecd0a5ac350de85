// Decides when a cloud call may be sent. Each limit is a token bucket, as the cloud keeps one, and part of it is ours. A
// call takes from all of its limits at one instant. Waiting calls are ordered by their priority at the time a token is
// granted, so a node whose pods start waiting moves ahead. A throttled call slows all callers of its limit.
import type { Clock } from '../../runtime/clock.ts';
import type { LimitedCall, LimitKey, LimitSizes } from './limit-key.ts';
import { type LimitFigures, LimitTable, nameOf } from './limit-table.ts';
import {
  limitAt,
  type RateLimit,
  whenAnswered,
  whenFirstSent,
  whenRefunded,
  whenGranted,
  whenNotReached,
  whenRemaining,
  whenRenewed,
  whenSent,
} from './rate-limit.ts';
import { type BucketSize, takeTokens, tokensAt } from './token-bucket.ts';
import { type Asking, grantsFor, type SharedCosts, untilAlone } from './token-scheduler.ts';
import { type Caller, rankOf, type Priority } from '../contract/priority.ts';

export interface RateLimiterOptions {
  readonly clock: Clock;
  /** Our part of each limit. */
  readonly sizes: LimitSizes;
  /** A bucket that every call takes from in addition to its own limits. */
  readonly overall: Omit<BucketSize, 'window'> | undefined;
}

/** A caller waiting for tokens. */
export interface TokenRequest {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Part of an operation in flight: it goes before anything new. */
  readonly inFlight?: boolean;
}

/** The cloud's answer to a call. */
export interface AnsweredCall {
  readonly call: LimitedCall;
  /** In monotonic ms. */
  readonly sentAt: number;
  readonly throttled: boolean;
  /** The limit that throttled it, if the answer says so; otherwise its most specific one is taken for it. */
  readonly limit?: LimitKey | undefined;
  /** How long the cloud asks us to wait, in ms. */
  readonly retryAfter: number | undefined;
}

/** The current state of a limit, or of the tightest one of those that share a name and limit single things. */
export interface BucketLevel extends LimitFigures {
  /** Name of the limit, which is the action where each action has one, and its resource. */
  readonly action: string;
  /** Number of waiting calls. */
  readonly waiting: Readonly<Partial<Record<Priority, number>>>;
}

/** The tokens that some calls take together. */
type Costs = Pick<Asking, 'costs' | 'perThing'>;

/** Name of the overall bucket; no limit of a cloud has it. */
const everything = '*';

export class RateLimiter {
  readonly #clock: Clock;
  readonly #table: LimitTable;
  /** Whether there is an overall bucket. */
  readonly #isOverall: boolean;
  /** By their limits, so that equal requests share one object. */
  readonly #costs = new Map<string, SharedCosts>();
  /** Calls that wait, in order of arrival, and how each learns that it has its tokens. */
  readonly #waiters = new Map<Asking, () => void>();
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor({ clock, sizes, overall }: RateLimiterOptions) {
    this.#clock = clock;
    const all = new Map(sizes);
    if (overall !== undefined) all.set(everything, { kind: 'bucket', ...overall });
    this.#table = new LimitTable(clock, all);
    this.#isOverall = this.#table.resolve({ name: everything }) !== undefined;
  }

  /**
   * Waits for the tokens of all `calls`, taken at the same instant: request dependent calls together, in the order of
   * sending. Rejects with the signal's reason and then takes nothing. Resolves to a function that refunds once, for all
   * calls or some that are not sent.
   */
  async tokens(
    calls: readonly LimitedCall[],
    request: TokenRequest,
  ): Promise<(unsent?: readonly LimitedCall[]) => void> {
    await this.#wait(this.#costsOf(calls), request);
    let held = true;
    return (unsent = calls) => {
      if (!held) return;
      held = false;
      this.refund(unsent);
    };
  }

  /** Refunds the tokens of `calls`, which were not sent. */
  refund(calls: readonly LimitedCall[]): void {
    for (const [id, count] of tokensOf(this.#costsOf(calls)))
      this.#table.change(id, (limit, now) => whenRefunded(limit, count, now));
    this.reconsider();
  }

  /** A call that counts as sent never reached the cloud. */
  notReached(call: LimitedCall): void {
    for (const [id] of tokensOf(this.#costsOf([call]))) this.#table.change(id, whenNotReached);
    this.reconsider();
  }

  /** A granted call has been sent. */
  sent(call: LimitedCall): void {
    const costs = this.#costsOf([call]);
    const followers = this.#followersOf(costs);
    for (const [id] of tokensOf(costs)) this.#table.change(id, whenSent);
    for (const id of followers) this.#table.change(id, whenFirstSent);
  }

  /**
   * Whether a granted call must not be sent, because a bucket of the cloud has since proved empty, or the window of the
   * token has ended.
   */
  isVoid(call: LimitedCall): boolean {
    return this.#voidOf(call).length > 0;
  }

  /** Waits for other tokens to replace the void ones. Rejects with the signal's reason; they then stay void. */
  async renew(call: LimitedCall, request: TokenRequest): Promise<void> {
    const limits = this.#voidOf(call);
    // They queue apart from new calls, which they keep their tokens from.
    const costs = this.#costsOf([{ limits }], 'renewed');
    for (const [id] of tokensOf(costs)) this.#table.change(id, (limit) => whenRenewed(limit, 1));
    try {
      await this.#wait(costs, request);
    } catch (error) {
      for (const [id] of tokensOf(costs)) this.#table.change(id, (limit) => whenRenewed(limit, -1));
      throw error;
    }
  }

  /** Updates the learned ratios from an answer of the cloud. */
  answered({ call, sentAt, throttled, limit: named, retryAfter = 0 }: AnsweredCall): void {
    const [mostSpecific] = call.limits;
    const limits = throttled ? [named ?? mostSpecific] : call.limits;
    for (const key of limits) {
      this.#change(key, (limit, now) => whenAnswered(limit, { sentAt, throttled, retryAfter }, now));
    }
    if (throttled) this.reconsider();
  }

  /** The cloud says that it would admit `count` further calls by this limit, from all its users. */
  remaining(key: LimitKey, count: number): void {
    this.#change(key, (limit, now) => whenRemaining(limit, count, now));
  }

  /** Reorders the queue. Call it when the priority of a waiting call has risen. */
  reconsider(): void {
    if (this.#waiters.size > 0) {
      this.#arm(0);
      return;
    }
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Estimates how long these calls would wait if requested now, in ms. */
  expectedWait(calls: readonly LimitedCall[], priority: Priority): number {
    const now = this.#clock.monotonic();
    const waits = tokensOf(this.#costsOf(calls)).map(([id, count]) => {
      const limit = this.#table.get(id);
      if (limit === undefined) return 0;
      const ahead = [...this.#waiters.keys()]
        .filter((waiter) => rankOf(waiter.caller.priority) <= rankOf(priority))
        .reduce((sum, waiter) => sum + wantedOf(waiter, id), 0);
      const missing = ahead + count - tokensAt(limit.bucket, now);
      return Math.max(0, limit.notBefore - now, (missing / limit.bucket.refill) * 1000);
    });
    return Math.max(0, ...waits);
  }

  /** The limits that one of each of these calls spends from together, by the names of their levels. */
  limitsOf(calls: readonly LimitedCall[]): readonly string[] {
    const { costs, perThing } = this.#costsOf(calls);
    const ofThings = [...perThing].map(([id, count]) => [nameOf(id), count] as const);
    return [...costs.tokens, ...ofThings].flatMap(([name, count]) =>
      Array.from({ length: count }, () => name),
    );
  }

  /** The current state of every limit. */
  levels(): readonly BucketLevel[] {
    return this.#table
      .figures()
      .map(([id, figures]) => ({ action: id, ...figures, waiting: this.#waitingFor(id) }));
  }

  #waitingFor(id: string): Partial<Record<Priority, number>> {
    const waiting: Partial<Record<Priority, number>> = {};
    for (const { costs, perThing, caller } of this.#waiters.keys()) {
      const waits = costs.tokens.has(id) || [...perThing.keys()].some((each) => nameOf(each) === id);
      if (waits) waiting[caller.priority] = (waiting[caller.priority] ?? 0) + 1;
    }
    return waiting;
  }

  #wait(costs: Costs, { caller, signal, inFlight = false }: TokenRequest): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const waiter: Asking = { ...costs, caller, inFlight };
    const now = this.#clock.monotonic();
    const until = untilAlone(waiter, { get: (id) => this.#limitAt(id, now) }, now);
    if (until === 0 && this.#waiters.size === 0) {
      this.#take(waiter, now);
      return Promise.resolve();
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      this.#waiters.delete(waiter);
      reject(signal.reason as Error);
      // This waiter may have blocked others.
      this.reconsider();
    };
    const grant = (): void => {
      this.#waiters.delete(waiter);
      signal.removeEventListener('abort', leave);
      resolve();
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiters.set(waiter, grant);
    // If it could not proceed even with an empty queue, skip scanning the queue.
    if (until > 0) this.#arm(until);
    else this.#grant();
    return promise;
  }

  /** A limit at its present size. */
  #limitAt(id: string, now: number): RateLimit | undefined {
    const limit = this.#table.get(id);
    return limit && limitAt(limit, now);
  }

  /** Takes tokens that are there while nobody waits. */
  #take(costs: Costs, now: number): void {
    for (const [id, count] of tokensOf(costs)) {
      const limit = this.#limitAt(id, now);
      if (limit === undefined) continue;
      const bucket = takeTokens(limit.bucket, count, now);
      this.#table.change(id, () => ({ ...limit, bucket, skipped: {} }));
    }
    this.#note(costs, now);
  }

  #grant(): void {
    const now = this.#clock.monotonic();
    const shared = this.#table.shared();
    const ofThing = (id: string): RateLimit | undefined => this.#limitAt(id, now);
    const { granted, buckets, wait } = grantsFor(this.#waiters.keys(), { shared, ofThing }, now);
    for (const [id, after] of buckets)
      if (after !== shared.get(id)) this.#table.change(id, (limit) => ({ ...limit, ...after }));
    for (const costs of granted) this.#note(costs, now);
    this.#timer?.cancel();
    this.#timer = undefined;
    if (wait < Infinity) this.#arm(wait);
    for (const waiter of granted) this.#waiters.get(waiter)?.();
  }

  /**
   * Records tokens granted at `now` whose calls are still to be sent, one after the other. A window finds a token again by
   * that time.
   */
  #note(costs: Costs, now: number): void {
    const [first] = costs.costs.tokens.keys();
    for (const [id, count] of tokensOf(costs)) {
      const followers = id === first ? [...costs.costs.later] : [];
      this.#table.change(id, (limit) => whenGranted(limit, { count, followers }, now));
    }
  }

  /** Limits whose tokens wait for this call to be sent. */
  #followersOf({ costs }: Costs): readonly string[] {
    const [first = ''] = costs.tokens.keys();
    return this.#table.get(first)?.unsent[0]?.followers ?? [];
  }

  #voidOf({ limits }: LimitedCall): readonly LimitKey[] {
    const now = this.#clock.monotonic();
    return limits.filter((key) => {
      const known = this.#table.resolve(key);
      const limit = known && this.#table.get(known.id);
      return limit !== undefined && limitAt(limit, now).voided > 0;
    });
  }

  #change(key: LimitKey | undefined, change: Parameters<LimitTable['change']>[1]): void {
    const limit = key && this.#table.resolve(key);
    if (limit !== undefined) this.#table.change(limit.id, change);
  }

  /** Schedules the next scan of the queue in `ms` at the latest. */
  #arm(ms: number): void {
    const at = this.#clock.monotonic() + ms;
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.cancel();
    const grant = (): void => {
      this.#timer = undefined;
      this.#grant();
    };
    // Waiting calls may have the highest priority of all work, so this timer goes first.
    const cancel = this.#clock.schedule(ms, grant, true);
    this.#timer = { at, cancel };
  }

  /** A call whose tokens are renewed keeps the one of the overall bucket. */
  #costsOf(calls: readonly LimitedCall[], how: 'granted' | 'renewed' = 'granted'): Costs {
    const shared: (readonly string[])[] = [];
    const perThing: string[] = [];
    for (const { limits } of calls) {
      const ids: string[] = [];
      for (const key of limits) {
        const limit = this.#table.resolve(key);
        if (limit !== undefined) (limit.isPerThing ? perThing : ids).push(limit.id);
      }
      shared.push(ids);
    }
    const key = JSON.stringify([how, shared]);
    const costs = this.#costs.get(key) ?? sharedCostsOf(shared, this.#isOverall && how === 'granted');
    this.#costs.set(key, costs);
    return { costs, perThing: counted(perThing) };
  }
}

/** `calls`: ids of the limits of each, in the order of sending. `isOverall`: each also takes from the overall bucket. */
function sharedCostsOf(calls: readonly (readonly string[])[], isOverall: boolean): SharedCosts {
  const [first = [], ...others] = calls;
  const tokens = counted(calls.flat());
  // The overall bucket comes last: the first one has the calls that follow.
  if (isOverall && calls.length > 0) tokens.set(everything, calls.length);
  const later = first.length === 0 ? [] : others.flat().filter((id) => !first.includes(id));
  return { tokens, later: new Set(later) };
}

function counted(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** Every token of it, by limit. */
function tokensOf({ costs, perThing }: Costs): readonly (readonly [id: string, count: number])[] {
  return perThing.size === 0 ? [...costs.tokens] : [...costs.tokens, ...perThing];
}

function wantedOf({ costs, perThing }: Costs, id: string): number {
  return costs.tokens.get(id) ?? perThing.get(id) ?? 0;
}
