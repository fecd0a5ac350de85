// A leader session: everything that only the leader runs, from gaining leadership until its work in flight has ended.
// Serves the CiliumNodes with the known state of the cloud.
import { cloudSettings } from '../../config/clouds/clouds.ts';
import type { Options } from '../../config/option-table.ts';
import type { CiliumNodeGc } from '../../kubernetes/cilium-node/cilium-node-gc.ts';
import type { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { OwnWrites } from '../../kubernetes/cilium-node/own-writes.ts';
import type { ServedSchema } from '../../kubernetes/cilium-node/served-schema.ts';
import type { WatchedNode } from '../../kubernetes/cilium-node/cilium-node-reader.ts';
import { BlockedErrors, operatorErrorPath } from '../../kubernetes/cilium-node/blocked-errors.ts';
import { type NodeListener, NodeManager } from '../../manager/node-manager.ts';
import type { ReportedEvent } from '../../manager/serving-event.ts';
import { prefixesOf } from '../../node/allocate/planned-step.ts';
import { writableLayout } from '../../node/publish/status-section.ts';
import type { NodeSettings } from '../../node/reconcile/node-context.ts';
import { triggerMeter } from '../../observability/trigger-meter.ts';
import type { NodeSummary } from '../../node/reconcile/node-summary.ts';
import { mayTakeEffectFor } from '../../providers/contract/operations.ts';
import { ConcurrencyLimiter } from '../../providers/rate-limit/concurrency-limiter.ts';
import { pauseWords } from '../../providers/gate/mutation-permission.ts';
import type { CloudState } from './cloud-state.ts';
import type { ClusterCache } from './cluster-cache.ts';
import { ConflictingWriters } from './conflicting-writers.ts';
import { DryRunWatch } from './dry-run-watch.ts';
import type { Host, Leadership } from '../host.ts';
import type { DryRunReport, NodeDryRunReport } from '../reporting/dry-run-report.ts';
import { blockedSeries, showFleet, warningSeries } from '../reporting/fleet-metrics.ts';
import type { NodeEvents } from '../reporting/node-events.ts';
import { nodeInstruments } from '../reporting/node-instruments.ts';
import { scopeProblem } from '../reporting/served-scope.ts';
import { showSubnets } from '../reporting/subnet-metrics.ts';
import type { WriteHealth } from '../reporting/write-health.ts';

/** Concurrent CiliumNode writers. Fewer than the connections, because lists and watches use some. */
const maxPublications = 24;

export interface LeaderSessionDeps {
  readonly host: Host;
  readonly cloud: CloudState;
  readonly leadership: Leadership;
  readonly events: NodeEvents;
  readonly cluster: ClusterCache;
  readonly writer: CiliumNodeWriter;
  /** Learns the outcome of each write of a CiliumNode. */
  readonly writes: WriteHealth;
  readonly schema: ServedSchema;
}

export class LeaderSession implements NodeListener {
  readonly cloud: CloudState;
  readonly nodes: NodeManager;
  readonly #deps: LeaderSessionDeps;
  readonly #ownWrites: OwnWrites;
  readonly #conflictingWriters: ConflictingWriters;
  readonly #blockedErrors: BlockedErrors;
  readonly #dryRun: DryRunWatch;
  readonly #report: (event: ReportedEvent) => void;
  readonly #stopping = new AbortController();
  #running: Promise<unknown> | undefined;
  /** Every existing CiliumNode is known. */
  #hasStarted = false;

  constructor(deps: LeaderSessionDeps) {
    this.#deps = deps;
    this.cloud = deps.cloud;
    const { host, events, leadership, cluster } = deps;
    const { permission } = leadership;
    const collects = cloudSettings(host.options).collection.kind === 'on';
    this.#report = nodeInstruments({ ...host, events, collects });
    this.#ownWrites = this.#createOwnWrites();
    this.#conflictingWriters = this.#createConflictingWriters();
    this.#blockedErrors = this.#createBlockedErrors();
    this.nodes = this.#createNodeManager();
    this.#dryRun = new DryRunWatch({
      host,
      leadership,
      nodes: this.nodes,
      cloud: this.cloud,
      cluster,
    });
    // When permissions change, nodes start what may run again and report what is paused.
    permission.onChange(() => {
      this.nodes.wakeAll();
      this.#blockedErrors.resume();
    });
  }

  /** Takes over the fleet in its current state and starts to serve it. The rest runs beside it until it stops. */
  beginServing(
    nodes: Iterable<WatchedNode>,
    collection: CiliumNodeGc | undefined,
    taints: { run(signal: AbortSignal): Promise<void> } | undefined,
  ): void {
    const { signal } = this.#stopping;
    const running = [
      this.#run(nodes, signal),
      this.#conflictingWriters.run(signal),
      this.#dryRun.run(signal, collection),
      ...[collection, taints].flatMap((each) => each?.run(signal) ?? []),
    ];
    this.#running = Promise.all(running.map((each) => this.#untilStopped(each, signal)));
    this.cloud.beginSharedWork(signal);
  }

  /** Reports a bug if the work ends for any reason but the signal. */
  async #untilStopped(work: Promise<void>, signal: AbortSignal): Promise<void> {
    await work.catch((error: unknown) => {
      if (!signal.aborted) this.#deps.host.onBug(error);
    });
  }

  async #run(nodes: Iterable<WatchedNode>, signal: AbortSignal): Promise<void> {
    await this.nodes.takeOverNodes(nodes, signal);
    this.#hasStarted = true;
    await this.cloud.run(signal);
  }

  /** Starts nothing more; resolves once work in flight has ended, at `deadline` at the latest. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping.abort();
    this.#conflictingWriters.stop();
    await this.nodes.stop(deadline);
    await Promise.all([this.cloud.stop(), this.#blockedErrors.stop(deadline), this.#running]);
  }

  /** The last conflicting write, while it pauses anything. */
  get conflictingWrite(): ConflictingWriters['last'] {
    return this.#conflictingWriters.last;
  }

  /** Why no node is served; undefined if one may be. */
  get scopeProblem(): string | undefined {
    return this.#hasStarted ? scopeProblem(this.summaries()) : undefined;
  }

  /** Undefined unless a dry run is on. */
  get dryRun(): DryRunReport | undefined {
    return this.#dryRun.report();
  }

  /** As above, of one node. */
  dryRunOn(name: string): NodeDryRunReport | undefined {
    return this.#dryRun.reportOn(name);
  }

  summaries(): readonly NodeSummary[] {
    return [...this.nodes.fleet.figures()];
  }

  /** CiliumNodes that their owner asks to ignore. */
  get leftAlone(): readonly string[] {
    return this.#deps.cluster.leftAlone;
  }

  /** Sets every gauge about the fleet and the cloud. */
  show(): void {
    const { clock, registry, options } = this.#deps.host;
    const { metrics } = registry;
    const summaries = this.summaries();
    const subnets = this.cloud.subnets();
    showFleet(registry, { summaries, now: clock.monotonic(), maxNodesShown: options.nodeMetricsLimit });
    this.cloud.show();
    showSubnets(metrics, subnets, summaries);
    metrics.headwater_blocked.replaceAll(blockedSeries(summaries, subnets));
    metrics.headwater_warnings.replaceAll(warningSeries(summaries));
  }

  #createOwnWrites(): OwnWrites {
    const { writer, leadership, writes } = this.#deps;
    const refusal = (): string | undefined => {
      const reason = leadership.permission.refusal('publish');
      return reason && pauseWords[reason];
    };
    return new OwnWrites(writer, refusal, (name, outcome) => writes.note(name, outcome));
  }

  #createBlockedErrors(): BlockedErrors {
    const { host, leadership, schema, cluster } = this.#deps;
    const ports = { ...host, random: host.random.fork('blocked errors') };
    const mayWrite = (): boolean =>
      leadership.permission.refusal('publish') === undefined && schema.knows(operatorErrorPath);
    return new BlockedErrors(ports, this.#ownWrites, cluster, mayWrite);
  }

  #createConflictingWriters(): ConflictingWriters {
    const { host, leadership, events, cluster, writer, schema } = this.#deps;
    const { section } = this.cloud.implementation;
    return new ConflictingWriters({
      host,
      leadership,
      events,
      section: { key: section.key, layout: writableLayout(section, (path) => schema.knows(path)) },
      counts: ({ name, instanceId = '' }) => this.nodes.mayBelongTo(name, instanceId),
      cluster,
      ownWrites: this.#ownWrites,
      writer,
    });
  }

  #createNodeManager(): NodeManager {
    const { host, cloud, leadership, cluster, schema } = this.#deps;
    const { metrics } = host.registry;
    return new NodeManager({
      identities: cluster.identities,
      requireNode: host.options.requireNode,
      context: {
        cloud,
        writer: {
          own: this.#ownWrites,
          known: cluster,
          schema,
          publications: new ConcurrencyLimiter(maxPublications),
          others: this.#conflictingWriters,
        },
        pods: host.options.releasePodCheck ? cluster.shownPods : undefined,
        permission: leadership.permission,
        settings: this.#nodeSettings(),
        runtime: {
          ...host,
          random: host.random.fork('nodes'),
          meters: {
            maintenance: triggerMeter(metrics, 'deficit_resolver'),
            publication: triggerMeter(metrics, 'k8s_sync'),
          },
        },
      },
      fleet: cloud.fleet,
      listener: this,
    });
  }

  #nodeSettings(): NodeSettings {
    const { host, cloud, leadership } = this.#deps;
    const options = nodeOptions(host.options);
    const began = host.clock.monotonic();
    const isFirst = host.options.nodeSelector === undefined && leadership.lease?.isSuccessor === false;
    return {
      ...options,
      interfaceTags: cloud.cloud.interfaceTags,
      // Without leader election, nothing says that this process is the first one, and with a selector another release may have been.
      formerUntil: () => (isFirst ? -Infinity : began + mayTakeEffectFor(options.timing)),
    };
  }

  nodeChanged(event: ReportedEvent): void {
    this.#report(event);
    switch (event.kind) {
      case 'step': {
        const { step, result } = event.finished;
        if (result.kind === 'done') this.cloud.network.prefixesTaken(step.subnetId, prefixesOf(step));
        return;
      }
      case 'blocked':
        return this.#blockedErrors.writeError(event.node, event.condition?.message);
      case 'dryRun':
        if (event.decision.kind === 'step') this.#dryRun.note(event.node.name, event.decision.step);
        return;
      case 'removed':
        this.#ownWrites.forget(event.name);
        this.#blockedErrors.forget(event.name);
        return;
      default:
    }
  }
}

/** The options that apply to every node. */
function nodeOptions(options: Options): Omit<NodeSettings, 'interfaceTags' | 'formerUntil'> {
  const settings = cloudSettings(options);
  return {
    timing: { callTimeout: options.cloudCallTimeout, consistencyWindow: options.consistencyWindow },
    release: {
      enabled: settings.releaseExcessIps,
      delay: options.excessIpReleaseDelay,
      hiddenFor: options.releaseQuarantine,
      idleDelay: settings.idleInterfaceDelay,
    },
    spreadCalls: options.spreadCloudCalls,
    assessment: {
      usePrimaryAddress: settings.usePrimaryAddress,
      prefixDelegation: settings.prefixDelegation,
      ...settings.scope,
      othersInterfaceTags: options.excludeInterfaceTags,
      sparesOthers: settings.sparesOthers,
    },
  };
}
