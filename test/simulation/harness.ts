// The test harness: a simulated cluster with its controllers, and every operation that faults and the end of a
// simulation use.
import { ActionRecorder, shownText } from './action-digest.ts';
import { Random } from '../../src/runtime/random.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import type { Options } from '../../src/config/option-table.ts';
import type { Logger } from '../../src/observability/logger.ts';
import type { SimulatedCluster } from '../../src/simulator/cluster/embedded-cluster.ts';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import { KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { optionsOf } from '../support/given-options.ts';
import { VisibilityOutages } from './visibility-outages.ts';
import { AlibabaRig } from './clouds/alibaba-rig.ts';
import { AwsRig } from './clouds/aws-rig.ts';
import { AzureRig } from './clouds/azure-rig.ts';
import { podInterfaceOf } from './clouds/azure-topology.ts';
import type { CloudPath, CloudRig, RigOptions } from './clouds/cloud-rig.ts';
import { ContestedNodes } from './contested-nodes.ts';
import { Coverage } from './coverage.ts';
import { History } from './history.ts';
import { type HandshakeState, handshakeStateOf } from './handshake-state.ts';
import { fakePrefix } from './invariants/fakes.ts';
import type { EndedCall } from './invariants/ended-call.ts';
import { InvariantChecker } from './invariants/invariant-checker.ts';
import { type ShownNode, shownNodeOf } from './invariants/shown-node.ts';
import { type CallInProgress, SimulatedProcess } from './process.ts';
import { IncompleteReads } from './incomplete-reads.ts';
import { withoutOmitted } from './omitted-interfaces.ts';
import { Replica, type ReplicaSetup } from './replica.ts';
import type { CallPhase, Scenario } from './scenario.ts';
import { Failpoints } from './failpoints.ts';

export interface HarnessOptions {
  readonly trace?: boolean;
  readonly path?: CloudPath;
}

/** Lifetime of pods that a fault adds, in ms. */
const extraPodLifetime = 300_000;

export class Harness {
  readonly scenario: Scenario;
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly rig: CloudRig;
  readonly checker: InvariantChecker;
  readonly history: History;
  readonly actions: ActionRecorder;
  readonly coverage = new Coverage();
  readonly failpoints = new Failpoints();
  readonly incompleteReads = new IncompleteReads({
    now: () => this.now,
    inUse: (instanceId) => this.checker.inUseOn(instanceId),
    onBegin: ({ what, from }) => this.coverage.hit('omission', what, from),
  });
  readonly outages = new VisibilityOutages({
    now: () => this.now,
    withSecondary: () => this.instancesWithSecondary(),
    isExamined: (instanceId) => !this.#isAwaited(instanceId),
  });
  readonly replicas: Replica[] = [];
  readonly client: KubernetesClient;
  readonly options: Options;
  /** When a controller last changed the cloud or a CiliumNode, in ms. */
  lastChangeAt = 0;
  lastChange = '';
  mutations = 0;
  /** The option allow-withdrawals of all controllers. */
  allowedWithdrawals: string | undefined;
  /** Instances with changed limits. */
  readonly reconfigured = new Set<string>();
  /** Number of upcoming instances that a hostile agent names at launch. */
  pendingAmbushes = 0;
  cloudCalls = 0;
  readonly #handler: KubernetesHandler;
  readonly #contested = new ContestedNodes();
  #generation = 0;
  #extraPodCount = 0;
  /** Removes one pod each. */
  readonly #extraPods = new Set<() => void>();
  #hasEnded = false;

  constructor(scenario: Scenario, { trace = false, path = 'fast' }: HarnessOptions = {}) {
    this.scenario = scenario;
    this.random = new Random(`play-${scenario.seed}`);
    this.options = optionsOf(scenario.flags);
    this.history = new History(() => this.clock.monotonic(), trace);
    this.actions = new ActionRecorder(trace);
    const create: RigOptions['create'] = {
      clock: this.clock,
      random: this.random.fork('cluster'),
      pace: 1,
      configure: (facts, index) => {
        const { protocol, ipam, eni, ipv6, alibaba } = this.plan(index);
        const interfaceName = podInterfaceOf(scenario, facts);
        return {
          ...facts,
          protocol,
          ipam,
          eni,
          ...(ipv6 === true && { ipv6 }),
          ...(interfaceName !== undefined && { azure: { interfaceName } }),
          ...(alibaba !== undefined && { alibaba }),
          withoutProviderId: scenario.withoutProviderIds === true,
        };
      },
      onEvent: (event) => {
        const { node, kind, subject, detail } = event;
        this.history.write(`${node} ${kind} ${subject} ${detail}`);
        this.checker.onWorkloadEvent(event);
      },
    };
    const onMisdeed = (text: string): void => this.checker.report('misdeed', text);
    const options: RigOptions = { clock: this.clock, path, create, onMisdeed };
    const Rig =
      scenario.azure !== undefined ? AzureRig : scenario.alibaba !== undefined ? AlibabaRig : AwsRig;
    this.rig = new Rig(scenario, options);
    const { kubernetes } = this.cluster;
    this.checker = new InvariantChecker({
      rig: this.rig,
      now: () => this.clock.monotonic(),
      consistencyWindow: this.options.consistencyWindow,
    });
    this.#handler = (request, signal) => {
      if (this.history.isTraced && request.method === 'PATCH')
        this.history.warning(`${request.headers['user-agent']} ${request.url} ${request.body}`);
      return kubernetes.handle(request, signal);
    };
    this.client = new KubernetesClient(this.#handler, 'somebody');
    kubernetes.follow('ciliumnodes.cilium.io', ({ key, revision, object }) => {
      const writer = kubernetes.acting?.headers['user-agent'] ?? '';
      if (writer.startsWith('headwater')) {
        this.#recordChange(`write of ${key}`);
        this.#contested.written(key, writer, this.#leaders);
        this.history.decide(`${writer} writes ${key}`);
        this.actions.add(this.now, `${writer} writes ${key} ${shownText(object)}`);
      }
      this.history.write(`write ${revision} ${key} ${writer}`);
    });
  }

  get cluster(): SimulatedCluster {
    return this.rig.cluster;
  }

  get now(): number {
    return this.clock.monotonic();
  }

  /** Fired timers, Kubernetes requests and cloud calls. */
  get events(): number {
    return this.clock.fired + this.cluster.kubernetes.requests + this.cloudCalls;
  }

  plan(index: number): Scenario['nodes'][number] {
    const plan = this.scenario.nodes[index % this.scenario.nodes.length];
    if (plan === undefined) throw new RangeError(`there is no node ${index}`);
    return plan;
  }

  /** Starts the replicas one after another. */
  startReplicas(): void {
    for (let slot = 0; slot < this.scenario.replicas; slot++) {
      this.clock.schedule(slot * 1500, () => this.startReplica());
    }
  }

  startReplica(): void {
    const process = new SimulatedProcess(`headwater-${this.#generation++}`, this.clock);
    const replica = new Replica({
      process,
      options: { ...this.options, allowWithdrawals: this.allowedWithdrawals },
      readLiveOptions: () => ({ values: { allowWithdrawals: this.allowedWithdrawals }, problems: [] }),
      handler: this.#handler,
      compose: this.#compose(process),
      random: this.random,
      log: this.#logger(process.identity),
      onPhase: (phase, progress) => this.#onPhase(phase, progress),
      onConflictingWrite: (name) => {
        if (this.#contested.isContested(name, process.identity)) return;
        this.checker.report(
          'false-alarm',
          `${process.identity} takes a write of a replica for a conflicting writer's`,
        );
      },
      onBug: (error) =>
        this.checker.report('bug', error instanceof Error ? (error.stack ?? '') : String(error)),
    });
    this.replicas.push(replica);
    replica.outcome.then(
      (outcome) => {
        this.history.write(`${process.identity} ends: ${outcome}`);
        this.retire(replica, 2000);
      },
      (error: unknown) => {
        this.checker.report(
          'bug',
          `${process.identity} rejects: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
        );
        this.retire(replica, 2000);
      },
    );
  }

  /**
   * Instances with a secondary interface old enough for every read to show it, shown by their CiliumNode, and that
   * lists alone show. Without all three, its absence from lists is not noticed, and withdraws nothing.
   */
  instancesWithSecondary(): readonly string[] {
    const { instances, interfaces } = this.cluster.network;
    const attachedBy = this.clock.wall() - 2 * this.options.consistencyWindow;
    const isOld = (id: string): boolean =>
      (interfaces.get(id)?.attachment?.attachTime ?? Infinity) <= attachedBy;
    return this.nodeNames.flatMap((name) => {
      const { instanceId = '' } = this.cluster.workload.machineOf(name)?.facts ?? {};
      const { interfaces: shown } = this.shownOn(name);
      const known = instances
        .get(instanceId)
        ?.interfaceIds.filter((id) => isOld(id) && shown[id] !== undefined);
      return (known?.length ?? 0) > 1 && this.rig.isReadInLists(instanceId) ? [instanceId] : [];
    });
  }

  #isAwaited(instanceId: string): boolean {
    const ids = this.cluster.network.instances.get(instanceId)?.interfaceIds ?? [];
    return ids.some((id) => this.rig.isAwaited(id));
  }

  #filterAnswer<T extends object>(
    identity: string,
    { action, input }: { readonly action: string; readonly input: object },
    output: T,
  ): T {
    const listed = this.outages.isRecent(this.now)
      ? output
      : withoutOmitted(this.incompleteReads, { identity, action }, output);
    return this.outages.shown({ identity, action, input, output: listed }) as T;
  }

  #compose(process: SimulatedProcess): ReplicaSetup['compose'] {
    return this.rig.connect(process, {
      onPhase: (phase, progress) => this.#onPhase(phase, progress),
      onCallEnded: (action, ended) => this.#onCallEnded(process, action, ended),
      filterAnswer: (identity, call, output) => this.#filterAnswer(identity, call, output),
      onAnswerApplied: (identity, action, output) => this.checker.onAnswerApplied(identity, action, output),
    });
  }

  /** Kills the process of a replica and replaces it after `ms`. */
  retire(replica: Replica, ms: number): void {
    const index = this.replicas.indexOf(replica);
    if (index < 0) return;
    replica.process.kill();
    this.replicas.splice(index, 1);
    if (!this.#hasEnded) this.clock.schedule(ms, () => this.startReplica());
  }

  /** The replica of a process; undefined once that is gone. */
  replicaOf(process: SimulatedProcess): Replica | undefined {
    return this.replicas.find((replica) => replica.process === process);
  }

  /** Identities of the replicas that believe that they lead. */
  get #leaders(): readonly string[] {
    return this.replicas.filter(({ isLeading }) => isLeading).map(({ process }) => process.identity);
  }

  get leader(): Replica | undefined {
    return this.replicas.find(({ isLeading }) => isLeading);
  }

  /** Existing nodes, in order of creation. */
  get nodeNames(): readonly string[] {
    return [...this.cluster.workload.protocols.keys()];
  }

  /** The existing node at a share of [0, 1). */
  nodeAt(share: number): NodeFacts | undefined {
    const names = this.nodeNames;
    return this.cluster.workload.machineOf(names[Math.floor(share * names.length)] ?? '')?.facts;
  }

  /** The state of the release handshake of a node. */
  handshakeOf(nodeName: string): HandshakeState {
    return handshakeStateOf(this.shownOn(nodeName), this.cluster.network.interfaces);
  }

  /** The node that a call is about; empty if there is none. */
  nodeOfCall(input: CallInProgress['input']): string {
    const { path } = input;
    const name = typeof path === 'string' ? /\/ciliumnodes\/([^/?]+)/.exec(path)?.[1] : undefined;
    return name ?? this.checker.nodeOf(this.rig.instanceOfCall(input)) ?? '';
  }

  /** What the node shows to its agent now. */
  shownOn(nodeName: string): ShownNode {
    return shownNodeOf(this.cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName));
  }

  /** Adds pods to one node at once, and removes them after a while. */
  addExtraPods(nodeName: string, count: number): void {
    for (let index = 0; index < count; index++) {
      const name = `crowd-${this.#extraPodCount++}`;
      this.runInBackground(this.cluster.workload.createPod({ name, nodeName }));
      const remove = (): void => {
        if (this.#extraPods.delete(remove))
          this.runInBackground(this.cluster.workload.deletePod(`default/${name}`));
      };
      this.#extraPods.add(remove);
      this.clock.schedule(extraPodLifetime, remove);
    }
  }

  /** Removes these pods now. */
  removeExtraPods(): void {
    for (const remove of this.#extraPods) remove();
  }

  /** Annotates an object as another client, so that writes from an older read get a conflict. */
  touch(path: string): void {
    const annotations = { touched: String(this.now) };
    this.runInBackground(this.client.mergePatch(path, { metadata: { annotations } }, never));
  }

  /** Deletes the Lease, or writes another holder into it. */
  tamperWithLease(deed: 'delete' | 'steal'): void {
    const { k8sNamespace, leaderElectionLeaseName } = this.options;
    const path = `/apis/coordination.k8s.io/v1/namespaces/${k8sNamespace}/leases/${leaderElectionLeaseName}`;
    this.runInBackground(
      deed === 'delete'
        ? this.client.delete(path, {}, never)
        : this.client.mergePatch(path, { spec: { holderIdentity: 'a thief' } }, never),
    );
  }

  /** Runs work in the background; its failure is a bug. */
  runInBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (!this.#hasEnded)
        this.checker.report('bug', error instanceof Error ? (error.stack ?? '') : String(error));
    });
  }

  /** Stops everything. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    for (const { process } of this.replicas) process.kill();
    const stopped = this.cluster.workload.stop();
    await this.clock.advance(100);
    await Promise.race([stopped, this.clock.advance(60_000)]);
  }

  #onCallEnded(process: SimulatedProcess, action: string, ended: EndedCall): void {
    const { input, result } = ended;
    this.cloudCalls++;
    if (this.rig.isChange(action)) {
      this.mutations++;
      this.#recordChange(`${action} (${result})`);
    }
    const notify = (): void => this.checker.onCallEnded(process.identity, action, ended);
    // A frozen process learns of an answer once it resumes.
    if (process.isFrozen) this.runInBackground(process.pass(undefined).then(notify));
    else notify();
    const text = `${process.identity} ${action} ${JSON.stringify(input)}`;
    // The SDK refuses an unreadable answer on the wire, and the reader of the port refuses it on the fast path.
    const end = !this.rig.isChange(action) ? 'is answered' : result === 'OK' ? 'succeeds' : 'fails';
    this.history.decide(`${text} ${end}`);
    this.actions.add(this.now, `${text} ${end}`);
    this.history.write(`${text} ${result}`);
  }

  #recordChange(what: string): void {
    this.lastChangeAt = this.clock.monotonic();
    this.lastChange = what;
  }

  #onPhase(phase: CallPhase, progress: CallInProgress): void {
    if (progress.call === 'lease' && this.#leaders.length > 1) this.coverage.hit('two leaders');
    // Writes to a fake CiliumNode belong to no node.
    const { path } = progress.input;
    const isOfFake = typeof path === 'string' && path.includes(`/${fakePrefix}`);
    if (!isOfFake) this.failpoints.hit(phase, progress);
  }

  #logger(identity: string): Logger {
    return this.history.isTraced ? this.history.logger(identity) : silentLogger;
  }
}

const never = new AbortController().signal;

const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
