// Caches what the cloud allows on each instance type. Reads a type by name when a node first needs it.
import { Batcher } from '../../runtime/batcher.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { CloudReader } from '../contract/cloud.ts';
import type { InstanceLimits, UnreadableLimits } from '../contract/facts.ts';
import { CloudError, type CloudFailure, maxPause } from '../contract/cloud-failure.ts';

/**
 * Limits of a type. `unread` until the cloud has answered, and until a second answer confirms that limits are missing
 * or unreadable.
 */
export type KnownLimits = InstanceLimits | UnreadableLimits | DeniedLimits | 'unread' | 'unknown';

/** The cloud denies permission to read limits. */
export interface DeniedLimits {
  readonly denied: CloudFailure;
}

export type InstanceTypeEvent =
  /** Something new is known of these types, or it is time to ask for them again. */
  | { readonly kind: 'news'; readonly instanceTypes: readonly string[] }
  | { readonly kind: 'failed'; readonly error: unknown; readonly instanceTypes: readonly string[] };

/**
 * Delay before asking again after an unconfirmed answer, in ms: the first without limits for a type, or any unreadable
 * one.
 */
const recheckAfter = 5000;
/**
 * Delay before asking again after a confirmed answer without limits, in ms: clouds add types
 * (docs/ciliumnode-contract.md 4.1).
 */
const askAgainAfter = 60_000;

/** A type whose answer had no usable limits. */
interface MissingLimits {
  readonly finding: UnreadableLimits | 'unread' | 'unknown';
  readonly askAt: number;
}

export class InstanceTypeLimits {
  readonly #clock: Clock;
  readonly #emit: (event: InstanceTypeEvent) => void;
  readonly #known = new Map<string, InstanceLimits>();
  readonly #missing = new Map<string, MissingLimits>();
  readonly #denied = new Map<string, DeniedLimits>();
  /** Requested and not answered yet. */
  readonly #asked = new Set<string>();
  readonly #reads: Batcher<string>;
  readonly #timers = new Map<string, () => void>();
  #isStopped = false;

  constructor({ implementation, clock, random }: CloudReader, emit: (event: InstanceTypeEvent) => void) {
    this.#clock = clock;
    this.#emit = emit;
    this.#reads = new Batcher({
      clock,
      random,
      window: 50,
      max: implementation.maxTypesPerRead,
      backoff: { base: 1000, cap: 30_000 },
      maxPause,
      onFailure: (error, instanceTypes) => {
        emit({ kind: 'failed', error, instanceTypes });
        this.#deny(instanceTypes, error);
      },
      run: async (types, signal) => {
        const limits = await implementation.readLimits(types, { caller: { priority: 'high' }, signal });
        for (const type of types) this.#learnLimits(type, limits.get(type) ?? 'unknown');
        emit({ kind: 'news', instanceTypes: types });
      },
    });
  }

  /**
   * `unread` until the cloud has answered, which this call requests; `unknown` if the cloud does not know the type.
   * Callers call again on `news` and then have the cloud's answer within a minute.
   */
  get(instanceType: string): KnownLimits {
    const known = this.#known.get(instanceType);
    if (known !== undefined) return known;
    const missing = this.#missing.get(instanceType);
    const isDue = missing === undefined || this.#clock.monotonic() >= missing.askAt;
    if (isDue && !this.#asked.has(instanceType)) {
      this.#asked.add(instanceType);
      void this.#reads.request(instanceType);
    }
    return missing?.finding ?? this.#denied.get(instanceType) ?? 'unread';
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#timers.values()) cancel();
    return this.#reads.stop();
  }

  /** Reports the denial once; the read is retried anyway. */
  #deny(types: readonly string[], error: unknown): void {
    if (!(error instanceof CloudError) || error.failure.permission === undefined) return;
    const news = types.filter((type) => !this.#denied.has(type));
    for (const type of news) this.#denied.set(type, { denied: error.failure });
    if (news.length > 0) this.#emit({ kind: 'news', instanceTypes: news });
  }

  #learnLimits(type: string, answer: InstanceLimits | UnreadableLimits | 'unknown'): void {
    this.#asked.delete(type);
    this.#denied.delete(type);
    if (answer === 'unknown' || 'problem' in answer) {
      this.#invalidate(type, answer);
      return;
    }
    this.#known.set(type, answer);
    this.#missing.delete(type);
  }

  #invalidate(type: string, finding: UnreadableLimits | 'unknown'): void {
    const isFirst = !this.#missing.has(type);
    // Unreadable limits do not prove that the type has none, so ask again soon.
    const isUnconfirmed = isFirst || finding !== 'unknown';
    const wait = isUnconfirmed ? recheckAfter : askAgainAfter;
    const now = this.#clock.monotonic();
    // Ordered by the time of the last such answer.
    this.#missing.delete(type);
    this.#missing.set(type, { finding: isFirst ? 'unread' : finding, askAt: now + wait });
    this.#forgetUnwanted(now);
    this.#timers.get(type)?.();
    if (this.#isStopped) return;
    this.#timers.set(
      type,
      this.#clock.schedule(wait, () => this.#emit({ kind: 'news', instanceTypes: [type] })),
    );
  }

  /** Forgets types that no node asked for again when they were due: agents can name any number of types. */
  #forgetUnwanted(now: number): void {
    for (const [type, { askAt }] of this.#missing) {
      if (now < askAt + askAgainAfter) return;
      if (this.#asked.has(type)) continue;
      this.#missing.delete(type);
      this.#timers.delete(type);
      this.#denied.delete(type);
    }
  }
}
