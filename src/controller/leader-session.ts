// One leader session: everything only the leader runs, from gaining leadership until its work in flight has ended. It
// connects the parts: what one of them learns wakes the nodes that depend on it.
import type { NodeReference } from '../kubernetes/cilium-node/cilium-node.ts';
import { cloudSettings } from '../config/cloud-settings.ts';
import type { Options } from '../config/option-table.ts';
import type { CiliumNodeWriter, WriteOutcome } from '../kubernetes/cilium-node/cilium-node-writer.ts';
import type { EventReport } from '../kubernetes/events/event-object.ts';
import type { JsonObject } from '../kubernetes/transport/json.ts';
import { OwnWrites } from '../kubernetes/cilium-node/own-writes.ts';
import type { ServedSchema } from '../kubernetes/cilium-node/served-schema.ts';
import type { WatchedNode } from '../kubernetes/cilium-node/watched-node.ts';
import { BlockedErrors } from '../kubernetes/cilium-node/blocked-errors.ts';
import { clusterEvidence } from '../manager/withdrawals/cluster-evidence.ts';
import { NodeManager } from '../manager/node-manager.ts';
import type { NodeIdentities, TouchedIdentities } from '../manager/claims/node-identities.ts';
import { Resync } from '../manager/resync.ts';
import { prefixesOf } from '../node/allocate/planned-step.ts';
import type { NodeFigures, NodeSummary } from '../node/reconcile/node-summary.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metrics.ts';
import { triggerMeter } from '../observability/trigger-meter.ts';
import { ConcurrencyLimiter } from '../providers/rate-limit/concurrency-limit.ts';
import { InstanceRefresh } from '../providers/inventory/instance-refresh.ts';
import { InstanceTypeLimits } from '../providers/catalog/instance-type-limits.ts';
import { Inventory } from '../providers/inventory/inventory.ts';
import { PublicAddressPool } from '../providers/catalog/public-address-pool.ts';
import { type MutationPermission, pauseWords } from '../providers/gate/mutation-permission.ts';
import { BlockedResources } from '../node/allocate/blocked-resources.ts';
import { logBlocked } from './reporting/failure-fields.ts';
import { SubnetLedger } from '../providers/catalog/subnet-ledger.ts';
import { VisibilityLag } from '../providers/inventory/visibility-lag.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Cloud } from './clouds/cloud.ts';
import { showFleet } from './reporting/fleet-metrics.ts';
import { ConflictingWriters } from './conflicting-writers.ts';
import { nodeInstruments } from './reporting/node-instruments.ts';
import { FailedReadings } from './reporting/failed-readings.ts';
import { nodeOptions } from './node-options.ts';
import { inDeficit, missingDataOf } from './reporting/missing-data.ts';
import { OrphanGcRunner } from './orphan-gc-runner.ts';
import { scopeProblem } from './reporting/served-scope.ts';
import { blockedSeries, warningSeries } from './reporting/blocked-metrics.ts';
import { type SubnetFigures, subnetFigures } from './reporting/subnet-figures.ts';
import { showSubnets } from './reporting/subnet-metrics.ts';
import type { WithdrawalReport } from './reporting/status-report.ts';
import { type LeaseNotes, WithdrawalWatch } from './withdrawal-watch.ts';

const cannotReadCloud = 'cannot read the cloud';
const cannotReadTypes = 'cannot read instance types';

const operatorErrorPath = ['status', 'ipam', 'operator-status', 'error'];

/** Concurrent CiliumNode writers. Fewer than the connections, because lists and watches use some. */
const mostPublications = 24;

export interface LeaderSessionDeps {
  readonly options: Options;
  readonly cloud: Cloud;
  readonly writer: CiliumNodeWriter;
  /** Called if no node names a network, so nothing is read from the cloud. */
  readonly onNothingToRead: () => void;
  /** Reports the outcome of a CiliumNode write. */
  readonly onWritten: (name: string, outcome: WriteOutcome) => void;
  /** Whether this process leads at this moment. */
  readonly leads: () => boolean;
  /** CiliumNode writes up to this resource version are known; undefined while that is uncertain. */
  readonly knownVersion: () => string | undefined;
  readonly permission: MutationPermission;
  readonly schema: ServedSchema;
  /** Applies the answer to a write to the cache. */
  readonly observe: (raw: JsonObject) => void;
  readonly pendingPods: (name: string) => number;
  readonly recordEvent: (node: NodeReference, report: EventReport) => void;
  /** Records an Event that concerns all nodes. */
  readonly recordLeaseEvent: (report: EventReport) => void;
  /** Undefined without leader election. */
  readonly lease: LeaseNotes | undefined;
  /** Current value of the option allow-withdrawals. */
  readonly allowedWithdrawals: () => string | undefined;
  /** The instance identities that Nodes report. */
  readonly identities: NodeIdentities;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  readonly onBug: (error: unknown) => void;
}

export class LeaderSession {
  readonly #deps: LeaderSessionDeps;
  readonly #withdrawals: WithdrawalWatch;
  readonly #inventory: Inventory;
  readonly #ledger = new SubnetLedger();
  readonly #instanceRefresh: InstanceRefresh;
  readonly #limits: InstanceTypeLimits;
  readonly #publicAddresses: PublicAddressPool;
  readonly #resync: Resync;
  readonly #orphanGc: OrphanGcRunner;
  readonly #nodes: NodeManager;
  readonly #ownWrites: OwnWrites;
  readonly #conflictingWriters: ConflictingWriters;
  readonly #blockedErrors: BlockedErrors;
  readonly #stopping = new AbortController();
  #running: Promise<unknown> | undefined;
  /** Every existing CiliumNode is known. */
  #hasStarted = false;
  readonly #failures: FailedReadings;

  constructor(deps: LeaderSessionDeps) {
    this.#deps = deps;
    this.#failures = new FailedReadings(deps.log);
    const { options, clock, random, cloud } = deps;
    const { implementation } = cloud;
    const { consistencyWindow } = options;
    this.#withdrawals = this.#createWithdrawals();
    this.#inventory = new Inventory({ consistencyWindow, gate: this.#withdrawals.gate });
    const shared = { implementation, inventory: this.#inventory, ledger: this.#ledger, clock };
    this.#instanceRefresh = new InstanceRefresh({
      ...shared,
      consistencyWindow,
      random: random.fork('looks'),
      onChanged: (instanceIds, read) => {
        this.#failures.instancesRead(read);
        this.#nodes.instancesChanged(instanceIds);
      },
      onPage: (page) => this.#resync.learn(page),
      onFailure: (error, instanceIds) => {
        this.#failures.reportInstances('cannot read instances', error, instanceIds);
        this.#nodes.instancesChanged(new Set(instanceIds));
      },
    });
    this.#limits = new InstanceTypeLimits({
      ...shared,
      random: random.fork('limits'),
      onNews: () => {
        this.#failures.succeeded(cannotReadTypes);
        this.#nodes.wakeWhere(({ assessment }) => assessment.kind !== 'served');
      },
      onFailure: (error, instanceTypes) => {
        this.#failures.report(cannotReadTypes, error, { instanceTypes });
        this.#nodes.wakeWhere(({ assessment }) => assessment.kind === 'unread');
      },
    });
    this.#publicAddresses = new PublicAddressPool({
      implementation,
      clock,
      random: random.fork('public addresses'),
      consistencyWindow,
    });
    this.#ownWrites = this.#createOwnWrites();
    this.#conflictingWriters = this.#createConflictingWriters();
    this.#blockedErrors = this.#createBlockedErrors();
    this.#resync = this.#createResync(shared);
    this.#orphanGc = this.#createOrphanGc();
    this.#nodes = this.#createNodeManager(shared);
    // When permissions change, nodes start what may run again and report what is paused.
    deps.permission.onChange(() => {
      this.#nodes.wakeAll();
      this.#blockedErrors.resume();
    });
  }

  /** Takes over the fleet in its current state and starts to serve it. */
  begin(nodes: Iterable<WatchedNode>): void {
    const { signal } = this.#stopping;
    const running = [this.#run(nodes, signal), this.#conflictingWriters.run(signal)];
    this.#running = Promise.all(running.map((each) => this.#untilStopped(each, signal)));
    this.#withdrawals.begin();
    // Where Headwater makes no interfaces, it leaves none behind.
    if (this.#deps.cloud.implementation.traits.interfaces === 'made') this.#orphanGc.begin();
  }

  /** Reports a bug if the work ends for any reason but the signal. */
  async #untilStopped(work: Promise<void>, signal: AbortSignal): Promise<void> {
    await work.catch((error: unknown) => {
      if (!signal.aborted) this.#deps.onBug(error);
    });
  }

  async #run(nodes: Iterable<WatchedNode>, signal: AbortSignal): Promise<void> {
    await this.#nodes.begin(nodes, signal);
    this.#hasStarted = true;
    await this.#resync.run(signal);
  }

  apply(name: string, watched: WatchedNode | undefined): void {
    this.#nodes.apply(name, watched);
  }

  identitiesChanged(touched: TouchedIdentities): void {
    this.#nodes.identitiesChanged(touched);
  }

  pendingPodsChanged(name: string): void {
    this.#nodes.pendingPodsChanged(name);
  }

  /** Starts nothing more; resolves once work in flight has ended, at `deadline` at the latest. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping.abort();
    this.#withdrawals.stop();
    this.#conflictingWriters.stop();
    await this.#nodes.stop(deadline);
    await Promise.all([
      this.#instanceRefresh.stop(),
      this.#limits.stop(),
      this.#publicAddresses.stop(),
      this.#orphanGc.stop(),
      this.#blockedErrors.stop(deadline),
      this.#running,
    ]);
  }

  /** Whether the cloud was read completely in this session. */
  get hasRead(): boolean {
    return this.#resync.lastStartedAt !== undefined;
  }

  /** Whether no node names a network to read. */
  get hasNothingToRead(): boolean {
    return this.#hasStarted && this.#resync.hasNothingToRead;
  }

  /** The last conflicting write, while it pauses anything. */
  get conflictingWrite(): ConflictingWriters['last'] {
    return this.#conflictingWriters.last;
  }

  /** Why the last read of the cloud failed; undefined if it did not. */
  get readProblem(): string | undefined {
    return this.#failures.problemOf(cannotReadCloud);
  }

  /** Why no node is served; undefined if one may be. */
  get scopeProblem(): string | undefined {
    return this.#hasStarted ? scopeProblem(this.summaries()) : undefined;
  }

  /** Why the state read from the cloud is not reliable; undefined if it is. */
  get unreliableReason(): string | undefined {
    return this.#withdrawals.problem();
  }

  /** Undefined while no withdrawals are held. */
  get heldWithdrawals(): WithdrawalReport | undefined {
    return this.#withdrawals.report();
  }

  #reconciled(): readonly NodeFigures[] {
    return this.summaries().flatMap((entry) => (entry.kind === 'reconciled' ? [entry.figures] : []));
  }

  /** The nodes that a Node verifies, if Nodes are known. Other CiliumNodes may name instances of any network. */
  #ofThisCluster(): readonly NodeFigures[] {
    const { isKnown } = this.#deps.identities;
    return this.#reconciled().filter(({ isVerified }) => isVerified || !isKnown);
  }

  summaries(): readonly NodeSummary[] {
    return [...this.#nodes.figures()];
  }

  /** Subnets with the free addresses that planning assumes now. */
  subnets(): readonly SubnetFigures[] {
    const { infrastructure, wholeBlocks } = this.#resync;
    const now = this.#deps.clock.monotonic();
    return subnetFigures({ infrastructure, wholeBlocks, ledger: this.#ledger }, now);
  }

  /** Sets every gauge about the fleet and the cloud. */
  show(): void {
    const { clock, registry, cloud, options } = this.#deps;
    const { metrics } = registry;
    const now = clock.monotonic();
    const summaries = this.summaries();
    showFleet(registry, { summaries, now, mostNodesShown: options.nodeMetricsLimit });
    cloud.showCalls();
    this.#orphanGc.show();
    metrics.headwater_inventory_age_seconds.set((now - (this.#resync.currentAt ?? now)) / 1000);
    metrics.headwater_resync_interval_seconds.set(options.resyncInterval / 1000);
    const subnets = this.subnets();
    showSubnets(metrics, subnets, summaries);
    metrics.headwater_withdrawals_held.set(this.#withdrawals.heldNodes);
    metrics.headwater_blocked.replaceAll(blockedSeries(summaries, subnets));
    metrics.headwater_warnings.replaceAll(warningSeries(summaries));
  }

  #createWithdrawals(): WithdrawalWatch {
    const { options, cloud, permission, lease, clock, log } = this.#deps;
    const { recordEvent, recordLeaseEvent, allowedWithdrawals } = this.#deps;
    return new WithdrawalWatch({
      held: {
        heldWithdrawals: () => this.#inventory.heldWithdrawals(),
        reevaluate: (now) => this.#inventory.reevaluate(now),
      },
      members: () => this.#nodes.members(),
      consistencyWindow: options.consistencyWindow,
      allowed: allowedWithdrawals,
      describe: () => cloud.describe(),
      permission,
      lease,
      recordLeaseEvent,
      recordNodeEvent: recordEvent,
      onWithdrawn: (instanceIds) => this.#nodes.instancesChanged(instanceIds),
      clock,
      log,
    });
  }

  #createOwnWrites(): OwnWrites {
    const { writer, permission, onWritten } = this.#deps;
    const refusal = (): string | undefined => {
      const reason = permission.refusal('publish');
      return reason && pauseWords[reason];
    };
    return new OwnWrites(writer, refusal, onWritten);
  }

  #createBlockedErrors(): BlockedErrors {
    const { permission, schema, observe, clock, random, onBug } = this.#deps;
    return new BlockedErrors({
      writer: this.#ownWrites,
      observe,
      mayWrite: () => permission.refusal('publish') === undefined && schema.knows(operatorErrorPath),
      clock,
      random: random.fork('blocked errors'),
      onBug,
    });
  }

  #createConflictingWriters(): ConflictingWriters {
    const { permission, clock, log, registry, recordEvent, cloud, writer, leads, knownVersion } = this.#deps;
    const { metrics } = registry;
    return new ConflictingWriters({
      permission,
      clock,
      log,
      metrics,
      recordEvent,
      section: cloud.implementation.section,
      leads,
      counts: ({ name, instanceId = '' }) => this.#nodes.mayBelongTo(name, instanceId),
      knownVersion,
      ownWrites: this.#ownWrites,
      collectionVersion: (signal) => writer.collectionVersion(signal),
    });
  }

  #createOrphanGc(): OrphanGcRunner {
    const { options, cloud, clock, random, log, registry, onBug } = this.#deps;
    const { implementation, belongingTags } = cloud;
    const wakeInDeficit = (): void => this.#nodes.wakeWhere(inDeficit);
    return new OrphanGcRunner({
      options,
      evidence: () => clusterEvidence(this.#ofThisCluster(), belongingTags),
      changedAt: (interfaceId) => this.#inventory.changedAt(interfaceId),
      isHeld: (interfaceId, startedAt) => {
        const holder = this.#inventory.seenDetached(interfaceId, startedAt);
        if (holder !== undefined) this.#nodes.instancesChanged(new Set([holder]));
        return holder !== undefined;
      },
      permission: this.#deps.permission,
      implementation,
      belongingTags,
      clock,
      random: random.fork('orphans'),
      log,
      metrics: registry.metrics,
      onRead: wakeInDeficit,
      onDeleted: (item) => {
        const count = 1 + item.addresses.length + item.prefixes.length * 16;
        this.#ledger.released(item.subnetId, count, clock.monotonic());
        wakeInDeficit();
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
      networkIds: () => this.#nodes.networkIds(),
      instanceIds: () => this.#nodes.instanceIds(),
      zones: () => this.#nodes.zones(),
      missingData: () => missingDataOf(this.summaries()),
      hooks: {
        onChanged: (instanceIds) => this.#nodes.instancesChanged(instanceIds),
        onInfrastructure: (reshaped, problems) => {
          this.#nodes.wakeWhere((figures) => reshaped || inDeficit(figures));
          this.#failures.reportSkipped(problems);
        },
        onRequested: () => meter.requested(),
        onEnd: ({ error, isEmpty, ...figures }) => {
          const { duration } = figures;
          meter.ran(figures);
          const outcome = error === undefined ? 'success' : 'failed';
          metrics.headwater_resync_duration_seconds.observe({ outcome }, duration / 1000);
          metrics.cilium_operator_ipam_background_sync_duration_seconds.observe(
            { status: outcome },
            duration / 1000,
          );
          metrics.cilium_operator_ipam_resync_total.add();
          if (error === undefined) {
            this.#failures.succeeded(cannotReadCloud);
            this.#failures.keepInstances((instanceId) => this.#inventory.view(instanceId) !== undefined);
            if (this.hasRead || this.hasNothingToRead) this.#withdrawals.noteResync();
            if (isEmpty) this.#deps.onNothingToRead();
            else log.info('read the cloud', { seconds: Math.round(duration) / 1000 });
          } else this.#failures.report(cannotReadCloud, error);
          this.#nodes.wakeWhere(({ assessment }) => assessment.kind === 'unread');
        },
        onNetworkFailed: (error) => this.#failures.report('cannot refresh the subnets', error),
      },
    });
  }

  #createNodeManager(
    shared: Pick<
      ConstructorParameters<typeof Resync>[0],
      'implementation' | 'inventory' | 'ledger' | 'clock'
    >,
  ): NodeManager {
    const { options, cloud, permission, schema, observe, pendingPods, log, registry, random, onBug } =
      this.#deps;
    const instruments = nodeInstruments({
      clock: this.#deps.clock,
      log,
      registry,
      recordEvent: this.#deps.recordEvent,
      recordClusterEvent: this.#deps.recordLeaseEvent,
      collects: cloudSettings(options).collection.kind === 'on',
    });
    return new NodeManager({
      identities: this.#deps.identities,
      requireNode: options.requireNode,
      context: {
        ...shared,
        publicAddresses: this.#publicAddresses,
        visibilityLag: new VisibilityLag(),
        blocked: new BlockedResources({
          clock: this.#deps.clock,
          random: random.fork('set aside'),
          onChange: (scope, failure) => logBlocked(log, scope, failure),
        }),
        orphans: this.#orphanGc.orphans,
        infrastructure: () => this.#resync.infrastructure,
        limitsOf: (instanceType) => this.#limits.get(instanceType),
        unreadBecause: (instanceId) => this.#failures.conditionOf(instanceId),
        refresh: (instanceId) => this.#instanceRefresh.request(instanceId),
        refreshAwaited: (instanceId, since) => this.#instanceRefresh.await(instanceId, since),
        listingInFlight: (instanceId) => this.#resync.covers(instanceId),
        writer: this.#ownWrites,
        publications: new ConcurrencyLimiter(mostPublications),
        permission,
        onNewerState: (previous, node) => this.#conflictingWriters.check(previous, node),
        mayBePreviousLeaders: (node) => this.#conflictingWriters.mayBePreviousLeaders(node),
        observe,
        prune: (value, path) => schema.prune(value, path),
        prunesError: !schema.knows(operatorErrorPath),
        random: random.fork('nodes'),
        ...nodeOptions(options),
        interfaceTags: cloud.interfaceTags,
        onBug,
      },
      hooks: {
        ...instruments,
        onStep: (name, finished) => {
          const { step, result } = finished;
          if (result.kind === 'done') this.#resync.prefixesTaken(step.subnetId, prefixesOf(step));
          instruments.onStep(name, finished);
        },
        onBlocked: (node, condition) => {
          instruments.onBlocked(node, condition);
          this.#blockedErrors.say(node, condition?.message);
        },
        onSpace: () => this.#nodes.spaceFreed(),
        onRemoved: (name) => {
          this.#ownWrites.forget(name);
          this.#blockedErrors.forget(name);
          instruments.onRemoved(name);
        },
      },
      pendingPods,
      onRestored: (known) => this.#resync.remember(known),
      onNetwork: (networkId) => this.#resync.shownIn(networkId),
    });
  }
}
