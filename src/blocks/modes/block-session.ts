// A leader session of a mode that gives blocks to nodes: the allocator, with its logs, metrics and reports.
import type { AllocationPolicy } from '../allocation/allocation-policy.ts';
import { Allocator } from '../allocation/allocator.ts';
import type { AllocationRefusal, AllocatorPorts, BlockAllocator } from '../allocation/block-allocator.ts';
import type { AllocatorEvent } from '../allocation/allocator-event.ts';
import type { BlockHolders, BlockReason, Holder } from '../allocation/block-holders.ts';
import type { BlockLedger, PoolTotal } from '../allocation/block-ledger.ts';
import { OtherAllocators } from '../allocation/other-allocators.ts';
import { daysLeft, type PaceSample, withSample } from '../allocation/pace.ts';
import { cloudPool } from '../node-ipam/cloud/alias-policy.ts';
import { cidrText, families } from '../set/cidr.ts';
import type { EventSubject } from '../../kubernetes/events/event-object.ts';
import { leaderQuietPeriod } from '../../kubernetes/lease/lease-timings.ts';
import type { PendingPods } from '../../kubernetes/watch/pending-pods.ts';
import type { ModeDeps } from '../../controller/host.ts';
import { countedByKey, keyOf, showNodes, waitingSeries } from './block-gauges.ts';
import type { ReportedBlocks } from './block-status-report.ts';
import type { WriteHealth } from '../../controller/reporting/write-health.ts';

/** What objects should get, and where it comes from. */
export type BlockBook<H extends Holder, D> = PolicyBook<H, D> | OwnBook<H>;

/** A policy decides, and the allocator follows. */
export interface PolicyBook<H extends Holder, D> {
  readonly ledger: BlockLedger;
  readonly policy: AllocationPolicy<H, D>;
  /** Writes that one object may need in a row. */
  readonly writesInARow: number;
  /** A cloud decides what objects get: a late write gives nothing that another object could get. */
  readonly isOfCloud?: true;
}

/** Objects are served in a way of their own. */
export interface OwnBook<H extends Holder> {
  readonly ledger: BlockLedger;
  readonly openAllocator: (ports: AllocatorPorts<H>) => BlockAllocator<H>;
}

/** What is served, and how it is told. */
export interface ServedBlocks<H extends Holder, D> {
  readonly holders: BlockHolders<H, D>;
  /** The objects whose Events tell of a holder. */
  subjects(holder: Holder): readonly EventSubject[];
  /** Reasons of Events that have a name of their own. */
  readonly eventReasons: Readonly<Partial<Record<BlockReason, string>>>;
  /** Reasons whose Events are of type Normal. Default: none. */
  readonly normalReasons?: readonly BlockReason[];
  /** Whether to count under the names of kube-controller-manager. */
  readonly countsAsPeer: boolean;
}

export interface BlockSessionDeps<H extends Holder, D> extends Omit<ModeDeps, 'kubernetes'> {
  readonly book: BlockBook<H, D>;
  readonly served: ServedBlocks<H, D>;
  /** Whether the objects that are known are all of a list, and not a part of it. */
  readonly isSettled: () => boolean;
  readonly pods: Pick<PendingPods, 'pendingOn'>;
  readonly writing: BlockWriting;
}

/** What holds of every write. */
export interface BlockWriting {
  /** Whether one may start now: it must end within our own lease. */
  readonly mayStart: () => boolean;
  /** The time limit of a write, in ms. */
  readonly timeLimit: number;
  readonly health: Pick<WriteHealth, 'note'>;
}

/** An annotation of the Lease: the leader that gave it back had writes without an answer, and could not end them. */
const unendedWrites = 'headwater/unended-writes';

/** Between two samples of the pace, in ms. */
const sampling = 3_600_000;

export class BlockSession<H extends Holder, D> {
  readonly #deps: BlockSessionDeps<H, D>;
  readonly #ledger: BlockLedger;
  readonly allocator: BlockAllocator<H>;
  readonly #others: OtherAllocators;
  readonly #began: number;
  /** By pool and family. */
  #samples: ReadonlyMap<string, readonly PaceSample[]> = new Map();
  #cancelSampling: () => void = () => undefined;

  constructor(deps: BlockSessionDeps<H, D>) {
    this.#deps = deps;
    const { book } = deps;
    const { clock, random, onBug, log } = deps.host;
    const { permission } = deps.leadership;
    this.#began = clock.monotonic();
    this.#ledger = book.ledger;
    this.#others = new OtherAllocators({
      clock,
      onChange: (isAtWork) => {
        permission.change({ conflictingWriter: isAtWork ? 'atWork' : 'none' });
        const pause =
          'another allocator gives out blocks: none is given out until it has been quiet for 5 min';
        if (isAtWork) log.warn(pause, { ...this.#others.last, remedy: 'run one allocator only' });
        else log.warn('no blocks of another allocator for 5 min: resuming');
      },
    });
    this.allocator = this.#open({
      refusal: () => this.#refusal(),
      emit: (event) => this.#take(event),
      clock,
      random: random.fork('allocator'),
      onBug,
    });
    permission.onChange(() => this.allocator.resume());
  }

  #open(ports: AllocatorPorts<H>): BlockAllocator<H> {
    const { book, served, writing, host } = this.#deps;
    if ('openAllocator' in book) return book.openAllocator(ports);
    const { policy, writesInARow } = book;
    const settings = {
      workers: host.options.parallelAllocWorkers,
      writeTime: writing.timeLimit,
      writesInARow,
    };
    return new Allocator({ ...ports, policy, holders: served.holders, settings });
  }

  /** `holders`: a complete list. */
  beginAllocating(holders: Iterable<H>): void {
    const { lease } = this.#deps.leadership;
    const isOfCloud = 'isOfCloud' in this.#deps.book;
    const mayFormerWrite = lease?.isInherited === true || lease?.annotation(unendedWrites) !== undefined;
    lease?.annotate(unendedWrites, undefined);
    this.allocator.takeOverHolders(holders, mayFormerWrite && !isOfCloud);
    this.#sample();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#others.stop();
    this.#cancelSampling();
    if ((await this.allocator.stop(deadline)) === 'unended')
      this.#deps.leadership.lease?.annotate(unendedWrites, 'true');
  }

  report(): ReportedBlocks {
    const last = this.#others.last;
    const waiting = countedByKey(this.allocator.waiting());
    const days = new Map(
      this.#ledger.totals().map((total) => [keyOf(total), this.#daysLeft(total)] as const),
    );
    return {
      standings: this.allocator.standings(),
      pools: this.#ledger.figures().map((figures) => {
        const key = keyOf({ pool: figures.pool, family: figures.cidr.family });
        const daysLeft = days.get(key);
        return { ...figures, waiting: waiting.get(key) ?? 0, ...(daysLeft !== undefined && { daysLeft }) };
      }),
      othersWrite: last && { ...last, parts: ['podCIDRs'], manager: undefined },
    };
  }

  /** Sets every gauge about nodes and pools. */
  show(): void {
    const { host, pods, book } = this.#deps;
    const { metrics } = host.registry;
    showNodes(metrics, { standings: this.allocator.standings(), pods, now: host.clock.monotonic() });
    const pools =
      'isOfCloud' in book ? families.map((family) => ({ pool: cloudPool, family })) : this.#ledger.totals();
    metrics.headwater_cidr_waiting_nodes.replaceAll(waitingSeries(pools, this.allocator.waiting()));
    for (const { pool, family, held, capacity } of this.#ledger.totals()) {
      const labels = { pool, family };
      metrics.headwater_cidr_blocks.set({ ...labels, state: 'held' }, held);
      metrics.headwater_cidr_blocks.set({ ...labels, state: 'free' }, capacity - held);
    }
    if (!this.#deps.served.countsAsPeer) return;
    for (const { cidr, held, capacity } of this.#ledger.figures()) {
      const labels = { clusterCIDR: cidrText(cidr) };
      metrics.node_ipam_controller_cirdset_max_cidrs.set(labels, capacity);
      metrics.node_ipam_controller_cidrset_usage_cidrs.set(labels, held / capacity);
    }
  }

  #refusal(): AllocationRefusal | undefined {
    const { leadership, writing, isSettled } = this.#deps;
    if (!isSettled()) return 'listing';
    const why = leadership.permission.refusal('allocate');
    if (why === 'dryRun') return 'dryRun';
    if (why === 'conflictingWriter') return 'otherAllocator';
    if (why !== undefined) return 'paused';
    return writing.mayStart() ? undefined : 'notLeading';
  }

  #take(event: AllocatorEvent<H>): void {
    const { host, writing } = this.#deps;
    switch (event.kind) {
      case 'allocated':
      case 'freed':
        this.#count(event);
        return;
      case 'wouldAssign':
        host.log.info('dry run: would give blocks', { node: event.holder.name, podCIDRs: event.blocks });
        return;
      case 'written':
        this.#written(event);
        writing.health.note(event.name, event.outcome);
        return;
      case 'othersBlocks':
        this.#noteOthers(event.holder);
        return;
      case 'condition':
        this.#tell(event);
        return;
      case 'served':
        host.registry.metrics.headwater_allocation_latency_seconds.observe(event.afterMs / 1000);
    }
  }

  #count(event: AllocatorEvent<H> & { readonly kind: 'allocated' | 'freed' }): void {
    const { host, served } = this.#deps;
    const { metrics } = host.registry;
    if (!served.countsAsPeer) return;
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

  #written({ name, outcome }: AllocatorEvent<H> & { readonly kind: 'written' }): void {
    const { log, registry } = this.#deps.host;
    if (!this.#deps.served.countsAsPeer)
      registry.metrics.headwater_ciliumnode_writes_total.add({ part: 'spec', outcome: outcome.kind });
    if (outcome.kind === 'written') log.debug('gave blocks', { node: name, podCIDRs: outcome.holder.blocks });
    else
      log.debug('blocks not written', { node: name, ...('message' in outcome && { why: outcome.message }) });
  }

  #noteOthers({ name }: Holder): void {
    const { clock, log, registry } = this.#deps.host;
    if (!this.#deps.leadership.leads()) return;
    // Nothing ends what the previous leader may still write of what a cloud decides.
    const isOfCloud = 'isOfCloud' in this.#deps.book || 'openAllocator' in this.#deps.book;
    if (isOfCloud && clock.monotonic() < this.#began + leaderQuietPeriod) return;
    registry.metrics.headwater_conflicting_writes_total.add({ part: 'podCIDRs' });
    log.warn('a node has blocks that Headwater did not give it', { node: name });
    this.#others.note(name);
  }

  #tell({ holder, condition, before }: AllocatorEvent<H> & { readonly kind: 'condition' }): void {
    const { host, served, events } = this.#deps;
    const { log } = host;
    if (condition === undefined) {
      log.info('nothing is wrong with the blocks of a node any longer', { node: holder.name });
      if (this.allocator.standing(holder.name)?.standing !== 'served') return;
      const message = `${before?.reason} is resolved: nothing is wrong with the blocks of the node`;
      for (const subject of served.subjects(holder))
        events.record(subject, { type: 'Normal', reason: 'Resolved', message });
      return;
    }
    const { reason, message } = condition;
    log.warn('a node lacks a block, or should not have the one it has', {
      node: holder.name,
      reason,
      why: message,
    });
    const type = served.normalReasons?.includes(reason) === true ? 'Normal' : 'Warning';
    const report = { type, reason: served.eventReasons[reason] ?? reason, message } as const;
    for (const subject of served.subjects(holder)) events.record(subject, report);
  }

  #daysLeft(total: PoolTotal): number | undefined {
    const { held, capacity } = total;
    const now = { at: this.#deps.host.clock.monotonic(), held };
    return daysLeft(this.#samples.get(keyOf(total)) ?? [], now, capacity - held);
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
