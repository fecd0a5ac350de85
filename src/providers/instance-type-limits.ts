// What the cloud allows on each instance type, read by name as types turn up.
import { Batcher } from '../scheduling/batcher.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type {
  AllocationImplementation,
  InstanceLimits,
  UnreadableLimits,
} from './allocation-implementation.ts';
import { CloudError, type CloudFailure } from './cloud-failure.ts';

/** What is known of a type: nothing before the cloud has answered, and twice where it shows none. */
export type KnownLimits = InstanceLimits | UnreadableLimits | DeniedLimits | 'unread' | 'unknown';

/** The cloud does not permit to ask for them. */
export interface DeniedLimits {
  readonly denied: CloudFailure;
}

export interface InstanceTypeLimitsOptions {
  readonly implementation: AllocationImplementation;
  readonly clock: Clock;
  readonly random: Random;
  /** Of these types something new is known, or it is time to ask for them again. */
  readonly onNews: (instanceTypes: readonly string[]) => void;
  readonly onFailure: (error: unknown, instanceTypes: readonly string[]) => void;
}

/** The first answer without a type's limits is doubted: the next one is asked for after this long, in ms. */
const doubtedFor = 5000;
/** What is believed after that is asked for again as often, in ms: new types appear (contract 6.5). */
const askAgainAfter = 60_000;

/** A type that was answered for without limits. */
interface Lack {
  readonly finding: UnreadableLimits | 'unread' | 'unknown';
  readonly askAt: number;
}

export class InstanceTypeLimits {
  readonly #options: InstanceTypeLimitsOptions;
  readonly #known = new Map<string, InstanceLimits>();
  readonly #lacking = new Map<string, Lack>();
  readonly #denied = new Map<string, DeniedLimits>();
  /** Asked for, and not answered for yet. */
  readonly #asked = new Set<string>();
  readonly #reads: Batcher<string>;
  readonly #timers = new Map<string, () => void>();
  #isStopped = false;

  constructor(options: InstanceTypeLimitsOptions) {
    this.#options = options;
    const { implementation, clock, random, onNews, onFailure } = options;
    this.#reads = new Batcher({
      clock,
      random,
      window: 50,
      most: implementation.mostTypesPerRead,
      backoff: { base: 1000, cap: 30_000 },
      onFailure: (error, types) => {
        onFailure(error, types);
        this.#deny(types, error);
      },
      run: async (types, signal) => {
        const limits = await implementation.readLimits(types, { urgency: () => 'waiting', signal });
        for (const type of types) this.#learn(type, limits.get(type) ?? 'unknown');
        onNews(types);
      },
    });
  }

  /**
   * `unread` until the cloud has answered, which this call asks it to; `unknown` when it does not know the type. Whoever
   * calls again when told of news has what the cloud says a minute later at most.
   */
  get(instanceType: string): KnownLimits {
    const known = this.#known.get(instanceType);
    if (known !== undefined) return known;
    const lack = this.#lacking.get(instanceType);
    const isDue = lack === undefined || this.#options.clock.monotonic() >= lack.askAt;
    if (isDue && !this.#asked.has(instanceType)) {
      this.#asked.add(instanceType);
      void this.#reads.request(instanceType);
    }
    return lack?.finding ?? this.#denied.get(instanceType) ?? 'unread';
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#timers.values()) cancel();
    return this.#reads.stop();
  }

  /** Told once: the reading is tried again by itself. */
  #deny(types: readonly string[], error: unknown): void {
    if (!(error instanceof CloudError) || error.failure.permission === undefined) return;
    const news = types.filter((type) => !this.#denied.has(type));
    for (const type of news) this.#denied.set(type, { denied: error.failure });
    if (news.length > 0) this.#options.onNews(news);
  }

  #learn(type: string, answer: InstanceLimits | UnreadableLimits | 'unknown'): void {
    this.#asked.delete(type);
    this.#denied.delete(type);
    if (answer === 'unknown' || 'problem' in answer) {
      this.#doubt(type, answer);
      return;
    }
    this.#known.set(type, answer);
    this.#lacking.delete(type);
  }

  #doubt(type: string, finding: UnreadableLimits | 'unknown'): void {
    const { clock, onNews } = this.#options;
    const isFirst = !this.#lacking.has(type);
    const wait = isFirst ? doubtedFor : askAgainAfter;
    this.#lacking.set(type, { finding: isFirst ? 'unread' : finding, askAt: clock.monotonic() + wait });
    this.#timers.get(type)?.();
    if (this.#isStopped) return;
    this.#timers.set(
      type,
      clock.schedule(wait, () => onNews([type])),
    );
  }
}
