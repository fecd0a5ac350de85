// A simulated cluster with its controllers, and what can be done to it: everything that faults and the end of a
// simulation reach for.
import { Acts, shownText } from './action-digest.ts';
import { Random } from '../../src/runtime/random.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import type { Options } from '../../src/config/option-table.ts';
import type { Logger } from '../../src/observability/logger.ts';
import { createEmbeddedCluster, type EmbeddedCluster } from '../../src/simulator/cluster/embedded-cluster.ts';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import type { JsonObject } from '../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import type { Ec2Api, Ec2Output } from '../../src/providers/aws/ec2-api.ts';
import { InProcessEc2, type OnCall } from '../support/in-process-ec2.ts';
import { Blindness } from './visibility-outages.ts';
import { Coverage } from './coverage.ts';
import { History } from './history.ts';
import { type HandshakeState, handshakeStateOf } from './handshake-state.ts';
import { fakePrefix } from './invariants/fakes.ts';
import { type EndedCall, Judge } from './invariants/invariant-checker.ts';
import { type ShownNode, shownNodeOf } from './invariants/shown-node.ts';
import type { CallInProgress } from './ports.ts';
import { SimulatedProcess } from './process.ts';
import { Omissions } from './incomplete-reads.ts';
import { optionsOf, Replica } from './replica.ts';
import type { CallPhase, Scenario } from './scenario.ts';
import { topologyOf } from './topology.ts';
import { Tripwires } from './failpoints.ts';
import { WireEc2 } from './wire-ec2.ts';

/** How calls reach the cloud: straight to its model, or through the real SDK and the model's front. */
export type RigKind = 'fast' | 'wire';

export interface StageOptions {
  readonly trace?: boolean;
  readonly rig?: RigKind;
}

/** How long pods stay that a fault brings, in ms. */
const crowdStays = 300_000;

export class Stage {
  readonly scenario: Scenario;
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly cluster: EmbeddedCluster;
  readonly judge: Judge;
  readonly history: History;
  readonly acts: Acts;
  readonly coverage = new Coverage();
  readonly tripwires = new Tripwires();
  readonly omissions = new Omissions({
    now: () => this.now,
    inUse: (instanceId) => this.judge.inUseOn(instanceId),
    onBegin: ({ what, from }) => this.coverage.hit('omission', what, from),
  });
  readonly blindness = new Blindness({ now: () => this.now, isWorthHiding: () => this.#withSecondary() > 3 });
  readonly replicas: Replica[] = [];
  readonly client: KubernetesClient;
  readonly options: Options;
  /** In ms, whenever a controller last changed something: the cloud, or a CiliumNode. */
  lastActAt = 0;
  lastAct = '';
  mutations = 0;
  /** The option allow-withdrawals, as all controllers have it. */
  allowedWithdrawals: string | undefined;
  /** Instances of which somebody changed what they may have. */
  readonly reconfigured = new Set<string>();
  /** Instances that a hostile agent is to name as soon as they are launched. */
  ambushes = 0;
  cloudCalls = 0;
  readonly #handler: KubernetesHandler;
  readonly #rig: RigKind;
  #generation = 0;
  #crowdSize = 0;
  /** Lets each of those go that have not. */
  readonly #crowd = new Set<() => void>();
  #isOver = false;

  constructor(scenario: Scenario, { trace = false, rig = 'fast' }: StageOptions = {}) {
    this.scenario = scenario;
    this.#rig = rig;
    this.random = new Random(`play-${scenario.seed}`);
    this.options = optionsOf(scenario.flags);
    this.history = new History(() => this.clock.monotonic(), trace);
    this.acts = new Acts(trace);
    this.cluster = createEmbeddedCluster({
      topology: topologyOf(scenario),
      clock: this.clock,
      random: this.random.fork('cluster'),
      pace: 1,
      configure: (facts, index) => {
        const { protocol, ipam, eni } = this.plan(index);
        return { ...facts, protocol, ipam, eni };
      },
      onEvent: (event) => {
        const { node, kind, subject, detail } = event;
        this.history.write(`${node} ${kind} ${subject} ${detail}`);
        this.judge.hear(event);
      },
    });
    const { kubernetes } = this.cluster;
    this.judge = new Judge({
      cluster: this.cluster,
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
        this.#acted(`write of ${key}`);
        this.history.decide(`${writer} writes ${key}`);
        this.acts.add(this.now, `${writer} writes ${key} ${shownText(object)}`);
      }
      this.history.write(`write ${revision} ${key} ${writer}`);
    });
  }

  get now(): number {
    return this.clock.monotonic();
  }

  /** Timers that fired, requests to Kubernetes and calls to the cloud. */
  get events(): number {
    return this.clock.fired + this.cluster.kubernetes.requests + this.cloudCalls;
  }

  plan(index: number): Scenario['nodes'][number] {
    const plan = this.scenario.nodes[index % this.scenario.nodes.length];
    if (plan === undefined) throw new RangeError(`there is no node ${index}`);
    return plan;
  }

  /** Starts every replica, each a little after the one before. */
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
      api: this.#cloudFor(process),
      random: this.random,
      log: this.#logger(process.identity),
      hear: (phase, progress) => this.#hear(phase, progress),
      show: (identity, call, output) => this.#shown(identity, call, output),
      take: (identity, action, output) => this.judge.seeTaken(identity, action, output),
      onForeignWrite: () => {
        // Who lost its Lease to a hand and does not know it yet is right to stop.
        if (this.#leaders > 1) return;
        this.judge.note('false-alarm', `${process.identity} takes a write for somebody else's`);
      },
      onBug: (error) => this.judge.note('bug', error instanceof Error ? (error.stack ?? '') : String(error)),
    });
    this.replicas.push(replica);
    replica.outcome.then(
      (outcome) => {
        this.history.write(`${process.identity} ends: ${outcome}`);
        this.retire(replica, 2000);
      },
      (error: unknown) => {
        this.judge.note(
          'bug',
          `${process.identity} rejects: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
        );
        this.retire(replica, 2000);
      },
    );
  }

  /**
   * Instances of nodes that have had more than their primary interface for so long that a reading has to show it, and whose
   * CiliumNodes show it: of the others nobody misses anything.
   */
  #withSecondary(): number {
    const { instances, interfaces } = this.cluster.ec2.network;
    const attachedBy = this.clock.wall() - 2 * this.options.consistencyWindow;
    const isOld = (id: string): boolean =>
      (interfaces.get(id)?.attachment?.attachTime ?? Infinity) <= attachedBy;
    return this.nodeNames.filter((name) => {
      const { instanceId = '' } = this.cluster.workload.machineOf(name)?.facts ?? {};
      const { interfaces: shown } = this.shownOn(name);
      const known = instances
        .get(instanceId)
        ?.interfaceIds.filter((id) => isOld(id) && shown[id] !== undefined);
      return (known?.length ?? 0) > 1;
    }).length;
  }

  #shown<T extends object>(
    identity: string,
    { action, input }: { readonly action: string; readonly input: object },
    output: T,
  ): T {
    const { NetworkInterfaces: all } = output as Partial<Ec2Output<'DescribeNetworkInterfaces'>>;
    const isComplete =
      action !== 'DescribeNetworkInterfaces' || all === undefined || this.blindness.isRecent(this.now);
    const listed = isComplete
      ? output
      : { ...output, NetworkInterfaces: this.omissions.shown(identity, all) };
    const isListing = action === 'DescribeNetworkInterfaces' && JSON.stringify(input).includes('"in-use"');
    return this.blindness.shown(action, listed, isListing) as T;
  }

  #cloudFor(process: SimulatedProcess): Ec2Api {
    const { gateway } = this.cluster.ec2;
    const sent = new WeakMap<object, number>();
    const onCall: OnCall = (action, input, result, output = {}) =>
      this.#called(process, action, {
        input: input as JsonObject,
        result,
        sentAt: sent.get(input as object) ?? -Infinity,
        output: output as JsonObject,
      });
    const api =
      this.#rig === 'wire'
        ? new WireEc2(gateway, this.clock, onCall)
        : new InProcessEc2(gateway, onCall, `arn:aws:iam::123456789012:user/${process.identity}`);
    return {
      send: (action, input, sending) => {
        sent.set(input, this.clock.monotonic());
        return api.send(action, input, sending);
      },
    };
  }

  /** The process is no more; another takes its place after `ms`. */
  retire(replica: Replica, ms: number): void {
    const index = this.replicas.indexOf(replica);
    if (index < 0) return;
    replica.process.kill();
    this.replicas.splice(index, 1);
    if (!this.#isOver) this.clock.schedule(ms, () => this.startReplica());
  }

  /** The replica of a process; undefined when that is no more. */
  replicaOf(process: SimulatedProcess): Replica | undefined {
    return this.replicas.find((replica) => replica.process === process);
  }

  /** How many believe that they lead. */
  get #leaders(): number {
    return this.replicas.filter(({ isLeading }) => isLeading).length;
  }

  get leader(): Replica | undefined {
    return this.replicas.find(({ isLeading }) => isLeading);
  }

  /** The nodes that are there, in the order in which they came. */
  get nodeNames(): readonly string[] {
    return [...this.cluster.workload.protocols.keys()];
  }

  /** The node at a share of those that are there. */
  nodeAt(share: number): NodeFacts | undefined {
    const names = this.nodeNames;
    return this.cluster.workload.machineOf(names[Math.floor(share * names.length)] ?? '')?.facts;
  }

  /** Where the release handshake of a node stands, in a word. */
  handshakeOf(nodeName: string): HandshakeState {
    return handshakeStateOf(this.shownOn(nodeName), this.cluster.ec2.network.interfaces);
  }

  /** The node that a call is about; empty where there is none. */
  nodeOfCall(input: CallInProgress['input']): string {
    const { path } = input;
    const name = typeof path === 'string' ? /\/ciliumnodes\/([^/?]+)/.exec(path)?.[1] : undefined;
    return name ?? this.judge.nodeOf(this.#instanceOfCall(input)) ?? '';
  }

  #instanceOfCall(input: CallInProgress['input']): string {
    const { InstanceId: instanceId, NetworkInterfaceId: id, AttachmentId: attachmentId } = input;
    if (typeof instanceId === 'string') return instanceId;
    const { interfaces } = this.cluster.ec2.network;
    if (typeof id === 'string') return interfaces.get(id)?.instanceId ?? '';
    if (typeof attachmentId !== 'string') return taggedInstance(input);
    const item = [...interfaces.values()].find(({ attachment }) => attachment?.id === attachmentId);
    return item?.instanceId ?? '';
  }

  /** What the node shows to its agent now. */
  shownOn(nodeName: string): ShownNode {
    return shownNodeOf(this.cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName));
  }

  /** Pods that come to a node together, and go a while later. */
  addPods(nodeName: string, count: number): void {
    for (let index = 0; index < count; index++) {
      const name = `crowd-${this.#crowdSize++}`;
      this.promise(this.cluster.workload.createPod({ name, nodeName }));
      const leave = (): void => {
        if (this.#crowd.delete(leave)) this.promise(this.cluster.workload.deletePod(`default/${name}`));
      };
      this.#crowd.add(leave);
      this.clock.schedule(crowdStays, leave);
    }
  }

  /** Those go now. */
  dismissPods(): void {
    for (const leave of this.#crowd) leave();
  }

  /** Somebody else annotates an object, so that whoever read it before meets a conflict. */
  touch(path: string): void {
    const annotations = { touched: String(this.now) };
    this.promise(this.client.mergePatch(path, { metadata: { annotations } }, never));
  }

  /** Somebody deletes the Lease, or writes another holder into it. */
  meddleWithLease(deed: 'delete' | 'steal'): void {
    const { k8sNamespace, leaderElectionLeaseName } = this.options;
    const path = `/apis/coordination.k8s.io/v1/namespaces/${k8sNamespace}/leases/${leaderElectionLeaseName}`;
    this.promise(
      deed === 'delete'
        ? this.client.delete(path, {}, never)
        : this.client.mergePatch(path, { spec: { holderIdentity: 'a thief' } }, never),
    );
  }

  /** Lets something go on beside everything else; that it fails is a bug. */
  promise(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (!this.#isOver) this.judge.note('bug', error instanceof Error ? (error.stack ?? '') : String(error));
    });
  }

  /** Ends everything. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const { process } of this.replicas) process.kill();
    const stopped = this.cluster.workload.stop();
    await this.clock.advance(100);
    await Promise.race([stopped, this.clock.advance(60_000)]);
  }

  #called(process: SimulatedProcess, action: string, ended: EndedCall): void {
    const { input, result } = ended;
    this.cloudCalls++;
    if (!action.startsWith('Describe')) {
      this.mutations++;
      this.#acted(`${action} (${result})`);
    }
    const tell = (): void => this.judge.hearCall(process.identity, action, ended);
    // A process that is frozen knows of no answer until it goes on.
    if (process.isFrozen) this.promise(process.pass(undefined).then(tell));
    else tell();
    const text = `${process.identity} ${action} ${JSON.stringify(input)}`;
    // An answer that makes no sense is refused by the SDK's port on the wire, and by its reader on the other rig.
    const end = action.startsWith('Describe') ? 'is answered' : result === 'OK' ? 'succeeds' : 'fails';
    this.history.decide(`${text} ${end}`);
    this.acts.add(this.now, `${text} ${end}`);
    this.history.write(`${text} ${result}`);
  }

  #acted(what: string): void {
    this.lastActAt = this.clock.monotonic();
    this.lastAct = what;
  }

  #hear(phase: CallPhase, progress: CallInProgress): void {
    if (progress.call === 'lease' && this.#leaders > 1) this.coverage.hit('two leaders');
    // What is written on a fake is of no node.
    const { path } = progress.input;
    const isOfFake = typeof path === 'string' && path.includes(`/${fakePrefix}`);
    if (!isOfFake) this.tripwires.pass(phase, progress);
  }

  #logger(identity: string): Logger {
    return this.history.isTraced ? this.history.logger(identity) : silentLogger;
  }
}

/** The instance that an interface is made for. */
function taggedInstance(input: CallInProgress['input']): string {
  const tags = JSON.stringify(input['TagSpecifications'] ?? '');
  return /"headwater\/instance-id","Value":"([^"]+)"/.exec(tags)?.[1] ?? '';
}

const never = new AbortController().signal;

const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
