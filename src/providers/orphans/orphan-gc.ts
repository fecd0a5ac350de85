// Deletes orphaned interfaces of this cluster. Runs at housekeeping priority, deletes few at a time, and skips
// interfaces that this process is working on.
import { Backoff } from '../../runtime/backoff.ts';
import { sleep } from '../../runtime/clock.ts';
import { aborted } from '../../runtime/race-abort.ts';
import type { CallContext } from '../contract/cloud.ts';
import type { Outcome } from '../contract/operations.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { policyOf } from '../contract/failure-policy.ts';
import type { NetworkInterface } from '../contract/network-interface.ts';
import type { Orphan } from './orphan-eligibility.ts';
import type { OrphanPorts, OrphanReadings } from './orphan-readings.ts';

export interface OrphanGcOptions {
  /** Delay between passes and minimum time seen detached, in ms. */
  readonly interval: number;
  /** Whether to report deletions without performing them, whatever is permitted. */
  readonly dryRun: boolean;
  /** `refusal`: why nothing may be taken away now. */
  readonly permission: {
    refusal(activity: 'release'): string | undefined;
    readonly pauses: { readonly dryRun: boolean };
  };
  /** Returns a check, from current knowledge, of whether an interface belongs to this cluster. */
  readonly evidence: () => (item: NetworkInterface) => boolean;
  readonly readings: Pick<OrphanReadings, 'request'>;
  readonly emit: (event: OrphanGcEvent) => void;
}

export type OrphanGcEvent =
  | { readonly kind: 'collected'; readonly collected: Collected }
  | { readonly kind: 'readFailed'; readonly error: CloudError };

export interface Collected {
  readonly interface: NetworkInterface;
  /** How long it was seen detached, in ms. */
  readonly detachedFor: number;
  readonly result: CollectionResult;
}

export type CollectionResult =
  | { readonly kind: 'deleted' }
  /** A dry run would have deleted it. Reported once for each interface. */
  | { readonly kind: 'wouldDelete' }
  /** A second read right before deletion did not show it: it is attached, gone or lost its ownership tags. */
  | { readonly kind: 'changed' }
  /** The interface was attached at the last moment. */
  | { readonly kind: 'inUse' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly failure: CloudFailure };

/** Maximum deletions in one pass. */
const maxPerPass = 25;
const backoffPolicy = { base: 1000, cap: 60_000 };

export class OrphanGc {
  readonly #ports: OrphanPorts;
  readonly #options: OrphanGcOptions;
  /** Interfaces already reported by the dry run. */
  #reported: ReadonlySet<string> = new Set();

  constructor(ports: OrphanPorts, options: OrphanGcOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** Collects periodically until `signal` is aborted, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const { interval } = this.#options;
    const stopped = aborted(signal);
    const backoff = new Backoff(backoffPolicy, this.#ports);
    try {
      while ((await Promise.race([this.#options.readings.request(), stopped])) !== 'stopped') {
        const complete = await this.#pass(signal);
        if (complete) backoff.forget();
        await sleep(clock, complete ? interval : backoff.fail(), signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Returns whether the cloud answered. */
  async #pass(signal: AbortSignal): Promise<boolean> {
    const { orphans } = this.#ports;
    const { interval, permission, evidence } = this.#options;
    const dryRun = this.#options.dryRun || permission.pauses.dryRun;
    if (!dryRun && permission.refusal('release') !== undefined) return true;
    const due = orphans.due({ interval, max: dryRun ? Infinity : maxPerPass, isOurs: evidence() });
    if (dryRun) this.#reportNew(due);
    return dryRun || due.length === 0 || (await this.#collectAll(due, signal));
  }

  async #collectAll(due: readonly Orphan[], signal: AbortSignal): Promise<boolean> {
    const context: CallContext = { caller: { priority: 'housekeeping' }, signal };
    const shown = await this.#readAgain(due, context);
    if (shown === undefined) return false;
    for (const orphan of due) {
      const result = await this.#collect(orphan, shown.has(orphan.interface.id), context);
      if (result?.kind === 'failed' && policyOf(result.failure).retry === 'oncePermitted') return true;
      if (result !== undefined) this.#report(orphan, result);
    }
    return true;
  }

  #reportNew(due: readonly Orphan[]): void {
    const fresh = due.filter((orphan) => !this.#reported.has(orphan.interface.id));
    this.#reported = new Set(due.map((orphan) => orphan.interface.id));
    for (const orphan of fresh) this.#report(orphan, { kind: 'wouldDelete' });
  }

  /** Ids of the interfaces that are still detached and tagged as ours; undefined if they cannot be read. */
  async #readAgain(due: readonly Orphan[], context: CallContext): Promise<ReadonlySet<string> | undefined> {
    const { implementation, scope } = this.#ports;
    const ids = due.map((orphan) => orphan.interface.id);
    try {
      const { interfaces } = await implementation.readDetached({ ...scope, ids }, context);
      return new Set(interfaces.map(({ id }) => id));
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      context.signal.throwIfAborted();
      this.#options.emit({ kind: 'readFailed', error });
      return undefined;
    }
  }

  /** Undefined if another part of this process is now working on it. */
  async #collect(
    orphan: Orphan,
    isShown: boolean,
    context: CallContext,
  ): Promise<CollectionResult | undefined> {
    const { id } = orphan.interface;
    const claim = this.#ports.orphans.claim(id);
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
    const { implementation } = this.#ports;
    await implementation.admit(['deleteInterface'], context);
    return resultOf(await implementation.perform({ kind: 'deleteInterface', interfaceId }, context));
  }

  #report(orphan: Orphan, result: CollectionResult): void {
    const detachedFor = this.#ports.clock.monotonic() - orphan.firstAt;
    this.#options.emit({
      kind: 'collected',
      collected: { interface: orphan.interface, detachedFor, result },
    });
  }
}

/** An interface in use or already gone is an acceptable result. */
function resultOf(outcome: Outcome): CollectionResult {
  if (outcome.kind === 'done') return { kind: 'deleted' };
  const { failure } = outcome;
  if (failure.kind === 'conflict') return { kind: 'inUse' };
  return policyOf(failure).retry === 'needless' ? { kind: 'gone' } : { kind: 'failed', failure };
}
