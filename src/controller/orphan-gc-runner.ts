// Runs orphan handling for the leader: tracks orphaned interfaces, reads them, and collects them if the
// options allow it. Adds log lines and metrics.
import { cloudSettings } from '../config/cloud-settings.ts';
import type { Options } from '../config/option-table.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { AllocationImplementation } from '../providers/contract/allocation-implementation.ts';
import type { NetworkInterface, Tags } from '../providers/contract/network-interface.ts';
import type { MutationPermission } from '../providers/gate/mutation-permission.ts';
import { type Collected, OrphanGc } from '../providers/orphans/orphan-gc.ts';
import { OrphanReadings } from '../providers/orphans/orphan-readings.ts';
import { Orphans } from '../providers/orphans/orphans.ts';
import { instanceTag } from '../providers/orphans/ownership-tags.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { FailedReadings } from './reporting/failed-readings.ts';
import { failureFields } from './reporting/failure-fields.ts';

export interface OrphanGcRunnerDeps {
  /** When our last call changed the interface, in monotonic ms; -Infinity without a recent call. */
  readonly changedAt: (interfaceId: string) => number;
  /** Whether an instance still has an interface that a read from that time shows as detached: see `Orphans`. */
  readonly isHeld: (interfaceId: string, startedAt: number) => boolean;
  /** Returns a test, based on current state: is the interface proven to belong to this cluster? */
  readonly evidence: () => (item: NetworkInterface) => boolean;
  readonly options: Options;
  readonly implementation: AllocationImplementation;
  /** Tags that identify interfaces of this cluster. */
  readonly belongingTags: Tags;
  readonly permission: MutationPermission;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called when a read ended: nodes may wait for it. */
  readonly onRead: () => void;
  /** Called when an interface was deleted and its addresses returned to its subnet. */
  readonly onDeleted: (item: NetworkInterface) => void;
  readonly onBug: (error: unknown) => void;
}

/** Delay before the first search for a creation without an answer, in ms: the cloud shows nothing sooner. */
const firstReadDelay = 1000;

export class OrphanGcRunner {
  readonly orphans: Orphans;
  readonly #deps: OrphanGcRunnerDeps;
  readonly #readings: OrphanReadings;
  readonly #collection: OrphanGc | undefined;
  readonly #stopping = new AbortController();
  readonly #failures: FailedReadings;
  #collecting: Promise<void> | undefined;

  constructor(deps: OrphanGcRunnerDeps) {
    this.#deps = deps;
    this.#failures = new FailedReadings(deps.log);
    const { options, permission, belongingTags, random, onRead } = deps;
    const { consistencyWindow, cloudCallTimeout } = options;
    this.orphans = new Orphans({
      consistencyWindow,
      changedAt: deps.changedAt,
      isHeld: deps.isHeld,
      onLeft: () => {
        this.#readings.requestIn(firstReadDelay);
        // The cloud may still execute a request whose answer was lost.
        this.#readings.requestIn(consistencyWindow + cloudCallTimeout);
      },
    });
    const settings = cloudSettings(options);
    const scope = { tags: belongingTags, networkId: settings.scope.networkId };
    const shared = { ...deps, orphans: this.orphans, scope };
    this.#readings = new OrphanReadings({
      ...shared,
      consistencyWindow,
      random: random.fork('readings'),
      onEnd: onRead,
      onFailure: (error) => this.#readFailed(error),
    });
    const { collection: decision } = settings;
    if (decision.kind !== 'on') return;
    this.#collection = new OrphanGc({
      ...shared,
      random: random.fork('collection'),
      interval: decision.interval,
      isDryRun: () => decision.dryRun || permission.pauses.dryRun,
      isHeld: () => permission.refusal('release') !== undefined,
      read: () => this.#readings.request(),
      onCollected: (collected) => this.#collected(collected),
      onReadFailure: (error) => this.#readFailed(error),
    });
  }

  begin(): void {
    const { onBug } = this.#deps;
    void this.#readings.request();
    this.#collecting = this.#collection?.run(this.#stopping.signal).catch(onBug);
  }

  /** Starts nothing more; resolves once work in flight has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#readings.stop(), this.#collecting]);
  }

  /** Sets the gauge. */
  show(): void {
    this.#deps.metrics.headwater_orphaned_interfaces.set(this.orphans.all().length);
  }

  #readFailed(error: unknown): void {
    this.#failures.report('cannot read orphaned interfaces', error);
  }

  #collected({ interface: item, detachedFor, result }: Collected): void {
    const { log, metrics, onDeleted } = this.#deps;
    metrics.headwater_orphan_deletions_total.add({ result: labelOf[result.kind] });
    const details = {
      interface: item.id,
      subnet: item.subnetId,
      instance: item.tags[instanceTag] ?? item.description,
      secondsDetached: Math.round(detachedFor / 1000),
    };
    switch (result.kind) {
      case 'deleted':
        log.info('deleted orphaned interface', details);
        onDeleted(item);
        return;
      case 'wouldDelete':
        log.info('dry run: would delete orphaned interface', details);
        return;
      case 'failed':
        log.warn('could not delete orphaned interface', {
          ...details,
          ...failureFields(result.failure),
        });
        return;
      default:
        log.info('skipped orphaned interface', {
          ...details,
          why: whyOf[result.kind],
        });
    }
  }
}

const labelOf = {
  deleted: 'deleted',
  wouldDelete: 'would_delete',
  changed: 'changed',
  inUse: 'in_use',
  gone: 'not_found',
  failed: 'failed',
} as const satisfies Record<Collected['result']['kind'], string>;

const whyOf = {
  changed: 'it was attached, deleted or retagged since it was listed',
  inUse: 'it was attached since it was listed',
  gone: 'it was deleted since it was listed',
} as const;
