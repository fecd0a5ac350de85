// Deletes interfaces of this cluster that stay attached to nothing. Housekeeping: it waits behind everything else, takes
// few at a time, and leaves alone whatever this process has under way.
import { FailureStreak } from '../scheduling/failure-streak.ts';
import { type Clock, sleep } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type { AllocationImplementation, CallContext, DetachedScope } from './allocation-implementation.ts';
import { CloudError, type CloudFailure } from './cloud-failure.ts';
import type { NetworkInterface } from './network-interface.ts';
import type { Outcome } from './operation.ts';
import type { Orphan } from './orphan-standing.ts';
import type { Orphans } from './orphans.ts';

export interface OrphanCollectionOptions {
  readonly implementation: AllocationImplementation;
  readonly orphans: Orphans;
  readonly clock: Clock;
  readonly random: Random;
  readonly scope: DetachedScope;
  /** Between two passes, and how long an interface must have been seen detached, in ms. */
  readonly interval: number;
  /** Whether only what would be deleted is told. */
  readonly isDryRun: () => boolean;
  /** Whether nothing may be taken away now. */
  readonly isHeld: () => boolean;
  /** Resolves once a reading that began after the call has been folded in. */
  readonly read: () => Promise<void>;
  readonly onCollected: (collected: Collected) => void;
  readonly onReadFailure: (error: CloudError) => void;
}

export interface Collected {
  readonly interface: NetworkInterface;
  /** How long it was seen detached, in ms. */
  readonly detachedFor: number;
  readonly result: CollectionResult;
}

export type CollectionResult =
  | { readonly kind: 'deleted' }
  /** It would have been deleted. Told once of each interface. */
  | { readonly kind: 'spared' }
  /** A second look, right before, did not show it any more: attached, gone, or without the tags that make it ours. */
  | { readonly kind: 'changed' }
  /** Somebody attached it in the last moment. */
  | { readonly kind: 'inUse' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly failure: CloudFailure };

/** Not the cloud said no, but our own gate: another time. */
const heldBack: ReadonlySet<CloudFailure['kind']> = new Set(['fenced', 'stopped']);

/** Deleted in one pass at most. */
const mostPerPass = 25;
const backoffPolicy = { base: 1000, cap: 60_000 };

export class OrphanCollection {
  readonly #options: OrphanCollectionOptions;
  /** Interfaces of which it was told that they would be deleted. */
  #told: ReadonlySet<string> = new Set();

  constructor(options: OrphanCollectionOptions) {
    this.#options = options;
  }

  /** Collects now and then until `signal` is aborted; resolves then. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, interval } = this.#options;
    const stopped = aborted(signal);
    const streak = new FailureStreak(backoffPolicy, this.#options);
    try {
      while ((await Promise.race([this.#options.read(), stopped])) !== 'stopped') {
        const complete = await this.#pass(signal);
        if (complete) streak.forget();
        await sleep(clock, complete ? interval : streak.fail(), signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Whether the cloud could be asked. */
  async #pass(signal: AbortSignal): Promise<boolean> {
    const { orphans, interval, isDryRun, isHeld } = this.#options;
    const dryRun = isDryRun();
    if (!dryRun && isHeld()) return true;
    const due = orphans.due({ interval, most: dryRun ? Infinity : mostPerPass });
    if (dryRun) this.#tell(due);
    return dryRun || due.length === 0 || (await this.#collectAll(due, signal));
  }

  async #collectAll(due: readonly Orphan[], signal: AbortSignal): Promise<boolean> {
    const context: CallContext = { urgency: () => 'housekeeping', signal };
    const shown = await this.#readAgain(due, context);
    if (shown === undefined) return false;
    for (const orphan of due) {
      const result = await this.#collect(orphan, shown.has(orphan.interface.id), context);
      if (result?.kind === 'failed' && heldBack.has(result.failure.kind)) return true;
      if (result !== undefined) this.#report(orphan, result);
    }
    return true;
  }

  #tell(due: readonly Orphan[]): void {
    const fresh = due.filter((orphan) => !this.#told.has(orphan.interface.id));
    this.#told = new Set(due.map((orphan) => orphan.interface.id));
    for (const orphan of fresh) this.#report(orphan, { kind: 'spared' });
  }

  /** Which of them are detached, and ours by their tags, at this very moment; undefined where that cannot be read. */
  async #readAgain(due: readonly Orphan[], context: CallContext): Promise<ReadonlySet<string> | undefined> {
    const { implementation, scope, onReadFailure } = this.#options;
    const ids = due.map((orphan) => orphan.interface.id);
    try {
      const { interfaces } = await implementation.readDetached({ ...scope, ids }, context);
      return new Set(interfaces.map(({ id }) => id));
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      context.signal.throwIfAborted();
      onReadFailure(error);
      return undefined;
    }
  }

  /** Undefined where somebody of this process acts on it by now. */
  async #collect(
    orphan: Orphan,
    isShown: boolean,
    context: CallContext,
  ): Promise<CollectionResult | undefined> {
    const { id } = orphan.interface;
    const claim = this.#options.orphans.claim(id);
    if (claim === undefined) return undefined;
    let result: CollectionResult | undefined;
    try {
      result = isShown ? await this.#delete(id, context) : { kind: 'changed' };
      return result;
    } finally {
      claim.release(result === undefined || result.kind === 'failed' ? 'kept' : 'gone');
    }
  }

  async #delete(interfaceId: string, context: CallContext): Promise<CollectionResult> {
    const { implementation } = this.#options;
    await implementation.admit(['deleteInterface'], context);
    return resultOf(await implementation.perform({ kind: 'deleteInterface', interfaceId }, context));
  }

  #report(orphan: Orphan, result: CollectionResult): void {
    const { clock, onCollected } = this.#options;
    const detachedFor = clock.monotonic() - orphan.firstAt;
    onCollected({ interface: orphan.interface, detachedFor, result });
  }
}

/** That it is in use, or gone already, is as good as any end. */
function resultOf(outcome: Outcome): CollectionResult {
  if (outcome.kind === 'done') return { kind: 'deleted' };
  const { failure } = outcome;
  if (failure.kind === 'conflict') return { kind: 'inUse' };
  return failure.kind === 'interfaceGone' ? { kind: 'gone' } : { kind: 'failed', failure };
}

function aborted(signal: AbortSignal): Promise<'stopped'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('stopped');
    signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  });
}
