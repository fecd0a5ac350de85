// Which cloud call goes next. Each action has its own token bucket, as the cloud keeps one; requests in flight are
// bounded by slots. Who waits is ordered by urgency, and urgency is read when a token is granted, not when the wait
// began: a node whose pods began to wait in the meantime moves ahead.
import type { Clock } from '../scheduling/clock.ts';
import { type BucketSize, fullBucket, takeTokens, type TokenBucket, untilTokens } from './token-bucket.ts';

/** How badly a call is needed, most urgent first. */
export const urgencies = ['starving', 'waiting', 'toppingUp', 'release', 'housekeeping'] as const;
export type Urgency = (typeof urgencies)[number];

export interface CallBudgetOptions {
  readonly clock: Clock;
  /** Most requests in flight at once. */
  readonly slots: number;
  /** The bucket of each action; an action without one is not limited. */
  readonly bucketOf: (action: string) => BucketSize | undefined;
  /** A bucket that every call takes from, besides its own. */
  readonly overall: BucketSize | undefined;
}

interface Waiter {
  readonly actions: readonly string[];
  /** Tokens wanted of each bucket that there is. */
  readonly costs: ReadonlyMap<string, number>;
  readonly urgency: () => Urgency;
  readonly grant: () => void;
}

/** The name under which the overall bucket is kept; no action has it. */
const everything = '*';

export class CallBudget {
  readonly #options: CallBudgetOptions;
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #tokenWaiters: Waiter[] = [];
  readonly #slotWaiters: Waiter[] = [];
  #free: number;
  #cancelTimer: (() => void) | undefined;

  constructor(options: CallBudgetOptions) {
    this.#options = options;
    this.#free = options.slots;
  }

  /**
   * Waits for one token of each of `actions`, taken at the same instant: calls that make no sense without each other
   * are asked for together. Rejects with the signal's reason, and then takes nothing. The function it resolves to gives
   * the tokens back, for calls that are not made after all.
   */
  async tokens(actions: readonly string[], urgency: () => Urgency, signal: AbortSignal): Promise<() => void> {
    const costs = this.#costs(actions);
    await this.#wait(this.#tokenWaiters, { actions, costs, urgency }, signal, () => this.#grantTokens());
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const now = this.#options.clock.monotonic();
      for (const [name, count] of costs) this.#take(name, -count, now);
      this.#grantTokens();
    };
  }

  /** Waits for a place among the requests in flight; the function it resolves to gives the place back. */
  async slot(urgency: () => Urgency, signal: AbortSignal): Promise<() => void> {
    const want = { actions: [], costs: new Map<string, number>(), urgency };
    await this.#wait(this.#slotWaiters, want, signal, () => this.#grantSlots());
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#free++;
      this.#grantSlots();
    };
  }

  /** Requests in flight now. */
  get inFlight(): number {
    return this.#options.slots - this.#free;
  }

  /** Calls that wait for a token of `action` now. */
  waiting(action: string): number {
    return this.#tokenWaiters.filter((waiter) => waiter.actions.includes(action)).length;
  }

  #wait(
    queue: Waiter[],
    want: Omit<Waiter, 'grant'>,
    signal: AbortSignal,
    grantDue: () => void,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const leave = (): void => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(signal.reason as Error);
        // Others may have stood behind it.
        grantDue();
      };
      const waiter: Waiter = {
        ...want,
        grant: () => {
          queue.splice(queue.indexOf(waiter), 1);
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      queue.push(waiter);
      grantDue();
    });
  }

  #grantSlots(): void {
    for (const waiter of inOrder(this.#slotWaiters)) {
      if (this.#free === 0) return;
      this.#free--;
      waiter.grant();
    }
  }

  #grantTokens(): void {
    const now = this.#options.clock.monotonic();
    // Whoever must wait keeps its tokens of every bucket that it needs: those who come after it may take what is there
    // beyond them. Otherwise a call that needs two tokens would be overtaken for ever by calls that need one.
    const kept = new Map<string, number>();
    let wait = Infinity;
    for (const waiter of inOrder(this.#tokenWaiters)) {
      const until = this.#until(waiter, kept, now);
      if (until > 0) {
        wait = Math.min(wait, until);
        for (const [name, count] of waiter.costs) kept.set(name, (kept.get(name) ?? 0) + count);
        continue;
      }
      for (const [name, count] of waiter.costs) this.#take(name, count, now);
      waiter.grant();
    }
    this.#cancelTimer?.();
    this.#cancelTimer =
      wait === Infinity ? undefined : this.#options.clock.schedule(wait, () => this.#grantTokens());
  }

  /** Infinity where those ahead of it keep so much that it can go only after them. */
  #until(waiter: Waiter, kept: ReadonlyMap<string, number>, now: number): number {
    let until = 0;
    for (const [name, count] of waiter.costs) {
      const bucket = this.#bucket(name, now);
      const ahead = kept.get(name) ?? 0;
      if (ahead > 0 && ahead + count > bucket.capacity) return Infinity;
      until = Math.max(until, untilTokens(bucket, ahead + count, now));
    }
    return until;
  }

  #take(name: string, count: number, now: number): void {
    this.#buckets.set(name, takeTokens(this.#bucket(name, now), count, now));
  }

  #bucket(name: string, now: number): TokenBucket {
    const size = this.#sizeOf(name);
    if (size === undefined) throw new RangeError(`there is no bucket ${name}`);
    return this.#buckets.get(name) ?? fullBucket(size, now);
  }

  #sizeOf(name: string): BucketSize | undefined {
    return name === everything ? this.#options.overall : this.#options.bucketOf(name);
  }

  #costs(actions: readonly string[]): ReadonlyMap<string, number> {
    const costs = new Map<string, number>();
    for (const name of [...actions, ...actions.map(() => everything)]) {
      if (this.#sizeOf(name) !== undefined) costs.set(name, (costs.get(name) ?? 0) + 1);
    }
    return costs;
  }
}

/** Most urgent first, then in order of arrival. */
function inOrder(waiters: readonly Waiter[]): Waiter[] {
  const ranked = waiters.map((waiter) => ({ waiter, rank: urgencies.indexOf(waiter.urgency()) }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ waiter }) => waiter);
}
