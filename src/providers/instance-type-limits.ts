// What the cloud allows on each instance type, read by name as types turn up.
import { Batcher } from '../scheduling/batcher.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type { AllocationImplementation, InstanceLimits } from './allocation-implementation.ts';

export interface InstanceTypeLimitsOptions {
  readonly implementation: AllocationImplementation;
  readonly clock: Clock;
  readonly random: Random;
  readonly onLearned: (instanceTypes: readonly string[]) => void;
  readonly onFailure: (error: unknown, instanceTypes: readonly string[]) => void;
}

/** A type that the cloud does not know is asked for again after this long, in ms: new types appear. */
const unknownFor = 600_000;

export class InstanceTypeLimits {
  readonly #clock: Clock;
  readonly #known = new Map<string, InstanceLimits>();
  readonly #unknownSince = new Map<string, number>();
  readonly #reads: Batcher<string>;

  constructor(options: InstanceTypeLimitsOptions) {
    const { implementation, clock, random, onLearned, onFailure } = options;
    this.#clock = clock;
    this.#reads = new Batcher({
      clock,
      random,
      window: 50,
      most: implementation.mostTypesPerRead,
      backoff: { base: 1000, cap: 30_000 },
      onFailure,
      run: async (types, signal) => {
        const limits = await implementation.readLimits(types, { urgency: () => 'waiting', signal });
        for (const type of types) this.#learn(type, limits.get(type));
        onLearned(types);
      },
    });
  }

  /** `unread` until the cloud has answered, which this call asks it to; `unknown` when it does not know the type. */
  get(instanceType: string): InstanceLimits | 'unread' | 'unknown' {
    const known = this.#known.get(instanceType);
    if (known !== undefined) return known;
    const since = this.#unknownSince.get(instanceType);
    if (since !== undefined && this.#clock.monotonic() - since < unknownFor) return 'unknown';
    void this.#reads.request(instanceType);
    return since === undefined ? 'unread' : 'unknown';
  }

  stop(): Promise<void> {
    return this.#reads.stop();
  }

  #learn(type: string, limits: InstanceLimits | undefined): void {
    if (limits === undefined) {
      this.#unknownSince.set(type, this.#clock.monotonic());
      return;
    }
    this.#known.set(type, limits);
    this.#unknownSince.delete(type);
  }
}
