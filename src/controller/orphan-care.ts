// What a leader does about interfaces of this cluster that are attached to nothing, put together: their memory, the
// readings, and the collection if the options allow it, with log lines and metrics.
import { collectionOf } from '../config/orphan-collection.ts';
import type { Options } from '../config/option-table.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { NetworkInterface, Tags } from '../providers/network-interface.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import { type Collected, OrphanCollection } from '../providers/orphan-collection.ts';
import { OrphanReadings } from '../providers/orphan-readings.ts';
import { Orphans } from '../providers/orphans.ts';
import { instanceTag } from '../providers/ownership-tags.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import { FailedReadings } from './failed-readings.ts';
import { told } from './told-failure.ts';

export interface OrphanCareDeps {
  /** When a call of ours last changed what an interface has, in monotonic ms; -Infinity where none did of late. */
  readonly changedAt: (interfaceId: string) => number;
  /** Whether an instance still has what a reading that was begun then shows attached to nothing: see `Orphans`. */
  readonly isHeld: (interfaceId: string, begunAt: number) => boolean;
  readonly options: Options;
  readonly implementation: AllocationImplementation;
  /** Tags by which interfaces that belong to this cluster are known. */
  readonly belongingTags: Tags;
  readonly permission: MutationPermission;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** A reading ended: nodes may have waited for it. */
  readonly onRead: () => void;
  /** An interface was deleted, and its addresses are back in its subnet. */
  readonly onDeleted: (item: NetworkInterface) => void;
  readonly onBug: (error: unknown) => void;
}

/** When a creation without an answer is looked for first, in ms: EC2 shows nothing sooner. */
const firstLook = 1000;

export class OrphanCare {
  readonly orphans: Orphans;
  readonly #deps: OrphanCareDeps;
  readonly #readings: OrphanReadings;
  readonly #collection: OrphanCollection | undefined;
  readonly #stopping = new AbortController();
  readonly #failures: FailedReadings;
  #collecting: Promise<void> | undefined;

  constructor(deps: OrphanCareDeps) {
    this.#deps = deps;
    this.#failures = new FailedReadings(deps.log);
    const { options, permission, belongingTags, random, onRead } = deps;
    const { consistencyWindow, cloudCallTimeout } = options;
    this.orphans = new Orphans({
      consistencyWindow,
      changedAt: deps.changedAt,
      isHeld: deps.isHeld,
      onLeft: () => {
        this.#readings.requestIn(firstLook);
        // A request whose answer never came may still be carried out.
        this.#readings.requestIn(consistencyWindow + cloudCallTimeout);
      },
    });
    const scope = { tags: belongingTags, networkId: options.vpcId };
    const shared = { ...deps, orphans: this.orphans, scope };
    this.#readings = new OrphanReadings({
      ...shared,
      consistencyWindow,
      random: random.fork('readings'),
      onEnd: onRead,
      onFailure: (error) => this.#readFailed(error),
    });
    const decision = collectionOf(options);
    if (decision.kind !== 'on') return;
    this.#collection = new OrphanCollection({
      ...shared,
      random: random.fork('collection'),
      interval: decision.interval,
      isDryRun: () => decision.dryRun || permission.stops.dryRun,
      isHeld: () => permission.refusal('takeAway') !== undefined,
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

  /** Begins nothing more; resolves once what was begun has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#readings.stop(), this.#collecting]);
  }

  /** Sets the gauge. */
  show(): void {
    this.#deps.metrics.headwater_orphans.set(this.orphans.all().length);
  }

  #readFailed(error: unknown): void {
    this.#failures.tell('cannot read which interfaces are attached to nothing', error);
  }

  #collected({ interface: item, detachedFor, result }: Collected): void {
    const { log, metrics, onDeleted } = this.#deps;
    metrics.headwater_orphan_collections_total.add({ result: labelOf[result.kind] });
    const details = {
      interface: item.id,
      subnet: item.subnetId,
      instance: item.tags[instanceTag] ?? item.description,
      secondsDetached: Math.round(detachedFor / 1000),
    };
    switch (result.kind) {
      case 'deleted':
        log.info('deleted an interface that was attached to nothing', details);
        onDeleted(item);
        return;
      case 'spared':
        log.info('would delete an interface that is attached to nothing', details);
        return;
      case 'failed':
        log.warn('could not delete an interface that is attached to nothing', {
          ...details,
          ...told(result.failure),
        });
        return;
      default:
        log.info('left an interface alone that was attached to nothing', {
          ...details,
          why: whyOf[result.kind],
        });
    }
  }
}

const labelOf = {
  deleted: 'deleted',
  spared: 'would_delete',
  changed: 'changed',
  inUse: 'in_use',
  gone: 'not_found',
  failed: 'failed',
} as const satisfies Record<Collected['result']['kind'], string>;

const whyOf = {
  changed: 'somebody attached it, deleted it or changed its tags since it was listed',
  inUse: 'somebody attached it since it was listed',
  gone: 'somebody deleted it since it was listed',
} as const;
