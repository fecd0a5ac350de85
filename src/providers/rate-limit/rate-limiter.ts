// Decides when a cloud call may be sent. Each action has a token bucket, as the cloud keeps one, and part of it is
// ours. Waiting calls are ordered by their priority at the time a token is granted, so a node whose pods start waiting
// moves ahead. A throttled call slows all callers of its bucket.
import type { Clock } from '../../runtime/clock.ts';
import { ratioAt } from './learned-ratio.ts';
import {
  limitAt,
  type RateLimit,
  unusedLimit,
  whenAnswered,
  whenFirstSent,
  whenRefunded,
  whenGranted,
  whenRenewed,
  whenSent,
} from './rate-limit.ts';
import { type BucketSize, tokensAt } from './token-bucket.ts';
import { type Asking, grantsFor, untilAlone } from './token-scheduler.ts';
import { rankOf, type Priority } from '../contract/priority.ts';

export interface RateLimiterOptions {
  readonly clock: Clock;
  /** Our part of each action's bucket. An action without a bucket is not limited. */
  readonly sizes: ReadonlyMap<string, BucketSize>;
  /** A bucket that every call takes from in addition to its own. */
  readonly overall: BucketSize | undefined;
}

/** One caller waiting for tokens. */
export interface TokenRequest {
  readonly priority: () => Priority;
  readonly signal: AbortSignal;
  /** Part of an operation in flight: it goes before anything new. */
  readonly inFlight?: boolean;
}

/** The cloud's answer to a call. */
export interface AnsweredCall {
  readonly action: string;
  /** In monotonic ms. */
  readonly sentAt: number;
  readonly throttled: boolean;
  /** How long the cloud asks us to wait, in ms. */
  readonly retryAfter: number | undefined;
}

/** The current state of a bucket. */
export interface BucketLevel {
  readonly action: string;
  readonly tokens: number;
  readonly capacity: number;
  readonly refillPerSecond: number;
  /** The learned ratio: what throttled calls have left of our quota, from 0 to 1. */
  readonly learnedRatio: number;
  readonly throttled: number;
  /** Number of waiting calls. */
  readonly waiting: Readonly<Partial<Record<Priority, number>>>;
}

class Waiter implements Asking {
  readonly costs: ReadonlyMap<string, number>;
  readonly inFlight: boolean;
  readonly grant: () => void;
  readonly #priority: () => Priority;

  constructor(costs: ReadonlyMap<string, number>, request: TokenRequest, grant: () => void) {
    this.costs = costs;
    this.inFlight = request.inFlight ?? false;
    this.#priority = request.priority;
    this.grant = grant;
  }

  get priority(): Priority {
    return this.#priority();
  }
}

/** Key of the overall bucket; no action has this name. */
const everything = '*';

export class RateLimiter {
  readonly #clock: Clock;
  readonly #limits: Map<string, RateLimit>;
  /** By the requested actions, so that equal requests share one map. */
  readonly #costs = new Map<string, ReadonlyMap<string, number>>();
  /** In order of arrival. */
  readonly #waiters = new Set<Waiter>();
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor({ clock, sizes, overall }: RateLimiterOptions) {
    this.#clock = clock;
    const now = clock.monotonic();
    const all = [...sizes, ...(overall === undefined ? [] : [[everything, overall] as const])];
    this.#limits = new Map(all.map(([name, size]) => [name, unusedLimit(size, now)]));
  }

  /**
   * Waits for one token of each of `actions`, all taken at the same instant: request dependent calls together. Rejects
   * with the signal's reason and then takes nothing. Resolves to a function that refunds once, all tokens or those of
   * some actions, for calls that are not sent.
   */
  async tokens(
    actions: readonly string[],
    request: TokenRequest,
  ): Promise<(unsent?: readonly string[]) => void> {
    await this.#wait(this.#costsOf(actions), request);
    let held = true;
    return (unsent = actions) => {
      if (!held) return;
      held = false;
      this.refund(unsent);
    };
  }

  /** Refunds one token of each of `actions`: these calls were not sent. */
  refund(actions: readonly string[]): void {
    for (const [name, count] of this.#costsOf(actions))
      this.#change(name, (limit, now) => whenRefunded(limit, count, now));
    this.reconsider();
  }

  /** A granted call has been sent. */
  sent(action: string): void {
    const [{ followers } = { followers: [] }] = this.#limits.get(action)?.unsent ?? [];
    for (const name of this.#costsOf([action]).keys()) this.#change(name, whenSent);
    for (const name of followers) this.#change(name, whenFirstSent);
  }

  /** Whether a granted call must not be sent, because the cloud's bucket has since proved empty. */
  isVoid(action: string): boolean {
    return (this.#limits.get(action)?.voided ?? 0) > 0;
  }

  /** Waits for another token to replace a void one. Rejects with the signal's reason; the token then stays void. */
  async renew(action: string, request: TokenRequest): Promise<void> {
    this.#change(action, (limit) => whenRenewed(limit, 1));
    try {
      await this.#wait(this.#alone(action), request);
    } catch (error) {
      this.#change(action, (limit) => whenRenewed(limit, -1));
      throw error;
    }
  }

  /** Updates the learned ratio from an answer of the cloud. */
  answered({ action, sentAt, throttled, retryAfter = 0 }: AnsweredCall): void {
    this.#change(action, (limit, now) => whenAnswered(limit, { sentAt, throttled, retryAfter }, now));
    if (throttled) this.reconsider();
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

  /** Estimates how long calls of these actions would wait if requested now, in ms. */
  expectedWait(actions: readonly string[], priority: Priority): number {
    const now = this.#clock.monotonic();
    const waits = [...this.#costsOf(actions)].map(([name, count]) => {
      const bucket = this.#limits.get(name);
      if (bucket === undefined) return 0;
      const ahead = sum(
        [...this.#waiters].map(({ costs, priority: other }) =>
          rankOf(other) <= rankOf(priority) ? (costs.get(name) ?? 0) : 0,
        ),
      );
      const missing = ahead + count - tokensAt(bucket.bucket, now);
      return Math.max(0, bucket.notBefore - now, (missing / bucket.bucket.refill) * 1000);
    });
    return Math.max(0, ...waits);
  }

  /** The current state of every bucket, by action. */
  levels(): readonly BucketLevel[] {
    const now = this.#clock.monotonic();
    return [...this.#limits].map(([name, known]) => {
      const { bucket, learnedRatio, throttled } = limitAt(known, now);
      return {
        action: name,
        tokens: tokensAt(bucket, now),
        capacity: bucket.capacity,
        refillPerSecond: bucket.refill,
        learnedRatio: ratioAt(learnedRatio, now),
        throttled,
        waiting: this.#waitingFor(name),
      };
    });
  }

  #waitingFor(name: string): Partial<Record<Priority, number>> {
    const waiting: Partial<Record<Priority, number>> = {};
    for (const { costs, priority } of this.#waiters) {
      if (costs.has(name)) waiting[priority] = (waiting[priority] ?? 0) + 1;
    }
    return waiting;
  }

  #wait(costs: ReadonlyMap<string, number>, request: TokenRequest): Promise<void> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const leave = (): void => {
        this.#waiters.delete(waiter);
        reject(signal.reason as Error);
        // This waiter may have blocked others.
        this.reconsider();
      };
      const waiter = new Waiter(costs, request, () => {
        this.#waiters.delete(waiter);
        signal.removeEventListener('abort', leave);
        resolve();
      });
      signal.addEventListener('abort', leave, { once: true });
      this.#waiters.add(waiter);
      this.#arrive(waiter);
    });
  }

  /** If it could not proceed even with an empty queue, skip scanning the queue. */
  #arrive(waiter: Waiter): void {
    const now = this.#clock.monotonic();
    const until = untilAlone(waiter, this.#limits, now);
    if (until > 0) this.#arm(until);
    else this.#grant();
  }

  #grant(): void {
    const now = this.#clock.monotonic();
    for (const name of this.#limits.keys()) this.#change(name, limitAt);
    const { granted, buckets, wait } = grantsFor(this.#waiters, this.#limits, now);
    for (const [name, after] of buckets)
      if (after !== this.#limits.get(name)) this.#change(name, (limit) => ({ ...limit, ...after }));
    for (const { costs } of granted) this.#note(costs);
    this.#timer?.cancel();
    this.#timer = undefined;
    if (wait < Infinity) this.#arm(wait);
    for (const { grant } of granted) grant();
  }

  /** Records tokens granted now whose calls are still to be sent, one after the other. */
  #note(costs: ReadonlyMap<string, number>): void {
    const [first, ...others] = costs.keys();
    for (const [name, count] of costs) {
      const followers = name === first ? others.filter((other) => other !== everything) : [];
      this.#change(name, (limit, now) => whenGranted(limit, { count, followers }, now));
    }
  }

  #change(name: string, change: (limit: RateLimit, now: number) => RateLimit): void {
    const limit = this.#limits.get(name);
    if (limit !== undefined) this.#limits.set(name, change(limit, this.#clock.monotonic()));
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

  #costsOf(actions: readonly string[]): ReadonlyMap<string, number> {
    return this.#sameCosts(actions.join(' '), [...actions, ...actions.map(() => everything)]);
  }

  /** One token of the action's own bucket, without the overall bucket. */
  #alone(action: string): ReadonlyMap<string, number> {
    return this.#sameCosts(`${action} alone`, [action]);
  }

  #sameCosts(key: string, buckets: readonly string[]): ReadonlyMap<string, number> {
    const known = this.#costs.get(key);
    if (known !== undefined) return known;
    const costs = new Map<string, number>();
    for (const name of buckets) {
      if (this.#limits.has(name)) costs.set(name, (costs.get(name) ?? 0) + 1);
    }
    this.#costs.set(key, costs);
    return costs;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
