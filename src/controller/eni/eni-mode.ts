// The mode of a cloud network: addresses of the cloud, offered in CiliumNodes.
import { cloudSettings } from '../../config/clouds/clouds.ts';
import { writeTimeoutOf } from '../../config/release-window.ts';
import type { LiveValues } from '../../config/live-options.ts';
import type { AccessScope } from '../../kubernetes/access/needed-access.ts';
import { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import type { ServedSchema } from '../../kubernetes/cilium-node/served-schema.ts';
import { Fleet } from '../../manager/fleet.ts';
import type { CloudEvent } from '../../manager/serving-event.ts';
import { agentTaintOf, agentTaints } from '../agent-taints.ts';
import { ciliumNodeCollection } from '../cilium-node-collection.ts';
import type { Cloud, CloudDeps } from '../clouds/cloud.ts';
import { CloudProbe } from './cloud-probe.ts';
import { CloudState, type StateListener } from './cloud-state.ts';
import { ClusterCache } from './cluster-cache.ts';
import { ClusterNaming } from './cluster-naming.ts';
import { LeaderSession } from './leader-session.ts';
import { NodeEvents } from '../reporting/node-events.ts';
import { type NodeStatusReport, nodeStatusReport } from '../reporting/node-status-report.ts';
import { statusReport, type StatusReport } from '../reporting/status-report.ts';
import { WriteHealth } from '../reporting/write-health.ts';
import { schemaAtStart, schemaOfLeader } from './schema-at-start.ts';
import { accessScope, type Mode, type ModeDeps } from '../host.ts';
import type { SelfFacts } from '../reporting/process-status-report.ts';

export class EniMode implements Mode<StatusReport, NodeStatusReport>, StateListener {
  readonly served = 'CiliumNodes';
  readonly access: AccessScope;
  readonly #deps: ModeDeps;
  readonly #cache: ClusterCache;
  readonly #naming: ClusterNaming;
  readonly #cloud: Cloud;
  readonly #probe: CloudProbe;
  readonly #writes: WriteHealth;
  #schema: ServedSchema | undefined;
  #session: LeaderSession | undefined;
  #gc: ReturnType<typeof ciliumNodeCollection>;
  readonly #taints: ReturnType<typeof agentTaints>;
  /** By the option allow-withdrawals, which may change while the process runs. */
  readonly #approval: { token: string | undefined };

  constructor(deps: ModeDeps, composeCloud: (deps: CloudDeps) => Cloud) {
    this.#deps = deps;
    const { host, kubernetes, leadership, events } = deps;
    const { options, clock, random, log, registry } = host;
    this.access = accessScope('eni', options);
    this.#approval = { token: options.allowWithdrawals };
    this.#cloud = composeCloud({ ...host, metrics: registry.metrics, ...leadership });
    this.#writes = new WriteHealth(clock);
    this.#probe = new CloudProbe({
      implementation: this.#cloud.implementation,
      clock,
      random: random.fork('reach'),
      log,
      report: ({ reason, message }) => events.recordOnLease({ type: 'Warning', reason, message }),
    });
    this.#cache = new ClusterCache({
      host: { ...host, random: random.fork('cache') },
      transport: kubernetes,
      reads: deps.reads,
      scope: deps.scope,
      section: this.#cloud.implementation.section,
      instanceIdOf: (providerId) => this.#cloud.instanceIdOf(providerId),
      agentTaint: agentTaintOf(options),
      duties: {
        noteNode: (name) => {
          this.#gc?.noteNode(name);
          this.#taints?.noteNode(name);
        },
      },
    });
    this.#naming = new ClusterNaming(
      { ...host, random: random.fork('naming') },
      this.#cloud.implementation,
      this.#cache,
    );
    this.#taints = agentTaints({ ...deps, nodes: () => this.#cache.clusterNodes });
  }

  get count(): number {
    return this.#cache.nodes.size;
  }

  get background(): readonly { run(signal: AbortSignal): Promise<void> }[] {
    return [this.#cache, this.#probe, this.#naming];
  }

  async prepare(signal: AbortSignal): Promise<void> {
    await this.#cache.synced;
    const { host, kubernetes } = this.#deps;
    this.#schema = await schemaAtStart({ ...host, kubernetes }, signal);
    await this.#naming.find(signal);
  }

  readProblem(): string | undefined {
    return this.#cache.readProblem();
  }

  waitingFor(): string {
    return this.#naming.problem ?? this.#cache.waitingFor();
  }

  async caughtUp(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#cache.caughtUp(), this.#completeSchema(signal), this.#naming.renew(signal)]);
  }

  async #completeSchema(signal: AbortSignal): Promise<void> {
    const { host, kubernetes } = this.#deps;
    this.#schema &&= await schemaOfLeader({ ...host, kubernetes }, this.#schema, signal);
  }

  beginServing(): void {
    if (this.#schema === undefined) throw new Error('the schema is read before the session begins');
    const { kubernetes, leadership } = this.#deps;
    this.#naming.keep();
    const { options } = this.#naming;
    const host = { ...this.#deps.host, options, random: this.#deps.host.random.fork('term') };
    const events = new NodeEvents(this.#deps.events, (name) => this.#cache.nodeUid(name));
    const { identities, pods } = this.#cache;
    const { section } = this.#cloud.implementation;
    const cloud = new CloudState({
      host,
      cloud: this.#naming.named(this.#cloud),
      leadership,
      events,
      approval: this.#approval,
      identities,
      fleet: new Fleet({ identities, pods, section, scope: cloudSettings(options).scope }),
      listener: this,
    });
    this.#session = new LeaderSession({
      host,
      cloud,
      leadership,
      events,
      cluster: this.#cache,
      writer: new CiliumNodeWriter(kubernetes, leadership.leads),
      writes: this.#writes,
      schema: this.#schema,
    });
    this.#cache.served = this.#session.nodes;
    this.#gc = ciliumNodeCollection(this.#deps, {
      ciliumNodes: () => this.#cache.collectable(),
      nodeNames: () => this.#cache.nodeNames(),
      writer: new CiliumNodeWriter(kubernetes, leadership.leads, writeTimeoutOf(host.options)),
    });
    this.#session.beginServing(this.#cache.nodes.values(), this.#gc, this.#taints);
  }

  cloudChanged(event: CloudEvent): void {
    this.#session?.nodes.cloudChanged(event);
  }

  nothingToRead(): void {
    this.#probe.beginProbing();
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
    const cloud = this.#session?.cloud;
    if (cloud?.hasRead === true) return cloud.unreliableReason ?? this.#writes.problem();
    if (cloud?.hasNothingToRead === true) return this.standbyProblem();
    const problem = cloud?.readProblem;
    return problem === undefined ? 'it reads the cloud' : `it cannot read the cloud: ${problem}`;
  }

  silence(): string | undefined {
    return this.#cache.silence();
  }

  problem(): string | undefined {
    return this.#cache.problem();
  }

  onStandby(): void {
    this.#probe.beginProbing();
  }

  onOptions({ allowWithdrawals }: LiveValues): void {
    this.#approval.token = allowWithdrawals;
  }

  /** Everything known about one node. */
  node(name: string, { state, leader }: SelfFacts): NodeStatusReport {
    const session = this.#session;
    return nodeStatusReport(name, session?.summaries() ?? [], {
      state,
      leader,
      now: this.#deps.host.clock.monotonic(),
      explanation: session?.nodes.fleet.reconcilerOf(name)?.explain(),
      unserved: session && this.#cache.unserved(name),
      dryRun: session?.dryRunOn(name),
    });
  }

  status(facts: SelfFacts, withNodes: boolean): StatusReport {
    const known = {
      ...facts,
      now: this.#deps.host.clock.monotonic(),
      session: this.#session,
      buckets: this.#cloud.buckets(),
      denied: this.#cloud.denied(),
      identityProblem: this.#cache.identityProblem,
      naming: this.#naming.report,
    };
    return statusReport(known, withNodes);
  }

  show(): void {
    this.#cache.show(this.#deps.host.registry.metrics);
    this.#session?.show();
  }
}
