// A whole cluster in one process and in virtual time, with everything that a test needs to act as administrator, agents
// and other clients, whatever the cloud. A test starts controllers on it one by one.
import type { Cloud, CloudDeps } from '../../src/controller/clouds/cloud.ts';
import { Random } from '../../src/runtime/random.ts';
import { VirtualClock } from './virtual-clock.ts';
import type { Fault, Faults } from '../../src/simulator/cloud/faults.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import type {
  EmbeddedClusterOptions,
  SimulatedCluster,
} from '../../src/simulator/cluster/embedded-cluster.ts';
import { invariantViolations } from '../../src/simulator/cluster/invariants.ts';
import { agentCloudOf } from '../../src/simulator/workload/clouds/known-clouds.ts';
import { type JsonObject, objectAt, textAt, textMapAt } from '../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { ciliumNodeCrd } from '../../src/simulator/kubernetes/ciliumnode-crd.ts';
import type { FaultRule } from '../../src/simulator/kubernetes/faults/faults.ts';
import type { NodeView } from '../../src/simulator/workload/node-view.ts';
import { newNode, providerIdOf } from '../../src/simulator/workload/node-objects.ts';
import { newOwnNode } from '../../src/simulator/workload/own-node.ts';
import { newPod, podCollectionPath } from '../../src/simulator/workload/pod.ts';
import type { GivenFlags } from './given-options.ts';
import { callKubernetes, type Method } from './kubernetes-call.ts';
import { PublishedHistory } from './published-history.ts';

export interface ClusterWorldOptions {
  readonly seed?: string;
  /** Configuration of each instance's agent, in the order of the topology. */
  readonly configure?: (index: number) => Partial<NodeFacts>;
  readonly onEvent?: (line: string) => void;
}

/** The process that calls the cloud: it may die, and a test records and changes what it hears. */
export interface CallingProcess {
  /** Sends a request, unless the process is dead or dies at it. */
  readonly pass: <T>(action: string, isChange: boolean, send: () => Promise<T>) => Promise<T>;
  readonly onCall: (action: string, input: unknown, result: string) => void;
  /** Changes an answer before it is read. */
  readonly tamper: (action: string, output: object, input: object) => object;
}

const nodesPath = '/apis/cilium.io/v2/ciliumnodes';

export abstract class ClusterWorld<C extends SimulatedCluster = SimulatedCluster> {
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly cluster: C;
  readonly history: PublishedHistory;
  /** Every instance, as the machine of a node, in the order of the topology. */
  readonly machines: readonly NodeFacts[];
  /** Errors that must never reach a bug report. */
  readonly bugs: unknown[] = [];
  /** What every controller of this world is told. */
  abstract readonly flags: GivenFlags;
  readonly #client: KubernetesClient;

  constructor(
    { seed = 'world', configure, onEvent }: ClusterWorldOptions,
    create: (options: Omit<EmbeddedClusterOptions, 'topology'>) => C,
  ) {
    this.random = new Random(seed);
    const machines: NodeFacts[] = [];
    this.cluster = create({
      clock: this.clock,
      random: this.random.fork('cluster'),
      pace: 1,
      configure: (facts, index) => {
        const machine = { ...facts, protocol: 'crd-allocator', ...configure?.(index) } as const;
        machines.push(machine);
        return machine;
      },
      ...(onEvent !== undefined && {
        onEvent: ({ node, kind, subject, detail }) =>
          onEvent(`workload ${node} ${kind} ${subject} ${detail}`),
      }),
    });
    this.machines = machines;
    const { handle } = this.cluster.kubernetes;
    this.history = new PublishedHistory(handle, agentCloudOf(machines[0] ?? {}));
    this.#client = new KubernetesClient(handle, 'test');
  }

  /** Composes the cloud for a process. */
  abstract connect(process: CallingProcess): (deps: CloudDeps) => Cloud;

  protected abstract get faults(): Faults;

  machine(index = 0): NodeFacts {
    const machine = this.machines[index];
    if (machine === undefined) throw new RangeError(`there is no machine ${index}`);
    return machine;
  }

  advance(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }

  /** Resolves once the agents run, a millisecond later. */
  async startAgents(): Promise<void> {
    const started = this.cluster.workload.start();
    await this.advance(1);
    await started;
  }

  /** Advances time until `done`; throws after `limit` ms. */
  async until(what: string, done: () => boolean, limit = 120_000): Promise<void> {
    if (await this.clock.runUntil(done, limit)) return;
    throw new Error(`within ${limit / 1000} s it did not come about that ${what}`);
  }

  /** The object in the answer; throws if the API refuses. */
  call(method: Method, path: string, body: JsonObject = {}): Promise<JsonObject> {
    return callKubernetes(this.#client, { method, path, body });
  }

  /**
   * Creates the Node of a machine, as its kubelet and the cloud's controller do; deletes that of another instance
   * first.
   */
  async register(machine: NodeFacts): Promise<void> {
    const providerId = machine.withoutProviderId === true ? undefined : providerIdOf(machine);
    const known = this.cluster.kubernetes.get('nodes', machine.name);
    if (known !== undefined && textAt(known, 'spec', 'providerID') === providerId) return;
    if (known !== undefined) await this.call('DELETE', `/api/v1/nodes/${machine.name}`);
    await this.call('POST', '/api/v1/nodes', newNode(machine));
  }

  /** Creates the Node of a machine, and its CiliumNode as its agent does, with `patch` merged in; no agent runs. */
  async announce(machine: NodeFacts, patch: JsonObject = {}): Promise<void> {
    await this.register(machine);
    await this.announceAlone(machine, patch);
  }

  /** Creates a CiliumNode without a Node. */
  async announceAlone(machine: NodeFacts, patch: JsonObject = {}): Promise<void> {
    await this.call('POST', nodesPath, newOwnNode(machine, `uid-of-${machine.name}`));
    if (Object.keys(patch).length > 0) await this.patch(machine, patch);
  }

  patch(machine: Pick<NodeFacts, 'name'>, patch: JsonObject): Promise<JsonObject> {
    return this.call('PATCH', `${nodesPath}/${machine.name}`, patch);
  }

  patchStatus(machine: Pick<NodeFacts, 'name'>, status: JsonObject): Promise<JsonObject> {
    return this.call('PATCH', `${nodesPath}/${machine.name}/status`, { status });
  }

  delete(machine: Pick<NodeFacts, 'name'>): Promise<JsonObject> {
    return this.call('DELETE', `${nodesPath}/${machine.name}`);
  }

  /** Reports the first `count` addresses of the pool as used, as a CRD agent does. */
  async use(machine: NodeFacts, count: number): Promise<void> {
    const entries = [...this.pool(machine)].slice(0, count);
    if (entries.length < count)
      throw new RangeError(`the pool holds ${entries.length} addresses, not ${count}`);
    const used = Object.fromEntries(
      entries.map(([address, resource], index) => [address, { owner: `default/pod-${index}`, resource }]),
    );
    await this.patchStatus(machine, { ipam: { used } });
  }

  /** Requests `count` addresses, including free ones, as a multi-pool agent does. */
  async request(machine: NodeFacts, count: number): Promise<void> {
    const requested = [{ pool: 'default', needed: { 'ipv4-addrs': count } }];
    await this.patch(machine, { spec: { ipam: { pools: { requested } } } });
  }

  ciliumNode(machine: Pick<NodeFacts, 'name'>): JsonObject | undefined {
    return this.cluster.kubernetes.get('ciliumnodes.cilium.io', machine.name);
  }

  /** Interface by address, as the CiliumNode offers them. */
  pool(machine: Pick<NodeFacts, 'name'>): ReadonlyMap<string, string> {
    const pool = objectAt(this.ciliumNode(machine), 'spec', 'ipam', 'pool');
    return new Map(Object.entries(pool).map(([address, entry]) => [address, textAt(entry, 'resource')]));
  }

  operatorError(machine: Pick<NodeFacts, 'name'>): string {
    return textAt(this.ciliumNode(machine), 'status', 'ipam', 'operator-status', 'error');
  }

  /** Events about objects with that name: `reason: message`. */
  events(name: string): readonly string[] {
    return this.cluster.kubernetes
      .list('events')
      .map((event) => event as JsonObject)
      .filter((event) => textAt(event, 'involvedObject', 'name') === name)
      .map((event) => {
        const about = textMapAt(event, 'involvedObject');
        return `${about.get('kind')} ${textAt(event, 'reason')}: ${textAt(event, 'message')}`;
      });
  }

  /** Interfaces attached to the instance in the cloud, by device index. */
  interfaces({ instanceId }: Pick<NodeFacts, 'instanceId'>): readonly NetworkInterface[] {
    return [...this.cluster.network.interfaces.values()]
      .filter((item) => item.instanceId === instanceId)
      .toSorted((a, b) => (a.deviceIndex ?? 0) - (b.deviceIndex ?? 0));
  }

  /** Secondary addresses of the instance in the cloud. */
  held(machine: Pick<NodeFacts, 'instanceId'>): readonly string[] {
    return this.interfaces(machine).flatMap(({ addresses, primaryAddress }) =>
      addresses.filter((address) => address !== primaryAddress),
    );
  }

  /** Injects a fault into calls of `action`, with these parameters only; returns a function that ends it. */
  fault(
    action: string,
    fault: Fault,
    count?: number,
    match: Readonly<Record<string, string>> = {},
  ): () => void {
    const { faults } = this;
    const id = faults.add({ action, rate: 1, match, fault, ...(count !== undefined && { count }) });
    return () => {
      faults.remove(id);
    };
  }

  /** Replaces the schema by which the API server validates and prunes CiliumNodes. */
  async installSchema(schema: JsonObject): Promise<void> {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ciliumnodes.cilium.io';
    const { metadata } = await this.call('GET', path);
    const { spec, ...definition } = ciliumNodeCrd;
    const versions = [{ ...spec.versions[0], schema: { openAPIV3Schema: schema } }];
    const changed: unknown = { ...definition, metadata, spec: { ...spec, versions } };
    await this.call('PUT', path, changed as JsonObject);
  }

  /** Injects a fault into requests to Kubernetes, permanently by default; returns a function that ends it. */
  kubernetesFault(rule: FaultRule): () => void {
    return this.cluster.kubernetes.faults.inject({ times: Infinity, ...rule });
  }

  /** Refuses requests with this code, as an API server does; returns a function that ends it. */
  refuse(code: number, method: string, path: RegExp, times = Infinity): () => void {
    const reason = { 403: 'Forbidden', 409: 'Conflict' }[code] ?? 'Unknown';
    const failure = { code, reason, message: `refused by the test with ${code}` };
    return this.kubernetesFault({ method, path, times, effect: { kind: 'refuse', failure } });
  }

  /** Creates pods that are bound to the machine and get no address. */
  async addPods(
    { name: nodeName }: Pick<NodeFacts, 'name'>,
    { count, hostNetwork = false, prefix = 'pod' }: { count: number; hostNetwork?: boolean; prefix?: string },
  ): Promise<void> {
    for (let index = 0; index < count; index++) {
      const pod = newPod({ name: `${prefix}-${index}`, nodeName, hostNetwork, grace: 0 });
      await this.call('POST', podCollectionPath, pod);
    }
  }

  get views(): readonly NodeView[] {
    return this.cluster.workload.views;
  }

  /** Addresses in use on a node, from the memory of its agent. */
  used(index = 0): readonly string[] {
    return [...(this.views[index]?.addressesInUse.keys() ?? [])];
  }

  addLivingPods(count: number, prefix = 'pod'): void {
    for (let index = 0; index < count; index++) {
      void this.cluster.workload.createPod({ name: `${prefix}-${index}`, placement: 'spread' });
    }
  }

  async deleteLivingPods(count: number, prefix = 'pod'): Promise<void> {
    for (let index = 0; index < count; index++) {
      await this.cluster.workload.deletePod(`default/${prefix}-${index}`);
    }
  }

  /** Pods that have waited longer than a moment. */
  waiting(): readonly string[] {
    return this.views.flatMap(({ pendingPods }) => [...pendingPods.keys()]);
  }

  /** Everything that violates an invariant. Each test expects this to be empty. */
  broken(): readonly unknown[] {
    return [
      ...this.bugs,
      ...this.history.broken,
      ...invariantViolations(this.cluster).map(({ text }) => text),
    ];
  }
}
