// Answers many requests with few calls: what is asked for within a short window goes into one call. A batch that fails is
// tried again in smaller ones, so that one bad key cannot hold the others back.
import type { BackoffPolicy } from './exponential-backoff.ts';
import { FailureStreak } from './failure-streak.ts';
import { type Clock, sleep } from './clock.ts';
import type { Random } from './random.ts';

export interface BatcherOptions<K> {
  readonly clock: Clock;
  readonly random: Random;
  /** How long the first request waits for others, in ms. */
  readonly window: number;
  /** Most keys of one call. */
  readonly most: number;
  readonly backoff: BackoffPolicy;
  /** Makes one call. Rejecting means that all of its keys are to be asked for again. */
  readonly run: (keys: readonly K[], signal: AbortSignal) => Promise<void>;
  readonly onFailure: (error: unknown, keys: readonly K[]) => void;
}

interface Request {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

export class Batcher<K> {
  readonly #options: BatcherOptions<K>;
  readonly #stopping = new AbortController();
  readonly #pending = new Map<K, Request>();
  #size: number;
  readonly #streak: FailureStreak;
  #worker: Promise<void> | undefined;

  constructor(options: BatcherOptions<K>) {
    this.#options = options;
    this.#streak = new FailureStreak(options.backoff, options);
    this.#size = options.most;
  }

  /**
   * Resolves once a call that began after this request has answered for `key`, however many attempts that takes; stays
   * open for ever once stopped.
   */
  request(key: K): Promise<void> {
    const known = this.#pending.get(key);
    if (known !== undefined) return known.promise;
    const request = Promise.withResolvers<void>();
    this.#pending.set(key, request);
    this.#worker ??= this.#work();
    return request.promise;
  }

  /** Aborts the call under way and makes no other; resolves once it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#worker;
  }

  async #work(): Promise<void> {
    const { clock, window } = this.#options;
    const { signal } = this.#stopping;
    try {
      while (this.#pending.size > 0) {
        await sleep(clock, Math.max(window, this.#streak.until - clock.monotonic()), signal);
        await this.#call(signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#worker = undefined;
    }
  }

  async #call(signal: AbortSignal): Promise<void> {
    const { run, most, onFailure } = this.#options;
    const batch = [...this.#pending].slice(0, this.#size);
    const keys = batch.map(([key]) => key);
    for (const key of keys) this.#pending.delete(key);
    try {
      await run(keys, signal);
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error, keys);
      this.#size = Math.max(1, Math.floor(keys.length / 2));
      this.#streak.fail();
      this.#takeBack(batch);
      return;
    }
    this.#size = Math.min(most, this.#size * 2);
    this.#streak.forget();
    for (const [, request] of batch) request.resolve();
  }

  /** To the end of the queue. A request made meanwhile for the same key is answered together with the older one. */
  #takeBack(batch: readonly (readonly [K, Request])[]): void {
    for (const [key, request] of batch) {
      const newer = this.#pending.get(key);
      this.#pending.delete(key);
      this.#pending.set(key, request);
      if (newer !== undefined) void request.promise.then(newer.resolve);
    }
  }
}
