// A cluster on Azure in one process and in virtual time: the model of ARM, the Kubernetes API, and the objects of nodes
// as agents write them. A test starts one controller on it.
import { composeAzure } from '../../src/controller/clouds/azure.ts';
import { Controller } from '../../src/controller/controller.ts';
import { EniMode } from '../../src/controller/modes/eni-mode.ts';
import { InProcessTransport } from '../../src/kubernetes/transport/in-process-transport.ts';
import { createMetricRegistry } from '../../src/observability/metrics.ts';
import { Random } from '../../src/runtime/random.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import type { Fault } from '../../src/simulator/cloud/faults.ts';
import { type Arm, createArm } from '../../src/simulator/arm/create-arm.ts';
import { ciliumNodeCrd } from '../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { KubernetesModel } from '../../src/simulator/kubernetes/kubernetes-model.ts';
import { type JsonObject, listAt, objectAt, textAt } from '../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';
import { armTopologyFrom } from '../unit/simulator/arm/arm-rig.ts';
import { type GivenFlags, optionsOf } from './given-options.ts';
import { InProcessArm } from './in-process-arm.ts';
import { callKubernetes } from './kubernetes-call.ts';
import { type LogLine, recordingLogger } from './recording-logger.ts';

const nodesPath = '/apis/cilium.io/v2/ciliumnodes';

export interface AgentSettings {
  readonly preAllocate?: number;
  readonly azure?: JsonObject;
}

export class AzureWorld {
  readonly clock = new VirtualClock();
  readonly arm: Arm;
  readonly bugs: unknown[] = [];
  readonly logged: readonly LogLine[];
  /** Names of answered requests, with their results. */
  readonly calls: { readonly operation: string; readonly result: string }[] = [];
  readonly controller: Controller;
  readonly #client: KubernetesClient;
  readonly #registry = createMetricRegistry({ measureProcess: false });
  readonly #stop = new AbortController();

  constructor(topology: string, flags: GivenFlags = {}) {
    const { clock } = this;
    const random = new Random('azure');
    this.arm = createArm({ topology: armTopologyFrom(topology), clock, random: random.fork('arm') });
    const kubernetes = new KubernetesModel({
      clock,
      random: random.fork('kubernetes'),
      crds: [ciliumNodeCrd],
    });
    this.#client = new KubernetesClient(kubernetes.handle, 'test');
    const log = recordingLogger();
    this.logged = log.lines;
    const transport = new InProcessTransport(kubernetes.handle, clock);
    const api = new InProcessArm(this.arm.gateway, ({ operation }, result) =>
      this.calls.push({ operation, result }),
    );
    const connection = { api, cloud: 'AzurePublicCloud', place: undefined };
    this.controller = new Controller({
      options: optionsOf({ ipam: 'azure', ...flags }),
      kubernetes: transport,
      leaseTransport: transport,
      composeMode: (deps) => new EniMode(deps, (cloud) => composeAzure(connection, cloud)),
      clock,
      random: random.fork('controller'),
      log,
      registry: this.#registry,
      identity: 'headwater-0',
      version: '1.2.3',
      readLiveOptions: undefined,
      onBug: (error) => this.bugs.push(error),
    });
    void this.controller.run(this.#stop.signal);
  }

  /** Creates Node and CiliumNode of a machine, as its kubelet and its agent would. */
  async join(name: string, instanceId: string, { preAllocate = 8, azure = {} }: AgentSettings = {}) {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: { providerID: `azure://${instanceId}` },
    };
    await this.#call('POST', '/api/v1/nodes', node);
    await this.#call('POST', nodesPath, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name },
      spec: { 'instance-id': instanceId.toLowerCase(), azure, ipam: { 'pre-allocate': preAllocate } },
    });
  }

  node(name: string): Promise<JsonObject> {
    return this.#call('GET', `${nodesPath}/${name}`, {});
  }

  /** Addresses that the agent may use, with their interfaces. */
  async pool(name: string): Promise<Readonly<Record<string, string>>> {
    const pool = objectAt(await this.node(name), 'spec', 'ipam', 'pool');
    return Object.fromEntries(
      Object.entries(pool).map(([address, entry]) => [address, textAt(entry ?? null, 'resource')]),
    );
  }

  async interfaces(name: string): Promise<readonly JsonObject[]> {
    return listAt(await this.node(name), 'status', 'azure', 'interfaces') as readonly JsonObject[];
  }

  /** Why the node gets no addresses: the reason and text in its status. */
  status(name: string): JsonObject {
    return this.controller.node(name) as unknown as JsonObject;
  }

  fault(action: string, fault: Fault, count?: number): void {
    this.arm.gateway.faults.add({ action, rate: 1, count, match: {}, fault });
  }

  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { operation } of this.calls) counts[operation] = (counts[operation] ?? 0) + 1;
    return counts;
  }

  scrape(): Promise<string> {
    return this.#registry.scrape();
  }

  #call(method: 'GET' | 'POST', path: string, body: JsonObject): Promise<JsonObject> {
    return this.#outside(callKubernetes(this.#client, { method, path, body }));
  }

  async #outside<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = (): void => void (isDone = true);
    work.then(end, end);
    await this.clock.runUntil(() => isDone, 60_000);
    return work;
  }
}
