// When a cloud call may go. Each action has its own token bucket, as the cloud keeps one, and a part of it is ours. Who
// waits is ordered by urgency, which is read when a token is granted, not when the wait began: a node whose pods began
// to wait in the meantime moves ahead. A throttled call slows all callers of its bucket.
import type { Clock } from '../scheduling/clock.ts';
import { shareAt } from './learned-share.ts';
import {
  limitAt,
  type RateLimit,
  unusedLimit,
  whenAnswered,
  whenGivenBack,
  whenGranted,
  whenRenewed,
  whenSent,
  whenStarted,
} from './rate-limit.ts';
import { type BucketSize, tokensAt } from './token-bucket.ts';
import { type Asking, grantsFor, untilAlone } from './token-grants.ts';
import { rankOf, type Urgency } from './urgency.ts';

export interface CallBudgetOptions {
  readonly clock: Clock;
  /** The bucket of each action, as far as it is ours to use; an action without one is not limited. */
  readonly sizes: ReadonlyMap<string, BucketSize>;
  /** A bucket that every call takes from, besides its own. */
  readonly overall: BucketSize | undefined;
}

/** Who asks for tokens. */
export interface TokenRequest {
  readonly urgency: () => Urgency;
  readonly signal: AbortSignal;
  /** Part of something that was begun: it goes before whatever was not. */
  readonly begun?: boolean;
}

/** What the cloud said to a call. */
export interface AnsweredCall {
  readonly action: string;
  /** In monotonic ms. */
  readonly sentAt: number;
  readonly throttled: boolean;
  /** How long the cloud asks to be left alone, in ms. */
  readonly retryAfter: number | undefined;
}

/** A bucket as it is now. */
export interface BucketLevel {
  readonly action: string;
  readonly tokens: number;
  readonly capacity: number;
  readonly refillPerSecond: number;
  /** The part of what is ours by configuration that throttled calls have left; 1 is all of it. */
  readonly learnedShare: number;
  readonly throttled: number;
  /** How many calls wait for it. */
  readonly waiting: Readonly<Partial<Record<Urgency, number>>>;
}

class Waiter implements Asking {
  readonly costs: ReadonlyMap<string, number>;
  readonly begun: boolean;
  readonly grant: () => void;
  readonly #urgency: () => Urgency;

  constructor(costs: ReadonlyMap<string, number>, request: TokenRequest, grant: () => void) {
    this.costs = costs;
    this.begun = request.begun ?? false;
    this.#urgency = request.urgency;
    this.grant = grant;
  }

  get urgency(): Urgency {
    return this.#urgency();
  }
}

/** The name under which the overall bucket is kept; no action has it. */
const everything = '*';

export class CallBudget {
  readonly #clock: Clock;
  readonly #limits: Map<string, RateLimit>;
  /** By the actions asked for, so that those who want the same have the same map. */
  readonly #costs = new Map<string, ReadonlyMap<string, number>>();
  /** In order of arrival. */
  readonly #waiters = new Set<Waiter>();
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor({ clock, sizes, overall }: CallBudgetOptions) {
    this.#clock = clock;
    const now = clock.monotonic();
    const all = [...sizes, ...(overall === undefined ? [] : [[everything, overall] as const])];
    this.#limits = new Map(all.map(([name, size]) => [name, unusedLimit(size, now)]));
  }

  /**
   * Waits for one token of each of `actions`, taken at the same instant: calls that make no sense without each other
   * are asked for together. Rejects with the signal's reason, and then takes nothing. The function it resolves to gives
   * tokens back once, all of them or those of some actions, for calls that are not made after all.
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
      this.giveBack(unsent);
    };
  }

  /** Gives a token of each of `actions` back: those calls were not sent. */
  giveBack(actions: readonly string[]): void {
    for (const [name, count] of this.#costsOf(actions))
      this.#change(name, (limit, now) => whenGivenBack(limit, count, now));
    this.reconsider();
  }

  /** A call that was granted has been sent. */
  sent(action: string): void {
    const [{ followers } = { followers: [] }] = this.#limits.get(action)?.unsent ?? [];
    for (const name of this.#costsOf([action]).keys()) this.#change(name, whenSent);
    for (const name of followers) this.#change(name, whenStarted);
  }

  /** Whether a call that was granted must not be sent: the cloud's bucket turned out to be empty since then. */
  isVoid(action: string): boolean {
    return (this.#limits.get(action)?.voided ?? 0) > 0;
  }

  /** Waits for another token in place of a void one. Rejects with the signal's reason: the token is void then as before. */
  async renew(action: string, request: TokenRequest): Promise<void> {
    this.#change(action, (limit) => whenRenewed(limit, 1));
    try {
      await this.#wait(this.#alone(action), request);
    } catch (error) {
      this.#change(action, (limit) => whenRenewed(limit, -1));
      throw error;
    }
  }

  /** Takes an answer of the cloud into what is known of the rate that is there for us. */
  answered({ action, sentAt, throttled, retryAfter = 0 }: AnsweredCall): void {
    this.#change(action, (limit, now) => whenAnswered(limit, { sentAt, throttled, retryAfter }, now));
    if (throttled) this.reconsider();
  }

  /** Decides anew who goes next: to be called when the urgency of a call that waits has risen. */
  reconsider(): void {
    if (this.#waiters.size > 0) {
      this.#arm(0);
      return;
    }
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** About how long calls of these actions would wait if they were asked for now, in ms. */
  expectedWait(actions: readonly string[], urgency: Urgency): number {
    const now = this.#clock.monotonic();
    const waits = [...this.#costsOf(actions)].map(([name, count]) => {
      const bucket = this.#limits.get(name);
      if (bucket === undefined) return 0;
      const ahead = sum(
        [...this.#waiters].map(({ costs, urgency: other }) =>
          rankOf(other) <= rankOf(urgency) ? (costs.get(name) ?? 0) : 0,
        ),
      );
      const lacking = ahead + count - tokensAt(bucket.bucket, now);
      return Math.max(0, bucket.notBefore - now, (lacking / bucket.bucket.refill) * 1000);
    });
    return Math.max(0, ...waits);
  }

  /** Every bucket as it is now, by its action. */
  levels(): readonly BucketLevel[] {
    const now = this.#clock.monotonic();
    return [...this.#limits].map(([name, known]) => {
      const { bucket, learned, throttled } = limitAt(known, now);
      return {
        action: name,
        tokens: tokensAt(bucket, now),
        capacity: bucket.capacity,
        refillPerSecond: bucket.refill,
        learnedShare: shareAt(learned, now),
        throttled,
        waiting: this.#waitingFor(name),
      };
    });
  }

  #waitingFor(name: string): Partial<Record<Urgency, number>> {
    const waiting: Partial<Record<Urgency, number>> = {};
    for (const { costs, urgency } of this.#waiters) {
      if (costs.has(name)) waiting[urgency] = (waiting[urgency] ?? 0) + 1;
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
        // Others may have stood behind it.
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

  /** Where not even nobody else's waiting would let it go, those who wait need not be looked through. */
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

  /** Tokens that were granted now and whose calls are still to be sent, one after the other. */
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

  /** Looks at who waits again, in `ms` at the latest. */
  #arm(ms: number): void {
    const at = this.#clock.monotonic() + ms;
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.cancel();
    const grant = (): void => {
      this.#timer = undefined;
      this.#grant();
    };
    // Those who wait for tokens may be the most urgent of all.
    const cancel = this.#clock.schedule(ms, grant, true);
    this.#timer = { at, cancel };
  }

  #costsOf(actions: readonly string[]): ReadonlyMap<string, number> {
    return this.#sameCosts(actions.join(' '), [...actions, ...actions.map(() => everything)]);
  }

  /** A token of its own bucket alone. */
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
