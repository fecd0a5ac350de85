// Remembers what was refused, by key: with which failure, and until when nobody tries it. Each refusal in a row lasts
// longer. When it ends, one caller tries the key, and those who wait for it are woken by the end of that attempt.
import type { Clock } from './clock.ts';
import { type BackoffPolicy, type BackoffState, backOff } from './backoff.ts';
import { LazyMap } from './lazy-collections.ts';
import type { Random } from './random.ts';

export interface Refusal<F> {
  readonly failure: F;
  /** Consecutive refusals. */
  readonly failures: number;
  /** Nobody tries it earlier, in monotonic ms. It may have passed. */
  readonly until: number;
  /** Whether a single caller may try now. */
  readonly isDue: boolean;
}

export interface RefusalsDeps {
  readonly clock: Pick<Clock, 'monotonic' | 'schedule'>;
  /** The source of jitter. Without it, every wait has its full length. */
  readonly random?: Random;
  /** How long a refusal still counts after it ended, in ms. */
  readonly remembered: number;
}

interface Entry<F> {
  failure: F;
  backoff: BackoffState;
  refusedAt: number;
  isTried: boolean;
  readonly waiting: Set<() => void>;
  cancel: (() => void) | undefined;
}

export class Refusals<F> {
  readonly #deps: RefusalsDeps;
  readonly #entries = new LazyMap<string, Entry<F>>();
  /** When all are looked at for what is over, in monotonic ms. */
  #sweepDue = 0;

  constructor(deps: RefusalsDeps) {
    this.#deps = deps;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Undefined if nothing is known against the key. */
  of(key: string): Refusal<F> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#isOver(entry)) return undefined;
    const { failure, backoff, isTried } = entry;
    const isDue = !isTried && this.#deps.clock.monotonic() >= backoff.until;
    return { failure, failures: backoff.failures, until: backoff.until, isDue };
  }

  /** Every refusal with its key, oldest first. */
  get list(): readonly (readonly [string, Refusal<F>])[] {
    return [...this.#entries.keys()].flatMap((key) => {
      const refusal = this.of(key);
      return refusal === undefined ? [] : [[key, refusal] as const];
    });
  }

  /**
   * The key was refused to a call that started at `startedAt`, in monotonic ms. Returns whether this is news: calls in
   * flight together that are refused alike count once.
   */
  refused(
    key: string,
    failure: F,
    { policy, startedAt = Infinity }: { readonly policy: BackoffPolicy; readonly startedAt?: number },
  ): boolean {
    const { clock, random } = this.#deps;
    const now = clock.monotonic();
    this.#forgetOld(key, now);
    const known = this.#entries.get(key);
    if (known !== undefined && startedAt < known.refusedAt) return false;
    const backoff = backOff(known?.backoff, policy, now, random);
    const news = { failure, backoff, refusedAt: now };
    if (known === undefined)
      this.#entries.set(key, { ...news, isTried: false, waiting: new Set(), cancel: undefined });
    else this.#wakeWhenDue(Object.assign(known, news), now);
    return true;
  }

  /** The key works. Returns whether it was refused before. */
  worked(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    entry.cancel?.();
    wakeAll(entry);
    return true;
  }

  /** A call that needs all of these starts. It alone tries those that are due, until the returned function is called. */
  beginTry(keys: readonly string[]): () => void {
    const tried = this.#entriesOf(keys);
    for (const entry of tried) entry.isTried = true;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const now = this.#deps.clock.monotonic();
      for (const entry of tried) {
        entry.isTried = false;
        // The attempt ended without success or refusal: the next caller tries it.
        if (now >= entry.backoff.until) wakeAll(entry);
        else this.#wakeWhenDue(entry, now);
      }
    };
  }

  /**
   * Calls `wake` each time one of these may be tried or works. `since`: when the caller found that it may try none of them,
   * in monotonic ms; some may be due by now. The returned function unsubscribes.
   */
  awaitChange(keys: readonly string[], wake: () => void, since: number): () => void {
    const entries = this.#entriesOf(keys);
    for (const entry of entries) {
      entry.waiting.add(wake);
      this.#wakeWhenDue(entry, since);
    }
    return () => {
      for (const entry of entries) {
        entry.waiting.delete(wake);
        if (entry.waiting.size > 0) continue;
        entry.cancel?.();
        entry.cancel = undefined;
      }
    };
  }

  /** Forgets what is over: the key at once, and others now and then, because there may be thousands. */
  #forgetOld(key: string, now: number): void {
    const isSweepDue = now >= this.#sweepDue;
    if (isSweepDue) this.#sweepDue = now + this.#deps.remembered / 10;
    const looked = isSweepDue ? this.#entries.keys() : [key];
    for (const each of looked) {
      const entry = this.#entries.get(each);
      if (entry !== undefined && this.#isOver(entry)) this.#entries.delete(each);
    }
  }

  #entriesOf(keys: readonly string[]): readonly Entry<F>[] {
    const entries = keys.flatMap((key) => this.#entries.get(key) ?? []);
    return entries.filter((entry) => !this.#isOver(entry));
  }

  /** Nothing for what was due by `since`: the first that finds it due tries it; the end of that attempt wakes the others. */
  #wakeWhenDue(entry: Entry<F>, since: number): void {
    const { clock } = this.#deps;
    const { until } = entry.backoff;
    entry.cancel?.();
    entry.cancel = undefined;
    if (entry.isTried || entry.waiting.size === 0 || until <= since) return;
    entry.cancel = clock.schedule(until - clock.monotonic(), () => {
      entry.cancel = undefined;
      wakeAll(entry);
    });
  }

  #isOver(entry: Entry<F>): boolean {
    const { clock, remembered } = this.#deps;
    const isNeeded = entry.isTried || entry.waiting.size > 0;
    return !isNeeded && clock.monotonic() >= entry.backoff.until + remembered;
  }
}

function wakeAll({ waiting }: Pick<Entry<unknown>, 'waiting'>): void {
  for (const wake of waiting) wake();
}
