// Coalesces many requests into few calls: all requests within a short window share one call. A failed batch is retried
// in smaller ones, so that one bad key cannot block the others.
import { Backoff, type BackoffPolicy } from './backoff.ts';
import { type Clock, sleep } from './clock.ts';
import { LazyMap } from './lazy-collections.ts';
import type { Random } from './random.ts';

export interface BatcherOptions<K> {
  readonly clock: Clock;
  readonly random: Random;
  /** How long the first request waits for others, in ms. */
  readonly window: number;
  /** Maximum keys per call. */
  readonly max: number;
  readonly backoff: BackoffPolicy;
  /** Upper bound of the pause after this failure, in ms, if below the policy's. */
  readonly maxPause?: (error: unknown) => number;
  /**
   * Makes one call. A rejection requests all of its keys again. Resolves to the keys that the call could not answer for,
   * if any, with the reasons: each of them is requested again with a backoff of its own.
   */
  readonly run: (keys: readonly K[], signal: AbortSignal) => Promise<ReadonlyMap<K, unknown> | undefined>;
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
  readonly #backoff: Backoff;
  /** Keys that the last call for them could not answer for, and their requests, which wait. */
  readonly #failing = new LazyMap<K, { readonly backoff: Backoff; readonly request: Request }>();
  #worker: Promise<void> | undefined;

  constructor(options: BatcherOptions<K>) {
    this.#options = options;
    this.#backoff = new Backoff(options.backoff, options);
    this.#size = options.max;
  }

  /**
   * Resolves once a call that started after this request answers for `key`, however many attempts it takes. Stays
   * pending forever after `stop`.
   */
  request(key: K): Promise<void> {
    const known = this.#pending.get(key) ?? this.#failing.get(key)?.request;
    if (known !== undefined) return known.promise;
    const request = Promise.withResolvers<void>();
    this.#pending.set(key, request);
    this.#worker ??= this.#work();
    return request.promise;
  }

  /** Aborts the call in flight and starts no other; resolves once it ends. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#worker;
  }

  async #work(): Promise<void> {
    const { clock, window } = this.#options;
    const { signal } = this.#stopping;
    try {
      while (this.#pending.size > 0) {
        await sleep(clock, Math.max(window, this.#backoff.until - clock.monotonic()), signal);
        await this.#call(signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#worker = undefined;
    }
  }

  async #call(signal: AbortSignal): Promise<void> {
    const { run, max, onFailure } = this.#options;
    const batch = [...this.#pending].slice(0, this.#size);
    const keys = batch.map(([key]) => key);
    for (const key of keys) this.#pending.delete(key);
    let failed: ReadonlyMap<K, unknown> | undefined;
    try {
      failed = await run(keys, signal);
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error, keys);
      this.#size = Math.max(1, Math.floor(keys.length / 2));
      this.#backoff.fail(this.#options.maxPause?.(error));
      this.#requeue(batch);
      return;
    }
    this.#size = Math.min(max, this.#size * 2);
    this.#backoff.forget();
    for (const [key, request] of batch) {
      if (failed?.has(key) === true) {
        this.#requestLater(key, request, failed.get(key));
        continue;
      }
      this.#failing.delete(key);
      request.resolve();
    }
  }

  #requestLater(key: K, request: Request, error: unknown): void {
    const { clock, onFailure, maxPause } = this.#options;
    const backoff = this.#failing.get(key)?.backoff ?? new Backoff(this.#options.backoff, this.#options);
    onFailure(error, [key]);
    this.#failing.set(key, { backoff, request });
    void sleep(clock, backoff.fail(maxPause?.(error)), this.#stopping.signal).then(
      () => {
        this.#pending.set(key, request);
        this.#worker ??= this.#work();
      },
      () => undefined,
    );
  }

  /** Requeues the batch at the end. A newer request for the same key shares the answer of the older one. */
  #requeue(batch: readonly (readonly [K, Request])[]): void {
    for (const [key, request] of batch) {
      const newer = this.#pending.get(key);
      this.#pending.delete(key);
      this.#pending.set(key, request);
      if (newer !== undefined) void request.promise.then(newer.resolve);
    }
  }
}
