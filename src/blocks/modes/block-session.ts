// A leader session of a mode that gives blocks to nodes: the allocator, with its logs, metrics and reports.
import { writeTimeoutOf } from '../../config/release-window.ts';
import type { MissingBlock } from '../allocation/allocation-policy.ts';
import type { Standing } from '../allocation/allocator-entry.ts';
import type {
  AllocationRefusal,
  AllocatorOf,
  AllocatorPorts,
  BlockAllocator,
} from '../allocation/block-allocator.ts';
import type { AllocatorEvent, GivenBlocks } from '../allocation/allocator-event.ts';
import type { BlockCondition, BlockReason, Holder } from '../allocation/block-holders.ts';
import { BlockLedger, type PoolTotal } from '../allocation/block-ledger.ts';
import { OtherAllocators } from '../allocation/other-allocators.ts';
import { daysLeft, type PaceSample, withSample } from '../../runtime/pace.ts';
import { cidrOf, cidrText, families } from '../set/cidr.ts';
import type { CiliumNodeGc } from '../../kubernetes/cilium-node/cilium-node-gc.ts';
import type { EventSink, EventSubject } from '../../kubernetes/events/event-object.ts';
import { leaderQuietPeriod } from '../../kubernetes/lease/lease-timings.ts';
import type { PendingPods } from '../../kubernetes/watch/pending-pods.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { ModeDeps } from '../../controller/host.ts';
import { mayWrite } from './own-lease.ts';
import { countedByKey, keyOf, showNodes, waitingSeries } from './block-gauges.ts';
import type { HolderWatch } from './block-watch.ts';
import { comparedBlocks } from './given-blocks.ts';
import { type BlockPlanning, type ReportedBlocks, sumOfDryRun } from './block-status-report.ts';
import { OtherDecisions } from '../../controller/reporting/other-decisions.ts';
import type { CloudCallReport } from '../../controller/reporting/status-report.ts';
import type { WriteHealth } from '../../controller/reporting/write-health.ts';

/** The objects that a mode serves, and how it tells of them. */
export interface ServedBlocks {
  /** The objects whose Events tell of a holder. */
  subjects(holder: Holder): readonly EventSubject[];
  /** Reasons of Events that have a name of their own. Default: none. */
  readonly eventReasons?: Readonly<Partial<Record<BlockReason, string>>>;
  /** Reasons whose Events are of type Normal. Default: none. */
  readonly normalReasons?: readonly BlockReason[];
  /** Present if counts have the names of kube-controller-manager. */
  readonly countsAsPeer?: true;
  /** A cloud decides what objects get: a late write gives nothing that another object could get. */
  readonly isOfCloud?: true;
  /** The name under which blocks count that a cloud chooses. Default: that of their pool. */
  readonly cloudPool?: string;
  /** Deletes CiliumNodes of machines that are gone; undefined if nothing does. */
  readonly collection?: Pick<CiliumNodeGc, 'wouldDelete'> | undefined;
  /** Nodes whose blocks would move to a pool if this were no dry run. Default: none. */
  readonly wouldMove?: number;
  /** The report on the cloud whose routes it follows. */
  cloud?(): CloudCallReport;
  /** Default: a node gets a block of each family. */
  planning?(): BlockPlanning;
}

/** The process, as far as a session depends on it. */
interface SessionHost {
  /** Whether the objects that are known are all of a list, and not a part of it. */
  isSettled(): boolean;
  readonly pods: Pick<PendingPods, 'pendingOn'>;
  readonly writes: Pick<WriteHealth, 'note'>;
}

/** An annotation of the Lease: the leader that gave it back had writes without an answer, and could not end them. */
const unendedWrites = 'headwater/unended-writes';

/** Between two samples of the pace, in ms. */
const sampling = 3_600_000;
/** Between two sums of a dry run, in ms. */
const summing = 60_000;

export class BlockSession implements AllocatorPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly onBug: AllocatorPorts['onBug'];
  readonly workers: number;
  readonly writeTime: number;
  readonly #deps: ModeDeps;
  readonly #served: ServedBlocks;
  readonly #host: SessionHost;
  readonly #others: OtherAllocators;
  readonly #began: number;
  /** Wall clock since when everything may be written, except for pauses. */
  #liveSince: number;
  #isDry: boolean;
  #ledger = new BlockLedger([]);
  readonly #decisions: OtherDecisions;
  readonly #agentsReturn: boolean;
  #allocator: BlockAllocator | undefined;
  /** By pool and family. */
  #samples: ReadonlyMap<string, readonly PaceSample[]> = new Map();
  #cancelSampling: () => void = () => undefined;
  #cancelSum: () => void = () => undefined;

  constructor(deps: ModeDeps, served: ServedBlocks, host: SessionHost) {
    this.#deps = deps;
    this.#served = served;
    this.#host = host;
    this.#decisions = new OtherDecisions(deps.host.log);
    this.#agentsReturn = served.planning?.().blocks === 'asAsked';
    const { clock, random, onBug, log, options } = deps.host;
    const { permission } = deps.leadership;
    this.clock = clock;
    this.random = random.fork('allocator');
    this.onBug = onBug;
    this.workers = options.parallelAllocWorkers;
    this.writeTime = writeTimeoutOf(options);
    this.#began = clock.monotonic();
    this.#liveSince = clock.wall();
    this.#isDry = permission.pauses.dryRun;
    this.#others = new OtherAllocators(clock, (isAtWork) => {
      permission.change({ conflictingWriter: isAtWork ? 'atWork' : 'none' });
      const pause = 'another allocator gives out blocks: none is given out until it has been quiet for 5 min';
      if (isAtWork) log.warn(pause, { ...this.#others.last, remedy: 'run one allocator only' });
      else log.warn('no blocks of another allocator for 5 min: resuming');
    });
  }

  /** Begins to give out blocks of `ledger` to all objects of a complete list. Call it once. */
  begin<H extends Holder>(
    ledger: BlockLedger,
    allocator: AllocatorOf<H>,
    objects: Pick<HolderWatch<H>, 'serveBy'>,
  ): void {
    const { lease, permission } = this.#deps.leadership;
    this.#ledger = ledger;
    this.#allocator = allocator;
    permission.onChange(() => {
      this.#followDryRun(permission.pauses.dryRun);
      allocator.resume();
    });
    const mayFormerWrite = lease?.isInherited === true || lease?.annotation(unendedWrites) !== undefined;
    lease?.annotate(unendedWrites, undefined);
    objects.serveBy(allocator, mayFormerWrite && this.#served.isOfCloud === undefined);
    this.#sample();
    this.#cancelSum = this.#deps.host.clock.schedule(summing, () => this.#sumUp());
  }

  #followDryRun(isDry: boolean): void {
    if (!isDry) this.#decisions.forget();
    if (this.#isDry && !isDry) this.#liveSince = this.clock.wall();
    this.#isDry = isDry;
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#others.stop();
    this.#cancelSampling();
    this.#cancelSum();
    if ((await this.#allocator?.stop(deadline)) === 'unended')
      this.#deps.leadership.lease?.annotate(unendedWrites, 'true');
  }

  report(): ReportedBlocks {
    const last = this.#others.last;
    const waiting = countedByKey(this.#waiting());
    const days = new Map(
      this.#ledger.totals().map((total) => [keyOf(total), this.#daysLeft(total)] as const),
    );
    return {
      planning: this.#served.planning?.(),
      standings: this.#standings(),
      decisions: this.#decisions,
      pools: this.#ledger.figures().map((figures) => {
        const key = keyOf({ pool: figures.pool, family: figures.cidr.family });
        const daysLeft = days.get(key);
        return { ...figures, waiting: waiting.get(key) ?? 0, ...(daysLeft !== undefined && { daysLeft }) };
      }),
      access: {
        denied: this.#served.cloud?.().denied.length ?? 0,
        missing: this.#deps.leadership.access.missing,
      },
      deleteCiliumNodes: this.#served.collection?.wouldDelete ?? 0,
      moveBlocks: this.#served.wouldMove ?? 0,
      othersWrite: last && { ...last, parts: ['podCIDRs'], manager: undefined },
    };
  }

  #standings(): readonly Standing[] {
    const { scope } = this.#deps;
    const all = this.#allocator?.standings() ?? [];
    return scope.isSelective ? all.filter(({ holder }) => !scope.isOutside(holder.name)) : all;
  }

  #waiting(): readonly MissingBlock[] {
    return this.#allocator?.waiting() ?? [];
  }

  /** Sets every gauge about nodes and pools. */
  show(): void {
    const { metrics } = this.#deps.host.registry;
    const { pods } = this.#host;
    showNodes(metrics, { standings: this.#standings(), pods, now: this.clock.monotonic() });
    const { cloudPool: pool } = this.#served;
    const pools = pool === undefined ? this.#ledger.totals() : families.map((family) => ({ pool, family }));
    metrics.headwater_cidr_waiting_nodes.replaceAll(waitingSeries(pools, this.#waiting()));
    for (const { pool, family, held, capacity } of this.#ledger.totals()) {
      const labels = { pool, family };
      metrics.headwater_cidr_blocks.set({ ...labels, state: 'held' }, held);
      metrics.headwater_cidr_blocks.set({ ...labels, state: 'free' }, capacity - held);
    }
    if (this.#served.countsAsPeer === undefined) return;
    for (const { cidr, held, capacity } of this.#ledger.figures()) {
      const labels = { clusterCIDR: cidrText(cidr) };
      metrics.node_ipam_controller_cirdset_max_cidrs.set(labels, capacity);
      metrics.node_ipam_controller_cidrset_usage_cidrs.set(labels, held / capacity);
    }
  }

  refusal(): AllocationRefusal | undefined {
    if (!this.#host.isSettled()) return 'listing';
    const why = this.#deps.leadership.permission.refusal('allocate');
    if (why === 'dryRun') return 'dryRun';
    if (why === 'conflictingWriter') return 'otherAllocator';
    if (why !== undefined) return 'paused';
    return mayWrite(this.#deps) ? undefined : 'notLeading';
  }

  emit(event: AllocatorEvent): void {
    const { log, registry } = this.#deps.host;
    switch (event.kind) {
      case 'allocated':
      case 'freed':
        this.#count(event);
        return;
      case 'wouldAssign':
        log.info('dry run: would give blocks', { node: event.holder.name, podCIDRs: event.blocks });
        return;
      case 'written':
        this.#written(event);
        this.#host.writes.note(event.holder.name, event.outcome);
        return;
      case 'othersBlocks':
        this.#noteOthers(event.holder);
        return;
      case 'shown':
        this.#compare(event);
        return;
      case 'gone':
        this.#decisions.drop(event.holder.name);
        return;
      case 'condition':
        this.#tell(event);
        return;
      case 'served':
        registry.metrics.headwater_allocation_latency_seconds.observe(event.afterMs / 1000);
    }
  }

  #count(event: AllocatorEvent & { readonly kind: 'allocated' | 'freed' }): void {
    const { metrics } = this.#deps.host.registry;
    if (this.#served.countsAsPeer === undefined) return;
    if (event.kind === 'allocated') {
      const labels = { clusterCIDR: cidrText(event.allocated.pool.cidr) };
      metrics.node_ipam_controller_cidrset_cidrs_allocations_total.add(labels);
      metrics.node_ipam_controller_cidrset_allocation_tries_per_request.observe(
        labels,
        event.allocated.passed,
      );
    } else if (event.pool !== undefined) {
      const labels = { clusterCIDR: cidrText(event.pool.cidr) };
      metrics.node_ipam_controller_cidrset_cidrs_releases_total.add(labels);
    }
  }

  #written({ holder, outcome }: AllocatorEvent & { readonly kind: 'written' }): void {
    const { log, registry } = this.#deps.host;
    if (this.#served.countsAsPeer === undefined)
      registry.metrics.headwater_ciliumnode_writes_total.add({ part: 'spec', outcome: outcome.kind });
    const { name: node, blocks } = holder;
    if (outcome.kind === 'written') log.debug('gave blocks', { node, podCIDRs: blocks });
    else log.debug('blocks not written', { node, ...('message' in outcome && { why: outcome.message }) });
  }

  #noteOthers({ name, blocks, allocatorWroteAt: at }: Holder): void {
    const { clock, log, registry } = this.#deps.host;
    const { leadership, scope } = this.#deps;
    // Beside a dry run, the other allocator does its work.
    if (!leadership.leads() || leadership.permission.pauses.dryRun) return;
    // Another release gives its nodes blocks of networks of its own.
    if (scope.isOutside(name) && !blocks.some((block) => this.#isOfOurNetworks(block))) return;
    // Nothing ends what the previous leader may still write of what a cloud decides.
    if (this.#served.isOfCloud === true && clock.monotonic() < this.#began + leaderQuietPeriod) return;
    registry.metrics.headwater_conflicting_writes_total.add({ part: 'podCIDRs' });
    log.warn('a node has blocks that Headwater did not give it', { node: name });
    // The last write of an allocator that has ended may be seen late.
    const isAtWork = at !== undefined && at >= Math.floor(this.#liveSince / 1000) * 1000;
    this.#others.note(name, isAtWork);
  }

  /** Where a cloud decides, another program and this one follow the same. */
  #compare(shown: GivenBlocks<Holder>): void {
    const { leadership, scope } = this.#deps;
    const { name } = shown.holder;
    if (!leadership.permission.pauses.dryRun || scope.isOutside(name) || this.#served.isOfCloud) return;
    const outcome = comparedBlocks(shown, this.#ledger, this.#agentsReturn);
    if (outcome !== undefined) this.#decisions.note(name, outcome);
  }

  #isOfOurNetworks(block: string): boolean {
    const cidr = cidrOf(block);
    return cidr !== undefined && this.#ledger.blocksIn(cidr) > 0;
  }

  #tell({ holder, condition, before }: AllocatorEvent & { readonly kind: 'condition' }): void {
    if (this.#deps.scope.isOutside(holder.name)) return;
    if (condition === undefined) {
      this.#tellResolved(holder, before);
      return;
    }
    const { reason, message } = condition;
    this.#deps.host.log.warn('a node lacks a block, or should not have the one it has', {
      node: holder.name,
      reason,
      why: message,
    });
    const { normalReasons, eventReasons } = this.#served;
    const type = normalReasons?.includes(reason) === true ? 'Normal' : 'Warning';
    this.#record(holder, { type, reason: eventReasons?.[reason] ?? reason, message });
  }

  #tellResolved(holder: Holder, before: BlockCondition | undefined): void {
    const { name } = holder;
    this.#deps.host.log.info('nothing is wrong with the blocks of a node any longer', { node: name });
    if (this.#allocator?.standing(name)?.standing !== 'served') return;
    const message = `${before?.reason} is resolved: nothing is wrong with the blocks of the node`;
    this.#record(holder, { type: 'Normal', reason: 'Resolved', message });
  }

  #record(holder: Holder, report: Parameters<EventSink['record']>[1]): void {
    for (const subject of this.#served.subjects(holder)) this.#deps.events.record(subject, report);
  }

  #daysLeft(total: PoolTotal): number | undefined {
    const { held, capacity } = total;
    const now = { at: this.#deps.host.clock.monotonic(), held };
    return daysLeft(this.#samples.get(keyOf(total)) ?? [], now, capacity - held);
  }

  /** Logs what a dry run would do, each minute. */
  #sumUp(): void {
    const { clock, log } = this.#deps.host;
    if (this.#deps.leadership.permission.pauses.dryRun) {
      const { decidedOtherwise: _, ...sum } = sumOfDryRun(this.report());
      log.info('sum of the dry run', { ...sum });
    }
    this.#cancelSum = clock.schedule(summing, () => this.#sumUp());
  }

  #sample(): void {
    const { clock } = this.#deps.host;
    const at = clock.monotonic();
    this.#samples = new Map(
      this.#ledger.totals().map((total) => {
        const key = keyOf(total);
        return [key, withSample(this.#samples.get(key) ?? [], { at, held: total.held })] as const;
      }),
    );
    this.#cancelSampling = clock.schedule(sampling, () => this.#sample());
  }
}
