// A fleet of nodes under load: creates Nodes, agents and kubelets, runs workloads on them, and exposes addresses in use
// and violations. Knows neither controller nor cloud.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { scaledClock } from './scaled-clock.ts';
import type { KubernetesHandler } from '../kubernetes/exchange.ts';
import { AddressLedger } from './address-ledger.ts';
import { type WorkloadEvent, type Recorder, recorderFor } from './journal.ts';
import { KubernetesClient } from './kubernetes-client.ts';
import { Machine } from './machine.ts';
import type { NodeFacts, Protocol } from './node-facts.ts';
import { NodeObjects } from './node-objects.ts';
import { nodeViewOf, type NodeView } from './node-view.ts';
import { type PodCreation, PodRegistry, type PodWish } from './pod-registry.ts';
import { scheduleOf } from './schedule.ts';
import type { Violation, ViolationLog } from './violation-log.ts';
import { noWaits, sumOfWaits, type WaitFigures } from './waiting-times.ts';
import type { Workload } from './workload.ts';
import { drive } from './workload-driver.ts';

/** Launches and terminates machines, for workloads that replace nodes. */
export interface Machines {
  /** Terminates the machine; resolves once it no longer runs. */
  readonly terminate: (facts: NodeFacts) => Promise<void>;
  /** Launches a replacement for `previous` under another name. */
  readonly launch: (previous: NodeFacts) => Promise<NodeFacts>;
}

export interface FleetOptions {
  readonly handler: KubernetesHandler;
  readonly clock: Clock;
  readonly random: Random;
  readonly nodes: readonly NodeFacts[];
  /** Speed-up of agents and kubelets. */
  readonly pace: number;
  /** Maximum delay of an event from the API to an agent, in ms of their pace; 50 by default. */
  readonly watchLag?: number;
  /** Maximum time between an agent's CiliumNode and its first look at it, in ms of its pace; 500 by default. */
  readonly startLag?: number;
  /** Maximum pods per node; 110 by default. */
  readonly podsPerNode?: number;
  /** Grace period of a pod, in seconds of the agents' pace; 2 by default. */
  readonly podGrace?: number;
  readonly machines?: Machines;
  readonly onEvent?: (event: WorkloadEvent) => void;
  /** Called for errors that only a bug of the workload can cause; by default an uncaught exception. */
  readonly onBug?: (error: unknown) => void;
}

/** Downtime of a restarted or replaced agent, in ms of the agents' pace; at most twice that. */
const usualDowntime = 5_000;

export class WorkloadFleet {
  readonly #options: FleetOptions;
  readonly #pace: Clock;
  readonly #client: KubernetesClient;
  readonly #nodeObjects: NodeObjects;
  readonly #pods: PodRegistry;
  readonly #ledger = new AddressLedger();
  readonly #machines = new Map<string, Machine>();
  /** Violations of nodes that were removed. */
  readonly #pastViolations: ViolationLog[] = [];
  #pastWaits = noWaits;
  readonly #stopping = new AbortController();
  readonly #onBug: (error: unknown) => void;

  constructor(options: FleetOptions) {
    const { handler, clock, random, pace, podsPerNode = 110, podGrace = 2, onBug = throwUncaught } = options;
    this.#options = options;
    this.#onBug = onBug;
    this.#pace = scaledClock(clock, pace);
    this.#client = new KubernetesClient(handler, 'workload');
    this.#nodeObjects = new NodeObjects(this.#client, this.#pace);
    this.#pods = new PodRegistry({
      client: this.#client,
      clock: this.#pace,
      random: random.fork('placement'),
      podsPerNode,
      grace: podGrace,
    });
  }

  /** Creates all nodes and starts their agents. Resolves once the Node objects exist. */
  async start(): Promise<void> {
    await Promise.all(this.#options.nodes.map((facts) => this.addNode(facts)));
  }

  /** Stops all agents, kubelets and workloads. Objects stay unchanged. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the fleet stops'));
    await Promise.all([...this.#machines.values()].map((machine) => machine.stop()));
  }

  /** The state of each node for invariant checks. */
  get views(): readonly NodeView[] {
    return [...this.#machines.values()].map(nodeViewOf);
  }

  /** The machine of a node, for invariant checks; undefined for an unknown node. */
  machineOf(nodeName: string): Pick<Machine, 'facts' | 'memory' | 'protocol' | 'agent'> | undefined {
    return this.#machines.get(nodeName);
  }

  /** Violations of all current and former agents. A run passes only while this is empty. */
  get violations(): readonly Violation[] {
    const present = [...this.#machines.values()].map((machine) => machine.memory.violations);
    return [...this.#pastViolations, ...present]
      .flatMap((log) => log.entries)
      .toSorted((a, b) => a.at - b.at);
  }

  /** How long pods of all current and former nodes waited for addresses. */
  get waits(): WaitFigures {
    const present = [...this.#machines.values()].map((machine) => machine.kubelet.waits);
    return present.reduce(sumOfWaits, this.#pastWaits);
  }

  /** Throws a RangeError for an unknown node. */
  view(nodeName: string): NodeView {
    return nodeViewOf(this.#machine(nodeName));
  }

  /** Resolves once the Node object exists and everything on the node was started. */
  async addNode(facts: NodeFacts): Promise<void> {
    if (this.#machines.has(facts.name)) throw new RangeError(`there is a node ${facts.name} already`);
    const { clock, random, watchLag = 50, startLag = 500 } = this.#options;
    const record = this.#recorder(facts.name);
    const machine = new Machine({
      facts,
      client: this.#client,
      clock,
      pace: this.#pace,
      random: random.fork(`node-${facts.name}`),
      watchLag,
      startLag,
      ledger: this.#ledger,
      record,
      onBug: this.#onBug,
    });
    await this.#nodeObjects.create(facts, this.#stopping.signal);
    this.#machines.set(facts.name, machine);
    this.#pods.addNode(facts.name);
    record('node-added', facts.instanceId);
    machine.start();
  }

  /** Stops everything on the node, terminates its machine if machines are configured, then deletes its objects. */
  async removeNode(nodeName: string): Promise<NodeFacts> {
    const machine = this.#machine(nodeName);
    const lost = this.#pods.removeNode(nodeName);
    this.#machines.delete(nodeName);
    this.#pastViolations.push(machine.memory.violations);
    this.#pastWaits = sumOfWaits(this.#pastWaits, machine.kubelet.waits);
    await machine.stop();
    this.#recorder(nodeName)('node-removed', machine.facts.instanceId);
    await this.#options.machines?.terminate(machine.facts);
    await this.#nodeObjects.delete(nodeName, lost, this.#stopping.signal);
    return machine.facts;
  }

  /** Changes what the node's agents request, from the next start on. */
  reconfigure(nodeName: string, change: Pick<NodeFacts, 'ipam' | 'eni' | 'azure' | 'alibaba'>): void {
    this.#machine(nodeName).reconfigure(change);
  }

  /** An agent that lists used addresses tells nothing of its pods while it forgets them. */
  setForgetful(nodeName: string, isForgetful: boolean): void {
    this.#machine(nodeName).memory.forgetsPods = isForgetful;
  }

  /** Restarts the agent; resolves once it was started again. */
  restartAgent(nodeName: string): Promise<void> {
    return this.changeAgent(nodeName, this.#machine(nodeName).protocol);
  }

  /** Replaces the agent by one of `protocol`, as in an upgrade; pods keep running. */
  changeAgent(nodeName: string, protocol: Protocol): Promise<void> {
    const downtime = usualDowntime * (1 + this.#options.random.next());
    return this.#machine(nodeName).restartAgent(protocol, downtime);
  }

  async createPod(wish: PodWish): Promise<PodCreation> {
    const creation = await this.#pods.create(wish, this.#stopping.signal);
    if (creation.kind === 'created') this.#recorder(creation.nodeName)('pod-created', creation.key);
    return creation;
  }

  /** `key`: `namespace/name`. */
  deletePod(key: string): Promise<void> {
    return this.#pods.delete(key, this.#stopping.signal);
  }

  /** Replaces the node's machine. Throws if no machines are configured. */
  async replaceNode(nodeName: string): Promise<void> {
    const { machines } = this.#options;
    if (machines === undefined) throw new Error('a fleet without machines cannot replace a node');
    const previous = await this.removeNode(nodeName);
    await this.addNode(await machines.launch(previous));
  }

  /** Resolves once the workload ends or `signal` aborts. Several may run at the same time. */
  run(workload: Workload, signal: AbortSignal): Promise<void> {
    const random = this.#options.random.fork(`workload-${workload.name}`);
    return drive(
      scheduleOf(workload, random.fork('schedule')),
      this,
      { clock: this.#options.clock, random: random.fork('choice'), onBug: this.#onBug },
      AbortSignal.any([signal, this.#stopping.signal]),
    );
  }

  /** The current nodes, in order of creation, with each agent's protocol. */
  get protocols(): ReadonlyMap<string, Protocol> {
    return new Map([...this.#machines].map(([name, { protocol }]) => [name, protocol]));
  }

  #machine(nodeName: string): Machine {
    const machine = this.#machines.get(nodeName);
    if (machine === undefined) throw new RangeError(`there is no node ${nodeName}`);
    return machine;
  }

  #recorder(nodeName: string): Recorder {
    return recorderFor(nodeName, this.#options.clock, this.#options.onEvent);
  }
}

function throwUncaught(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
