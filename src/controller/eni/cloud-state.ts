// The state of the cloud as the leader knows it: what exists and what is free, which limits apply, what was refused, and what
// waits for the withdrawal brake. It reads what is due, reports reads that fail, and wakes the nodes that depend on the news.
import type { NodeIdentities } from '../../manager/claims/node-identities.ts';
import type { Fleet } from '../../manager/fleet.ts';
import type { CloudListener } from '../../manager/serving-event.ts';
import type { Approval } from '../../manager/withdrawals/withdrawal-brake.ts';
import { type FinishedResync, Resync, type ResyncEvent } from '../../manager/resync.ts';
import { BlockedResources } from '../../node/allocate/blocked-resources.ts';
import { GrantedReleases } from '../../node/release/release-turns.ts';
import type { CloudPort, InstanceReads, SharedSupply } from '../../node/reconcile/node-context.ts';
import { triggerMeter } from '../../observability/trigger-meter.ts';
import { type InstanceTypeEvent, InstanceTypeLimits } from '../../providers/catalog/instance-type-limits.ts';
import { PublicAddressPool } from '../../providers/catalog/public-address-pool.ts';
import { SubnetLedger } from '../../providers/catalog/subnet-ledger.ts';
import type { AllocationImplementation, CloudReader } from '../../providers/contract/cloud.ts';
import { InstanceRefresh, type InstanceRefreshEvent } from '../../providers/inventory/instance-refresh.ts';
import { Inventory } from '../../providers/inventory/inventory.ts';
import { VisibilityLag } from '../../providers/inventory/visibility-lag.ts';
import type { TriggerMeter } from '../../runtime/trigger.ts';
import type { Cloud } from '../clouds/cloud.ts';
import type { Host, Leadership } from '../host.ts';
import { OrphanGcRunner } from './orphan-gc-runner.ts';
import { FailedReadings } from '../reporting/failed-readings.ts';
import { logBlocked } from '../reporting/failure-fields.ts';
import type { NodeEvents } from '../reporting/node-events.ts';
import type { PlanningSources } from '../reporting/planning-report.ts';
import type { CloudReadReport, WithdrawalReport } from '../reporting/status-report.ts';
import { type SubnetFigures, subnetFigures } from '../reporting/subnet-figures.ts';
import { SubnetPaces } from './subnet-paces.ts';
import { WithdrawalWatch } from './withdrawal-watch.ts';

const cannotReadCloud = 'cannot read the cloud';
const cannotReadTypes = 'cannot read instance types';

export interface CloudStateDeps {
  readonly host: Host;
  readonly cloud: Cloud;
  readonly leadership: Pick<Leadership, 'permission' | 'lease'>;
  readonly events: NodeEvents;
  /** By the option allow-withdrawals. */
  readonly approval: Approval;
  readonly identities: Pick<NodeIdentities, 'isKnown'>;
  readonly fleet: Fleet;
  readonly listener: StateListener;
}

export interface StateListener extends CloudListener {
  /** No node names a network, so nothing is read from the cloud. */
  nothingToRead(): void;
}

export class CloudState implements CloudPort {
  readonly fleet: Fleet;
  readonly cloud: Cloud;
  readonly implementation: AllocationImplementation;
  readonly inventory: Inventory;
  readonly limits: InstanceTypeLimits;
  /** The network as it is known, and when everything is read again. */
  readonly network: Resync;
  readonly instances: InstanceReads;
  readonly supply: SharedSupply;
  readonly #orphanGc: OrphanGcRunner;
  readonly #deps: CloudStateDeps;
  readonly #ledger = new SubnetLedger();
  readonly #publicAddresses: PublicAddressPool;
  readonly #withdrawals: WithdrawalWatch;
  readonly #refreshes: InstanceRefresh;
  readonly #failures: FailedReadings;
  readonly #meter: TriggerMeter;
  readonly #paces = new SubnetPaces();
  #isReading = false;

  constructor(deps: CloudStateDeps) {
    this.#deps = deps;
    const { cloud, fleet } = deps;
    this.fleet = fleet;
    const { options, clock, random, log, registry } = deps.host;
    const { implementation } = cloud;
    const { consistencyWindow } = options;
    this.cloud = cloud;
    this.implementation = implementation;
    this.#failures = new FailedReadings(log);
    this.#meter = triggerMeter(registry.metrics, 'resync');
    this.#withdrawals = new WithdrawalWatch({
      ...deps,
      held: {
        heldWithdrawals: () => this.inventory.heldWithdrawals(),
        reevaluate: (now) => this.inventory.reevaluate(now),
      },
    });
    this.inventory = new Inventory({ consistencyWindow, gate: this.#withdrawals.gate });
    const shared = { implementation, inventory: this.inventory, ledger: this.#ledger, clock };
    const readerOf = (fork: string): CloudReader => ({ implementation, clock, random: random.fork(fork) });
    const refreshed = (event: InstanceRefreshEvent): void => this.#refreshTold(event);
    this.#refreshes = new InstanceRefresh(readerOf('looks'), this.inventory, consistencyWindow, refreshed);
    this.limits = new InstanceTypeLimits(readerOf('limits'), (event) => this.#limitsTold(event));
    this.#publicAddresses = new PublicAddressPool(readerOf('public addresses'), consistencyWindow);
    this.network = new Resync({
      ...shared,
      random: random.fork('resync'),
      interval: options.resyncInterval,
      nodes: fleet,
      emit: (event) => this.#resyncTold(event),
    });
    this.#orphanGc = new OrphanGcRunner({
      ...deps,
      permission: deps.leadership.permission,
      inventory: this.inventory,
      ledger: this.#ledger,
    });
    this.instances = {
      refresh: (instanceId) => this.#refreshes.request(instanceId),
      refreshAwaited: (instanceId, since) => this.#refreshes.awaitAttachment(instanceId, since),
      failures: this.#failures,
    };
    this.supply = {
      ledger: this.#ledger,
      blocked: new BlockedResources({
        clock,
        random: random.fork('set aside'),
        onChange: (scope, failure, instanceId) => logBlocked(log, { scope, failure, instanceId }),
      }),
      orphans: this.#orphanGc.orphans,
      publicAddresses: this.#publicAddresses,
      visibilityLag: new VisibilityLag(),
      grantedReleases: new GrantedReleases(),
    };
  }

  /** Starts what needs no node; `signal` ends reports about withdrawals. */
  beginSharedWork(signal: AbortSignal): void {
    signal.addEventListener('abort', () => this.#withdrawals.stop(), { once: true });
    this.#withdrawals.takeOverHeld();
    // Where Headwater makes no interfaces, it leaves none behind.
    if (this.implementation.traits.interfaces === 'made') this.#orphanGc.beginCollecting();
  }

  /** Call it once every existing CiliumNode is known. Reads the cloud until `signal` is aborted, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isReading = true;
    await this.network.run(signal);
  }

  /** Starts nothing more; resolves once calls in flight have ended. */
  async stop(): Promise<void> {
    const all = [this.#refreshes, this.limits, this.#publicAddresses, this.#orphanGc];
    await Promise.all(all.map((each) => each.stop()));
  }

  /** Whether the cloud was read completely in this session. */
  get hasRead(): boolean {
    return this.network.lastStartedAt !== undefined;
  }

  /** Whether no node names a network to read. */
  get hasNothingToRead(): boolean {
    return this.#isReading && this.network.hasNothingToRead;
  }

  /** Why the last read of the cloud failed; undefined if it did not. */
  get readProblem(): string | undefined {
    return this.#failures.problemOf(cannotReadCloud);
  }

  /** How old what is known of the cloud is, and why it is not newer. */
  get lastRead(): CloudReadReport {
    const { currentAt } = this.network;
    const { readProblem: problem } = this;
    const age = currentAt === undefined ? undefined : this.#deps.host.clock.monotonic() - currentAt;
    return {
      ...(age !== undefined && { ageSeconds: Math.round(age / 1000) }),
      ...(problem !== undefined && { problem }),
    };
  }

  /** Why the state read from the cloud is not reliable; undefined if it is. */
  get unreliableReason(): string | undefined {
    return this.#withdrawals.problem();
  }

  /** Undefined while no withdrawals are held. */
  get heldWithdrawals(): WithdrawalReport | undefined {
    return this.#withdrawals.report();
  }

  /** Subnets with the free addresses that planning assumes now. */
  subnets(): readonly SubnetFigures[] {
    const { infrastructure, wholeBlocks } = this.network;
    const now = this.#deps.host.clock.monotonic();
    const { prefixes } = this.implementation.traits;
    const blocks = prefixes ? wholeBlocks : new Map<string, number>();
    const daysLeft = this.#paces.daysLeft(infrastructure.subnets.values(), now);
    return subnetFigures({ infrastructure, wholeBlocks: blocks, ledger: this.#ledger, daysLeft }, now);
  }

  /** Facts that plans of further nodes depend on, beside the nodes that are there. */
  get planningSources(): PlanningSources {
    const { ipam } = this.#deps.host.options;
    return { ipam, infrastructure: this.network.infrastructure, implementation: this.implementation };
  }

  /** Sets its gauges. */
  show(): void {
    const { clock, registry, options } = this.#deps.host;
    const { metrics } = registry;
    const now = clock.monotonic();
    this.cloud.showCalls();
    this.#orphanGc.show();
    metrics.headwater_inventory_age_seconds.set((now - (this.network.currentAt ?? now)) / 1000);
    metrics.headwater_resync_interval_seconds.set(options.resyncInterval / 1000);
    metrics.headwater_withdrawals_held.set(this.#withdrawals.heldNodes);
  }

  #changed(instanceIds: ReadonlySet<string>): void {
    this.#deps.listener.cloudChanged({ kind: 'instancesChanged', instanceIds });
  }

  #refreshTold(event: InstanceRefreshEvent): void {
    switch (event.kind) {
      case 'page':
        this.#failures.reportUnclear(event.page.unclear);
        return this.network.learnNetwork(event.page);
      case 'read':
        this.#failures.instancesRead(event.read);
        return this.#changed(event.changed);
      case 'failed':
        this.#failures.reportInstances('cannot read instances', event.error, event.instanceIds);
        return this.#changed(new Set(event.instanceIds));
    }
  }

  #limitsTold(event: InstanceTypeEvent): void {
    const { listener } = this.#deps;
    if (event.kind === 'news') {
      this.#failures.succeeded(cannotReadTypes);
      listener.cloudChanged({ kind: 'limitsRead' });
    } else {
      const { error, instanceTypes } = event;
      this.#failures.report(cannotReadTypes, error, { instanceTypes });
      listener.cloudChanged({ kind: 'readEnded' });
    }
  }

  #resyncTold(event: ResyncEvent): void {
    switch (event.kind) {
      case 'changed':
        return this.#changed(event.instanceIds);
      case 'listed':
        return this.#changed(this.#failures.listed(event.unread));
      case 'infrastructure':
        this.#deps.listener.cloudChanged({ kind: 'networkRead', reshaped: event.reshaped });
        return this.#failures.reportSkipped(event.problems);
      case 'requested':
        return this.#meter.requested();
      case 'ended':
        return this.#resyncEnded(event.resync);
      case 'networkFailed':
        return this.#failures.report('cannot refresh the subnets', event.error);
    }
  }

  #resyncEnded({ error, isEmpty, unreadNetworks, unreadableItems, ...figures }: FinishedResync): void {
    const { log, registry } = this.#deps.host;
    const { metrics } = registry;
    const seconds = figures.duration / 1000;
    const outcome = error === undefined ? 'success' : 'failed';
    this.#meter.ran(figures);
    metrics.headwater_resync_duration_seconds.observe({ outcome }, seconds);
    metrics.cilium_operator_ipam_background_sync_duration_seconds.observe({ status: outcome }, seconds);
    metrics.cilium_operator_ipam_resync_total.add();
    metrics.headwater_unreadable_items.set(unreadableItems);
    if (error === undefined) {
      this.#failures.succeeded(cannotReadCloud);
      this.#paces.sample(this.network.infrastructure.subnets.values(), this.#deps.host.clock.monotonic());
      this.#failures.keepInstances((instanceId) => this.inventory.view(instanceId) !== undefined);
      if (this.hasRead || this.hasNothingToRead) this.#withdrawals.noteResync();
      if (isEmpty) this.#deps.listener.nothingToRead();
      else
        log.info('read the cloud', {
          seconds: Math.round(figures.duration) / 1000,
          ...(unreadNetworks.length > 0 && { unreadNetworks }),
          ...(unreadableItems > 0 && { unreadableItems }),
        });
    } else this.#failures.report(cannotReadCloud, error);
    this.#deps.listener.cloudChanged({ kind: 'readEnded' });
  }
}
