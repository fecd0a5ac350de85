// The mode of a cloud network: addresses of the cloud, offered in CiliumNodes.
import type { LiveValues } from '../../config/read-live-options.ts';
import type { NodeReference } from '../../kubernetes/cilium-node/cilium-node.ts';
import { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import type { ServedSchema } from '../../kubernetes/cilium-node/served-schema.ts';
import type { EventReport } from '../../kubernetes/events/event-object.ts';
import type { Cloud, CloudDeps } from '../clouds/cloud.ts';
import { CloudProbe } from '../cloud-probe.ts';
import { ClusterCache } from '../cluster-cache.ts';
import { LeaderSession } from '../leader-session.ts';
import { type NodeStatusReport, nodeStatusReport } from '../reporting/node-status-report.ts';
import { statusReport, type StatusReport } from '../reporting/status-report.ts';
import { WriteHealth } from '../reporting/write-health.ts';
import { schemaAtStart } from '../schema-at-start.ts';
import type { ControllerFacts, Mode, ModeDeps } from './mode.ts';

export class EniMode implements Mode<StatusReport, NodeStatusReport> {
  readonly served = 'CiliumNodes';
  readonly access = { mode: 'eni' } as const;
  readonly #deps: ModeDeps;
  readonly #cache: ClusterCache;
  readonly #cloud: Cloud;
  readonly #probe: CloudProbe;
  readonly #writes: WriteHealth;
  #schema: ServedSchema | undefined;
  #session: LeaderSession | undefined;
  /** The token of the withdrawals that a user approves. */
  #allowedWithdrawals: string | undefined;

  constructor(deps: ModeDeps, composeCloud: (deps: CloudDeps) => Cloud) {
    this.#deps = deps;
    const { options, kubernetes, clock, random, log, registry, onBug } = deps;
    const { leads, isInSafeLeaseWindow, permission } = deps;
    this.#allowedWithdrawals = options.allowWithdrawals;
    this.#cloud = composeCloud({
      options,
      clock,
      log,
      metrics: registry.metrics,
      leads,
      isInSafeLeaseWindow,
      permission,
    });
    this.#writes = new WriteHealth(clock);
    this.#probe = new CloudProbe({
      implementation: this.#cloud.implementation,
      clock,
      random: random.fork('reach'),
      log,
      report: ({ reason, message }) => deps.recordLeaseEvent({ type: 'Warning', reason, message }),
    });
    this.#cache = new ClusterCache({
      transport: kubernetes,
      clock,
      random: random.fork('cache'),
      log,
      onBug,
      onNode: (name, watched) => this.#session?.apply(name, watched),
      section: this.#cloud.implementation.section,
      instanceIdOf: (providerId) => this.#cloud.instanceIdOf(providerId),
      onIdentities: (touched) => this.#session?.identitiesChanged(touched),
      onPendingPods: (name) => this.#session?.pendingPodsChanged(name),
    });
  }

  get count(): number {
    return this.#cache.nodes.size;
  }

  get background(): readonly { run(signal: AbortSignal): Promise<void> }[] {
    return [this.#cache, this.#probe];
  }

  async prepare(signal: AbortSignal): Promise<void> {
    await this.#cache.synced;
    this.#schema = await schemaAtStart(this.#deps, signal);
  }

  waitingFor(): string {
    return this.#cache.waitingFor();
  }

  caughtUp(): Promise<void> {
    return this.#cache.caughtUp();
  }

  begin(): void {
    if (this.#schema === undefined) throw new Error('the schema is read before the session begins');
    const { options, kubernetes, clock, random, log, registry, onBug } = this.#deps;
    const { leads, permission, lease, recordLeaseEvent } = this.#deps;
    this.#session = new LeaderSession({
      options,
      cloud: this.#cloud,
      writer: new CiliumNodeWriter(kubernetes, leads),
      onNothingToRead: () => this.#probe.begin(),
      onWritten: (name, outcome) => this.#writes.note(name, outcome),
      leads,
      knownVersion: () => this.#cache.nodesVersion,
      permission,
      schema: this.#schema,
      observe: (raw) => this.#cache.observe(raw),
      pendingPods: (name) => this.#cache.pendingPods(name),
      recordEvent: (node, report) => this.#recordEvent(node, report),
      recordLeaseEvent,
      lease,
      allowedWithdrawals: () => this.#allowedWithdrawals,
      identities: this.#cache.identities,
      clock,
      random: random.fork('term'),
      log,
      registry,
      onBug,
    });
    this.#session.begin(this.#cache.nodes.values());
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.#session?.stop(deadline);
  }

  /** Undefined once the cloud has answered. */
  standbyProblem(): string | undefined {
    if (this.#probe.isReached) return undefined;
    const { problem } = this.#probe;
    return problem === undefined
      ? 'it waits for the first answer of the cloud'
      : `it cannot reach the cloud: ${problem}`;
  }

  leadingProblem(): string | undefined {
    return this.#session?.scopeProblem ?? this.#readingProblem();
  }

  #readingProblem(): string | undefined {
    if (this.#session?.hasRead === true) return this.#session.unreliableReason ?? this.#writes.problem();
    if (this.#session?.hasNothingToRead === true) return this.standbyProblem();
    const problem = this.#session?.readProblem;
    return problem === undefined ? 'it reads the cloud' : `it cannot read the cloud: ${problem}`;
  }

  silence(): string | undefined {
    return this.#cache.silence();
  }

  problem(): string | undefined {
    return this.#cache.problem();
  }

  onStandby(): void {
    this.#probe.begin();
  }

  onOptions({ allowWithdrawals }: LiveValues): void {
    this.#allowedWithdrawals = allowWithdrawals;
  }

  /** Everything known about one node. */
  node(name: string, { state, leader, now }: ControllerFacts): NodeStatusReport {
    return nodeStatusReport(name, this.#session?.summaries() ?? [], { state, leader, now });
  }

  status(facts: ControllerFacts): StatusReport {
    return statusReport({
      ...facts,
      session: this.#session,
      buckets: this.#cloud.buckets(),
      denied: this.#cloud.denied(),
      identityProblem: this.#cache.identityProblem,
    });
  }

  show(): void {
    this.#cache.show(this.#deps.registry.metrics);
    this.#session?.show();
  }

  #recordEvent(node: NodeReference, report: EventReport): void {
    const { recordEvent } = this.#deps;
    recordEvent({ kind: 'CiliumNode', name: node.name, uid: node.uid }, report);
    const nodeUid = this.#cache.nodeUid(node.name) ?? node.nodeUid;
    recordEvent({ kind: 'Node', name: node.name, uid: nodeUid }, report);
  }
}
