// One term of leadership: all that only the leader does, from the moment it leads until everything begun has ended.
import type { Options } from '../config/option-table.ts';
import { collectionOf } from '../config/orphan-collection.ts';
import type { CiliumNodeWriter } from '../kubernetes/cilium-node-writer.ts';
import type { JsonObject } from '../kubernetes/json.ts';
import { OwnWrites } from '../kubernetes/own-writes.ts';
import type { ServedSchema } from '../kubernetes/served-schema.ts';
import type { WatchedNode } from '../kubernetes/watched-node.ts';
import { Fleet, type SeatFigures } from '../manager/fleet.ts';
import { Resync } from '../manager/resync.ts';
import { diagnoseFailure, type Diagnosis } from '../node/diagnosis.ts';
import type { NodeReference } from '../manager/fleet.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metrics.ts';
import { triggerMeter } from '../observability/trigger-meter.ts';
import { CloudError } from '../providers/cloud-failure.ts';
import type { UnreadablePart } from '../providers/infrastructure.ts';
import { InFlight } from '../providers/in-flight.ts';
import { instanceLooks } from '../providers/instance-looks.ts';
import { InstanceTypeLimits } from '../providers/instance-type-limits.ts';
import { Inventory } from '../providers/inventory.ts';
import { PublicAddressPool } from '../providers/public-address-pool.ts';
import { type MutationPermission, stopWords } from '../providers/mutation-permission.ts';
import { SubnetLedger } from '../providers/subnet-ledger.ts';
import { VisibilityLag } from '../providers/visibility-lag.ts';
import type { Batcher } from '../scheduling/batcher.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type { Cloud } from './aws-cloud.ts';
import { showFleet } from './fleet-metrics.ts';
import { ForeignWriters } from './foreign-writers.ts';
import { nodeInstruments } from './node-instruments.ts';
import { FailedReadings } from './failed-readings.ts';
import { isShort, lackingOf } from './lacking.ts';
import { OrphanCare } from './orphan-care.ts';
import { setAsideSeries } from './set-aside-series.ts';
import { type SubnetFigures, subnetFigures } from './subnet-figures.ts';

const unreadCloud = 'cannot read the cloud';

/** Nodes whose objects are written at once: fewer than there are connections, of which lists and watches take some. */
const mostPublications = 24;

export interface TermDeps {
  readonly options: Options;
  readonly cloud: Cloud;
  readonly writer: CiliumNodeWriter;
  /** Whether this process leads at this very moment. */
  readonly leads: () => boolean;
  /** Whatever was written to CiliumNodes until this resource version is known; undefined while that cannot be said. */
  readonly knownVersion: () => string | undefined;
  readonly permission: MutationPermission;
  readonly schema: ServedSchema;
  /** Takes the answer to a write into the cache. */
  readonly observe: (raw: JsonObject) => void;
  readonly waitingPods: (name: string) => number;
  readonly tell: (node: NodeReference, diagnosis: Diagnosis) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  readonly onBug: (error: unknown) => void;
}

export class Term {
  readonly #deps: TermDeps;
  readonly #inventory: Inventory;
  readonly #ledger = new SubnetLedger();
  readonly #looks: Batcher<string>;
  readonly #limits: InstanceTypeLimits;
  readonly #publicAddresses: PublicAddressPool;
  readonly #resync: Resync;
  readonly #orphanCare: OrphanCare;
  readonly #fleet: Fleet;
  readonly #ownWrites: OwnWrites;
  readonly #foreignWriters: ForeignWriters;
  readonly #stopping = new AbortController();
  #running: Promise<unknown> | undefined;
  /** Every CiliumNode that there was is known. */
  #hasBegun = false;
  #problems = '';
  readonly #failures: FailedReadings;
  #resyncError: unknown;

  constructor(deps: TermDeps) {
    this.#deps = deps;
    this.#failures = new FailedReadings(deps.log);
    const { options, clock, random, cloud } = deps;
    const { implementation } = cloud;
    const { consistencyWindow } = options;
    this.#inventory = new Inventory({ consistencyWindow });
    const shared = { implementation, inventory: this.#inventory, ledger: this.#ledger, clock };
    this.#looks = instanceLooks({
      ...shared,
      random: random.fork('looks'),
      onChanged: (instanceIds) => this.#fleet.instancesChanged(instanceIds),
      onFailure: (error, instanceIds) =>
        this.#failures.tell('cannot look at instances', error, { instanceIds }),
    });
    this.#limits = new InstanceTypeLimits({
      ...shared,
      random: random.fork('limits'),
      onNews: () => this.#fleet.wakeWhere(({ assessment }) => assessment.kind !== 'served'),
      onFailure: (error, instanceTypes) =>
        this.#failures.tell('cannot read instance types', error, { instanceTypes }),
    });
    this.#publicAddresses = new PublicAddressPool({
      implementation,
      clock,
      random: random.fork('public addresses'),
      consistencyWindow,
    });
    this.#ownWrites = this.#createOwnWrites();
    this.#foreignWriters = this.#createForeignWriters();
    this.#resync = this.#createResync(shared);
    this.#orphanCare = this.#createOrphanCare();
    this.#fleet = this.#createFleet(shared);
    // What may be begun again is begun, and what may not be begun any more says so.
    deps.permission.onChange(() => this.#fleet.wakeAll());
  }

  /** Takes the fleet over as it is and begins to serve it. */
  begin(nodes: Iterable<WatchedNode>): void {
    const { signal } = this.#stopping;
    const running = [this.#run(nodes, signal), this.#foreignWriters.run(signal)];
    this.#running = Promise.all(running.map((each) => this.#untilStopped(each, signal)));
    this.#orphanCare.begin();
  }

  /** What ends otherwise than by the signal is a bug. */
  async #untilStopped(work: Promise<void>, signal: AbortSignal): Promise<void> {
    await work.catch((error: unknown) => {
      if (!signal.aborted) this.#deps.onBug(error);
    });
  }

  async #run(nodes: Iterable<WatchedNode>, signal: AbortSignal): Promise<void> {
    await this.#fleet.begin(nodes, signal);
    this.#hasBegun = true;
    await this.#resync.run(signal);
  }

  apply(name: string, watched: WatchedNode | undefined): void {
    this.#fleet.apply(name, watched);
  }

  waitingPodsChanged(name: string): void {
    this.#fleet.waitingPodsChanged(name);
  }

  /** Begins nothing more; resolves once everything begun has ended, which `deadline` cuts short. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping.abort();
    this.#foreignWriters.stop();
    await this.#fleet.stop(deadline);
    await Promise.all([
      this.#looks.stop(),
      this.#limits.stop(),
      this.#publicAddresses.stop(),
      this.#orphanCare.stop(),
      this.#running,
    ]);
  }

  /** Whether the cloud was read completely since the term began. */
  get hasRead(): boolean {
    return (
      this.#resync.lastBegunAt !== undefined || (this.#hasBegun && this.#fleet.networkIds().length === 0)
    );
  }

  /** The last write of somebody else to what only we write, as long as it stops anything. */
  get foreignWrite(): ForeignWriters['last'] {
    return this.#foreignWriters.last;
  }

  /** Why the last reading of the cloud failed; undefined when none did. */
  get readProblem(): string | undefined {
    const error = this.#resyncError;
    if (error === undefined) return undefined;
    return error instanceof CloudError ? diagnoseFailure(error.failure).text : 'see the log';
  }

  seats(): readonly SeatFigures[] {
    return [...this.#fleet.figures()];
  }

  /** Subnets with what they have left, as it is counted on now. */
  subnets(): readonly SubnetFigures[] {
    return subnetFigures(this.#resync.infrastructure, this.#ledger, this.#deps.clock.monotonic());
  }

  /** Sets every gauge about the fleet and the cloud. */
  show(): void {
    const { clock, registry, cloud } = this.#deps;
    const { metrics } = registry;
    const now = clock.monotonic();
    showFleet(registry, this.seats(), now);
    cloud.showCalls();
    this.#orphanCare.show();
    const { lastBegunAt } = this.#resync;
    if (lastBegunAt !== undefined) metrics.headwater_inventory_age_seconds.set((now - lastBegunAt) / 1000);
    const subnets = this.subnets();
    const labelled = subnets.map(
      ({ id, zone, free }) => [{ subnet_id: id, availability_zone: zone }, free] as const,
    );
    metrics.headwater_subnet_free_addresses.replaceAll(labelled);
    metrics.cilium_operator_ipam_available_ips_per_subnet.replaceAll(labelled);
    metrics.headwater_subnet_reserved_addresses.replaceAll(
      subnets.map(({ id, reserved }) => [{ subnet_id: id }, reserved] as const),
    );
    metrics.headwater_set_aside.replaceAll(setAsideSeries(this.seats(), subnets));
  }

  #createOwnWrites(): OwnWrites {
    const { writer, permission } = this.#deps;
    return new OwnWrites(writer, () => {
      const reason = permission.refusal('publish');
      return reason && stopWords[reason];
    });
  }

  #createForeignWriters(): ForeignWriters {
    const { permission, clock, log, registry, tell, cloud, writer, leads, knownVersion } = this.#deps;
    const { metrics } = registry;
    const { statusKey } = cloud.implementation;
    return new ForeignWriters({
      permission,
      clock,
      log,
      metrics,
      tell,
      statusKey,
      leads,
      knownVersion,
      ownWrites: this.#ownWrites,
      collectionVersion: (signal) => writer.collectionVersion(signal),
    });
  }

  #createOrphanCare(): OrphanCare {
    const { options, cloud, clock, random, log, registry, onBug } = this.#deps;
    const { implementation, belongingTags } = cloud;
    const wakeShort = (): void => this.#fleet.wakeWhere(isShort);
    return new OrphanCare({
      options,
      changedAt: (interfaceId) => this.#inventory.changedAt(interfaceId),
      isHeld: (interfaceId, begunAt) => {
        const holder = this.#inventory.seenDetached(interfaceId, begunAt);
        if (holder !== undefined) this.#fleet.instancesChanged(new Set([holder]));
        return holder !== undefined;
      },
      permission: this.#deps.permission,
      implementation,
      belongingTags,
      clock,
      random: random.fork('orphans'),
      log,
      metrics: registry.metrics,
      onRead: wakeShort,
      onDeleted: (item) => {
        const count = 1 + item.addresses.length + item.prefixes.length * 16;
        this.#ledger.released(item.subnetId, count, clock.monotonic());
        wakeShort();
      },
      onBug,
    });
  }

  #createResync(
    shared: Pick<
      ConstructorParameters<typeof Resync>[0],
      'implementation' | 'inventory' | 'ledger' | 'clock'
    >,
  ): Resync {
    const { options, random, log, registry } = this.#deps;
    const { metrics } = registry;
    const meter = triggerMeter(metrics, 'resync');
    return new Resync({
      ...shared,
      random: random.fork('resync'),
      interval: options.resyncInterval,
      networkIds: () => this.#fleet.networkIds(),
      lacking: () => lackingOf(this.seats()),
      hooks: {
        onChanged: (instanceIds) => this.#fleet.instancesChanged(instanceIds),
        onInfrastructure: (reshaped, problems) => {
          this.#fleet.wakeWhere((figures) => reshaped || isShort(figures));
          this.#remark(problems);
        },
        onRequested: () => meter.requested(),
        onEnd: ({ error, ...figures }) => {
          const { duration } = figures;
          meter.ran(figures);
          const outcome = error === undefined ? 'success' : 'failed';
          metrics.headwater_resync_duration_seconds.observe({ outcome }, duration / 1000);
          metrics.cilium_operator_ipam_background_sync_duration_seconds.observe(
            { status: outcome },
            duration / 1000,
          );
          metrics.cilium_operator_ipam_resync_total.add();
          this.#resyncError = error;
          if (error === undefined) {
            this.#failures.succeeded(unreadCloud);
            log.info('read the cloud', { seconds: Math.round(duration) / 1000 });
          } else this.#failures.tell(unreadCloud, error);
          this.#fleet.wakeWhere(({ assessment }) => assessment.kind === 'unread');
        },
        onNetworkFailed: (error) => this.#failures.tell('cannot read what the network has left', error),
      },
    });
  }

  #createFleet(
    shared: Pick<
      ConstructorParameters<typeof Resync>[0],
      'implementation' | 'inventory' | 'ledger' | 'clock'
    >,
  ): Fleet {
    const { options, cloud, permission, schema, observe, waitingPods, tell, log, registry, random, onBug } =
      this.#deps;
    const instruments = nodeInstruments({
      log,
      registry,
      tell,
      collects: collectionOf(options).kind === 'on',
    });
    return new Fleet({
      context: {
        ...shared,
        publicAddresses: this.#publicAddresses,
        visibilityLag: new VisibilityLag(),
        orphans: this.#orphanCare.orphans,
        infrastructure: () => this.#resync.infrastructure,
        limitsOf: (instanceType) => this.#limits.get(instanceType),
        look: (instanceId) => this.#looks.request(instanceId),
        listingUnderway: (instanceId) => this.#resync.covers(instanceId),
        writer: this.#ownWrites,
        publications: new InFlight(mostPublications),
        permission,
        onNewerState: (previous, node) => this.#foreignWriters.judge(previous, node),
        mayBePredecessors: (node) => this.#foreignWriters.mayBePredecessors(node),
        observe,
        prune: (value, path) => schema.prune(value, path),
        prunesError: !schema.knows(['status', 'ipam', 'operator-status', 'error']),
        random: random.fork('nodes'),
        timing: { callTimeout: options.cloudCallTimeout, consistencyWindow: options.consistencyWindow },
        releasePolicy: {
          enabled: options.awsReleaseExcessIps,
          delay: options.excessIpReleaseDelay,
          hiddenFor: options.releaseHiddenTime,
          idleDelay: idleDelayOf(options),
        },
        spreadCalls: options.spreadCloudCalls,
        interfaceTags: cloud.interfaceTags,
        assessmentOptions: {
          usePrimaryAddress: options.awsUsePrimaryAddress,
          prefixDelegation: options.awsEnablePrefixDelegation,
          networkId: options.vpcId,
        },
        onBug,
      },
      hooks: {
        ...instruments,
        onSpace: () => this.#fleet.spaceFreed(),
        onRemoved: (name) => {
          this.#ownWrites.forget(name);
          instruments.onRemoved(name);
        },
      },
      waitingPods,
      onRecalled: (known) => this.#resync.remember(known),
      onNetwork: (networkId) => {
        if (!this.#resync.infrastructure.networkIds.has(networkId)) this.#resync.request();
      },
    });
  }

  /** Says what of the network could not be understood, once for as long as it stays the same. */
  #remark(problems: readonly UnreadablePart[]): void {
    const text = JSON.stringify(problems);
    if (text === this.#problems || problems.length === 0) return;
    this.#problems = text;
    this.#deps.log.warn('parts of the network cannot be understood and are left out', { problems });
  }
}

/** Where nothing is released, nothing that is empty was emptied by us. */
function idleDelayOf({ awsReleaseExcessIps, idleInterfaceDelay }: Options): number | undefined {
  return awsReleaseExcessIps && idleInterfaceDelay > 0 ? idleInterfaceDelay : undefined;
}
