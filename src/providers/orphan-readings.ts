// Reads which interfaces of this cluster are attached to nothing: one listing for the whole fleet, asked for by whoever
// needs it, shared by all who ask at the same time, and tried again for as long as it fails.
import { Batcher } from '../scheduling/batcher.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type { AllocationImplementation, DetachedScope } from './allocation-implementation.ts';
import type { Orphans } from './orphans.ts';

export interface OrphanReadingsOptions {
  readonly implementation: AllocationImplementation;
  readonly orphans: Orphans;
  readonly clock: Clock;
  readonly random: Random;
  readonly scope: DetachedScope;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
  /** A reading ended: what nodes waited for is known, or not to be had for now. */
  readonly onEnd: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** How long a reading waits for others to share its call, in ms. */
const window = 50;
/** Readings that are wanted later are this far apart, in ms. */
const raster = 1000;

export class OrphanReadings {
  readonly #options: OrphanReadingsOptions;
  readonly #batcher: Batcher<'all'>;
  /** By the time they are due. */
  readonly #later = new Map<number, () => void>();
  #isStopped = false;

  constructor(options: OrphanReadingsOptions) {
    this.#options = options;
    const { clock, random } = options;
    this.#batcher = new Batcher({
      clock,
      random,
      window,
      most: 1,
      backoff: { base: 1000, cap: 60_000 },
      run: (_, signal) => this.#read(signal),
      onFailure: options.onFailure,
    });
  }

  /** Resolves once a reading that began after this request has succeeded; stays open for ever once stopped. */
  request(): Promise<void> {
    return this.#batcher.request('all');
  }

  /** Asks for a reading in `ms` or a little later. */
  requestIn(ms: number): void {
    const { clock } = this.#options;
    const now = clock.monotonic();
    const due = Math.ceil((now + ms) / raster) * raster;
    if (this.#isStopped || this.#later.has(due)) return;
    const cancel = clock.schedule(due - now, () => {
      this.#later.delete(due);
      void this.request();
    });
    this.#later.set(due, cancel);
  }

  /** Aborts the reading under way and begins no other; resolves once it has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#later.values()) cancel();
    await this.#batcher.stop();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { implementation, orphans, clock, scope, consistencyWindow, onEnd } = this.#options;
    const startedAt = clock.monotonic();
    const urgency = (): 'waiting' | 'housekeeping' => (orphans.isAwaited ? 'waiting' : 'housekeeping');
    try {
      const { begunAt, interfaces } = await implementation.readDetached(scope, { urgency, signal });
      orphans.fold({ begunAt, endedAt: clock.monotonic(), interfaces });
      if (orphans.hasUnclear) this.requestIn(consistencyWindow);
    } catch (error) {
      orphans.failed(startedAt);
      throw error;
    } finally {
      if (!signal.aborted) onEnd();
    }
  }
}
