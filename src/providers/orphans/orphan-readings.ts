// Lists the orphaned interfaces of this cluster. One listing serves all concurrent requests of the fleet and is retried
// until it succeeds.
import { Batcher } from '../../runtime/batcher.ts';
import type { CloudReader, DetachedScope } from '../contract/cloud.ts';
import type { Orphans } from './orphans.ts';

/** The orphans of this cluster, and the cloud that shows them. */
export interface OrphanPorts extends CloudReader {
  readonly orphans: Orphans;
  readonly scope: DetachedScope;
}

export type OrphanReadEvent =
  /** With or without success: waiting nodes can proceed. `missed`: instances that may have got an interface. */
  | { readonly kind: 'readEnded'; readonly missed: ReadonlySet<string> }
  | { readonly kind: 'readFailed'; readonly error: unknown };

/** How long a read waits for others to share its call, in ms. */
const window = 50;
/** Delayed reads start at multiples of this, in ms. */
const raster = 1000;

export class OrphanReadings {
  readonly #ports: OrphanPorts;
  readonly #consistencyWindow: number;
  readonly #emit: (event: OrphanReadEvent) => void;
  readonly #batcher: Batcher<'all'>;
  /** By due time. */
  readonly #later = new Map<number, () => void>();
  #isStopped = false;

  /** `consistencyWindow`: how long the cloud may take to show a change, in ms. */
  constructor(ports: OrphanPorts, consistencyWindow: number, emit: (event: OrphanReadEvent) => void) {
    this.#ports = ports;
    this.#consistencyWindow = consistencyWindow;
    this.#emit = emit;
    const { clock, random } = ports;
    this.#batcher = new Batcher({
      clock,
      random,
      window,
      max: 1,
      backoff: { base: 1000, cap: 60_000 },
      run: async (_, signal) => {
        await this.#read(signal);
        return undefined;
      },
      onFailure: (error) => emit({ kind: 'readFailed', error }),
    });
  }

  /** Resolves once a read that began after this request has succeeded. Never settles after `stop`. */
  request(): Promise<void> {
    return this.#batcher.request('all');
  }

  /** Requests a read in `ms` or slightly later. */
  requestIn(ms: number): void {
    const { clock } = this.#ports;
    const now = clock.monotonic();
    const due = Math.ceil((now + ms) / raster) * raster;
    if (this.#isStopped || this.#later.has(due)) return;
    const cancel = clock.schedule(due - now, () => {
      this.#later.delete(due);
      void this.request();
    });
    this.#later.set(due, cancel);
  }

  /** Aborts the read in flight and starts no other. Resolves once it has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#later.values()) cancel();
    await this.#batcher.stop();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { implementation, orphans, clock, scope } = this.#ports;
    const requestedAt = clock.monotonic();
    let missed: ReadonlySet<string> = new Set();
    const caller = {
      get priority() {
        return orphans.isAwaited ? 'high' : 'housekeeping';
      },
    } as const;
    try {
      const { startedAt, interfaces } = await implementation.readDetached(scope, { caller, signal });
      missed = orphans.apply({ startedAt, endedAt: clock.monotonic(), interfaces });
      if (orphans.hasUnclear) this.requestIn(this.#consistencyWindow);
    } catch (error) {
      orphans.failed(requestedAt);
      throw error;
    } finally {
      if (!signal.aborted) this.#emit({ kind: 'readEnded', missed });
    }
  }
}
