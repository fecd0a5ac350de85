// Runs orphan handling for the leader: tracks orphaned interfaces, reads them, and collects them if the
// options allow it. Adds log lines and metrics.
import { onlyNetwork } from '../../config/clouds/cloud-descriptor.ts';
import { cloudSettings } from '../../config/clouds/clouds.ts';
import type { NodeIdentities } from '../../manager/claims/node-identities.ts';
import type { Fleet } from '../../manager/fleet.ts';
import type { CloudListener } from '../../manager/serving-event.ts';
import { clusterEvidence } from '../../manager/withdrawals/cluster-evidence.ts';
import type { NodeFigures } from '../../node/reconcile/node-summary.ts';
import type { SubnetLedger } from '../../providers/catalog/subnet-ledger.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import type { Inventory } from '../../providers/inventory/inventory.ts';
import { type Collected, OrphanGc, type OrphanGcEvent } from '../../providers/orphans/orphan-gc.ts';
import { type OrphanReadEvent, OrphanReadings } from '../../providers/orphans/orphan-readings.ts';
import { Orphans } from '../../providers/orphans/orphans.ts';
import { instanceTag } from '../../providers/orphans/ownership-tags.ts';
import type { Cloud } from '../clouds/cloud.ts';
import type { Host } from '../host.ts';
import { FailedReadings } from '../reporting/failed-readings.ts';
import { failureFields } from '../reporting/failure-fields.ts';

export interface OrphanGcRunnerDeps {
  readonly host: Host;
  readonly cloud: Pick<Cloud, 'implementation' | 'belongingTags' | 'naming'>;
  readonly permission: MutationPermission;
  readonly inventory: Pick<Inventory, 'changedAt' | 'seenDetached' | 'invalidate'>;
  readonly ledger: Pick<SubnetLedger, 'released'>;
  readonly fleet: Pick<Fleet, 'figures'>;
  readonly identities: Pick<NodeIdentities, 'isKnown'>;
  readonly listener: CloudListener;
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
    const { cloud, permission, inventory } = deps;
    const { options, clock, log } = deps.host;
    const random = deps.host.random.fork('orphans');
    this.#failures = new FailedReadings(log);
    const { consistencyWindow, cloudCallTimeout } = options;
    this.orphans = new Orphans({
      consistencyWindow,
      changedAt: (interfaceId) => inventory.changedAt(interfaceId),
      isHeld: (interfaceId, startedAt) => this.#isHeld(interfaceId, startedAt),
      onLeft: () => {
        this.#readings.requestIn(firstReadDelay);
        // The cloud may still execute a request whose answer was lost.
        this.#readings.requestIn(consistencyWindow + cloudCallTimeout);
      },
    });
    const settings = cloudSettings(options);
    const scope = { tags: cloud.belongingTags, networkId: onlyNetwork(settings.scope) };
    const emit = (event: OrphanGcEvent | OrphanReadEvent): void => this.#happened(event);
    const shared = { implementation: cloud.implementation, orphans: this.orphans, scope, clock };
    const readingPorts = { ...shared, random: random.fork('readings') };
    this.#readings = new OrphanReadings(readingPorts, consistencyWindow, emit);
    const { collection: decision } = settings;
    if (decision.kind !== 'on') return;
    this.#collection = new OrphanGc(
      { ...shared, random: random.fork('collection') },
      {
        interval: decision.interval,
        evidence: () =>
          cloud.naming?.doubt === undefined
            ? clusterEvidence(this.#ofThisCluster(), cloud.belongingTags)
            : () => false,
        dryRun: decision.dryRun,
        permission,
        readings: this.#readings,
        emit,
      },
    );
  }

  beginCollecting(): void {
    const { onBug } = this.#deps.host;
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
    this.#deps.host.registry.metrics.headwater_orphaned_interfaces.set(this.orphans.all().length);
  }

  /** An instance still has an interface that a read from that time shows as detached. */
  #isHeld(interfaceId: string, startedAt: number): boolean {
    const { inventory, listener } = this.#deps;
    const holder = inventory.seenDetached(interfaceId, startedAt);
    if (holder !== undefined)
      listener.cloudChanged({ kind: 'instancesChanged', instanceIds: new Set([holder]) });
    return holder !== undefined;
  }

  #readAgain(instanceIds: ReadonlySet<string>): void {
    const { inventory, listener, host } = this.#deps;
    for (const id of instanceIds) inventory.invalidate(id, host.clock.monotonic());
    if (instanceIds.size > 0) listener.cloudChanged({ kind: 'instancesChanged', instanceIds });
  }

  /** The nodes that a Node verifies, if Nodes are known. Other CiliumNodes may name instances of any network. */
  #ofThisCluster(): readonly NodeFigures[] {
    const { identities, fleet } = this.#deps;
    const served = [...fleet.figures()].flatMap((entry) =>
      entry.kind === 'reconciled' ? [entry.figures] : [],
    );
    return served.filter(({ isVerified }) => isVerified || !identities.isKnown);
  }

  /** The addresses of a deleted interface returned to its subnet. */
  #deleted({ subnetId, addresses, prefixes }: NetworkInterface): void {
    const { ledger, host } = this.#deps;
    ledger.released(subnetId, 1 + addresses.length + prefixes.length * 16, host.clock.monotonic());
    this.#deps.listener.cloudChanged({ kind: 'supplyChanged' });
  }

  #happened(event: OrphanGcEvent | OrphanReadEvent): void {
    switch (event.kind) {
      case 'readEnded':
        this.#readAgain(event.missed);
        return this.#deps.listener.cloudChanged({ kind: 'supplyChanged' });
      case 'readFailed':
        return this.#failures.report('cannot read orphaned interfaces', event.error);
      case 'collected':
        return this.#collected(event.collected);
    }
  }

  #collected({ interface: item, detachedFor, result }: Collected): void {
    const { log, registry } = this.#deps.host;
    registry.metrics.headwater_orphan_deletions_total.add({ result: labelOf[result.kind] });
    const details = {
      interface: item.id,
      subnet: item.subnetId,
      instance: item.tags[instanceTag] ?? item.description,
      secondsDetached: Math.round(detachedFor / 1000),
    };
    switch (result.kind) {
      case 'deleted':
        log.info('deleted orphaned interface', details);
        return this.#deleted(item);
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
