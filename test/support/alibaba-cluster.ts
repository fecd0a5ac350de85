// A cluster on Alibaba Cloud in one process and in virtual time, with one controller. CiliumNodes are those that agents
// announce; no agent runs.
import { composeAlibaba } from '../../src/controller/clouds/alibaba.ts';
import { Controller } from '../../src/controller/controller.ts';
import { EniMode } from '../../src/controller/modes/eni-mode.ts';
import { InProcessTransport } from '../../src/kubernetes/transport/in-process-transport.ts';
import { createMetricRegistry } from '../../src/observability/metrics.ts';
import { Random } from '../../src/runtime/random.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import { readAlibabaTopology } from '../../src/simulator/alibaba/alibaba-topology.ts';
import { type Alibaba, createAlibaba } from '../../src/simulator/alibaba/create-alibaba.ts';
import { readyLife } from '../../src/simulator/alibaba/states.ts';
import { plainInterface } from '../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../src/simulator/cloud/network-interfaces.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import { ciliumNodeCrd } from '../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { KubernetesModel } from '../../src/simulator/kubernetes/kubernetes-model.ts';
import { type JsonObject, objectAt } from '../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';
import { emptyEnvironment, type GivenFlags, optionsOf } from './given-options.ts';
import { InProcessRpc } from './in-process-rpc.ts';
import { callKubernetes } from './kubernetes-call.ts';
import { ramPermissions } from './ram-policy.ts';
import { type LogLine, recordingLogger } from './recording-logger.ts';

export interface AlibabaCall {
  readonly action: string;
  readonly input: JsonObject;
  readonly result: string;
  /** In monotonic ms. */
  readonly at: number;
}

export interface AlibabaNode {
  readonly name: string;
  readonly instanceId: string;
  readonly zone: string;
  readonly type: string;
  readonly vpcId: string;
}

const nodesPath = '/apis/cilium.io/v2/ciliumnodes';

export class AlibabaCluster {
  readonly clock = new VirtualClock();
  readonly alibaba: Alibaba;
  readonly kubernetes: KubernetesModel;
  readonly calls: AlibabaCall[] = [];
  readonly bugs: unknown[] = [];
  logged: readonly LogLine[] = [];
  readonly #random = new Random('alibaba-cluster');
  readonly #client: KubernetesClient;

  constructor(text: string) {
    const read = readAlibabaTopology(text);
    if ('problems' in read) throw new Error(read.problems.join('\n'));
    const { clock } = this;
    // No test may need more than the shipped policy allows.
    const credentials = read.topology.credentials.map((each) => ({ ...each, actions: [...ramPermissions] }));
    const topology = { ...read.topology, credentials };
    this.alibaba = createAlibaba({ topology, clock, random: this.#random.fork('cloud') });
    this.kubernetes = new KubernetesModel({
      clock,
      random: this.#random.fork('kubernetes'),
      crds: [ciliumNodeCrd],
    });
    this.#client = new KubernetesClient(this.kubernetes.handle, 'test');
  }

  /** Every instance as a node. */
  get nodes(): readonly AlibabaNode[] {
    return [...this.alibaba.network.instances.values()].map(({ id, zone, type, vpcId }) => ({
      name: `node-${id}`,
      instanceId: id,
      zone,
      type,
      vpcId,
    }));
  }

  node(index = 0): AlibabaNode {
    const node = this.nodes[index];
    if (node === undefined) throw new RangeError(`there is no node ${index}`);
    return node;
  }

  /** Starts a controller; it runs until the test ends. */
  start(flags: GivenFlags = {}): void {
    const { clock } = this;
    const log = recordingLogger();
    this.logged = log.lines;
    const api = new InProcessRpc(this.alibaba.gateway, (action, input, result) =>
      this.calls.push({ action, input: input as JsonObject, result, at: clock.monotonic() }),
    );
    const regionId = this.alibaba.network.region;
    const transport = new InProcessTransport(this.kubernetes.handle, clock);
    const controller = new Controller({
      options: optionsOf({ ipam: 'alibabacloud', ...flags }, emptyEnvironment),
      kubernetes: transport,
      leaseTransport: transport,
      composeMode: (deps) => new EniMode(deps, (cloud) => composeAlibaba({ api, regionId }, cloud)),
      clock,
      random: this.#random.fork('controller'),
      log,
      registry: createMetricRegistry({ measureProcess: false }),
      identity: 'headwater-0',
      version: '1.2.3',
      readLiveOptions: undefined,
      onBug: (error) => this.bugs.push(error),
    });
    void controller.run(new AbortController().signal);
  }

  /** Creates the Node and the CiliumNode of an instance, as its kubelet and its agent do. */
  async announce({ name, instanceId, zone, type, vpcId }: AlibabaNode, ipam: JsonObject = {}): Promise<void> {
    await this.#call('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: { providerID: `${this.alibaba.network.region}.${instanceId}` },
    });
    await this.#call('POST', nodesPath, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name },
      spec: {
        'instance-id': instanceId,
        'alibaba-cloud': {
          'instance-type': type,
          'availability-zone': zone,
          'vpc-id': vpcId,
          'cidr-block': '10.0.0.0/16',
        },
        ipam,
      },
    });
  }

  /** What an agent reports of the addresses that its pods use. */
  async use(node: AlibabaNode, addresses: readonly string[]): Promise<void> {
    const used = Object.fromEntries(addresses.map((address) => [address, { owner: `pods/${address}` }]));
    await this.patchStatus(node, { ipam: { used } });
  }

  async patchSpec({ name }: AlibabaNode, spec: JsonObject): Promise<void> {
    await this.#call('PATCH', `${nodesPath}/${name}`, { spec });
  }

  async patchStatus({ name }: AlibabaNode, status: JsonObject): Promise<void> {
    await this.#call('PATCH', `${nodesPath}/${name}/status`, { status });
  }

  ciliumNode({ name }: AlibabaNode): JsonObject {
    return this.kubernetes.get('ciliumnodes.cilium.io', name) ?? {};
  }

  pool(node: AlibabaNode): readonly string[] {
    return Object.keys(objectAt(this.ciliumNode(node), 'spec', 'ipam', 'pool'));
  }

  /** The published interfaces by id. */
  enis(node: AlibabaNode): JsonObject {
    return objectAt(this.ciliumNode(node), 'status', 'alibaba-cloud', 'enis');
  }

  /** What is attached to the instance. */
  interfaces({ instanceId }: AlibabaNode): readonly NetworkInterface[] {
    return [...this.alibaba.network.interfaces.values()].filter((item) => item.instanceId === instanceId);
  }

  /** Makes a detached interface with the tags of a cluster of this name; returns its id. */
  orphan(clusterName: string): string {
    const { network } = this.alibaba;
    const [subnet] = network.subnets.values();
    const tags = { 'io.cilium/cilium-managed': 'true', 'io.cilium/cluster-name': clusterName };
    const request = { ...plainInterface(subnet?.id ?? '', []), tags, life: readyLife(network) };
    return createInterface(network, request).id;
  }

  /** Plays the agent's part in the release of addresses until `done`. */
  async untilReleased(node: AlibabaNode, done: () => boolean): Promise<void> {
    for (let turns = 0; turns < 200 && !done(); turns++) {
      await this.clock.advance(5000);
      await this.#giveUp(node);
    }
    if (!done()) throw new Error(`${node.name} keeps its addresses`);
  }

  async #giveUp(node: AlibabaNode): Promise<void> {
    const states = objectAt(this.ciliumNode(node), 'status', 'ipam', 'release-ips');
    const pool = new Set(this.pool(node));
    const changes: Record<string, string | null> = {};
    for (const [address, state] of Object.entries(states)) {
      if (state === 'marked-for-release') changes[address] = 'ready-for-release';
      else if (state === 'released' && !pool.has(address)) changes[address] = null;
    }
    if (Object.keys(changes).length > 0) await this.patchStatus(node, { ipam: { 'release-ips': changes } });
  }

  /** What each warning says. */
  get warnings(): readonly unknown[] {
    return this.logged.filter(({ level }) => level === 'warn').map(({ details }) => details);
  }

  /** Mutating calls, by name. */
  get changes(): readonly string[] {
    return this.calls.filter(({ action }) => !action.startsWith('Describe')).map(({ action }) => action);
  }

  /** Advances time until `done`; throws after `limit` ms. */
  async until(what: string, done: () => boolean, limit = 120_000): Promise<void> {
    if (await this.clock.runUntil(done, limit)) return;
    throw new Error(`within ${limit / 1000} s it did not come about that ${what}`);
  }

  #call(method: 'POST' | 'PATCH', path: string, body: JsonObject): Promise<JsonObject> {
    return callKubernetes(this.#client, { method, path, body });
  }
}
