// A cluster on Azure in one process and in virtual time: the model of ARM, the Kubernetes API, and the objects of nodes
// as agents write them. A first controller runs on it.
import { composeAzure } from '../../src/controller/clouds/azure.ts';
import { Controller } from '../../src/controller/controller.ts';
import { EniMode } from '../../src/controller/eni/eni-mode.ts';
import { InProcessTransport } from './in-process-transport.ts';
import type { ArmApi } from '../../src/providers/azure/arm-api.ts';
import { createMetricRegistry } from '../../src/observability/metrics.ts';
import { Random } from '../../src/runtime/random.ts';
import { VirtualClock } from './virtual-clock.ts';
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

const place = { subscriptionId: '00000000-0000-0000-0000-000000000001', resourceGroup: 'nodes' };
const nodesPath = '/apis/cilium.io/v2/ciliumnodes';

export interface AgentSettings {
  readonly preAllocate?: number;
  readonly azure?: JsonObject;
}

/** A controller and the records of it. */
export interface AzureController {
  readonly controller: Controller;
  readonly logged: readonly LogLine[];
  /** Kills its process: nothing of it has an effect from then on. */
  readonly kill: () => void;
}

export class AzureWorld {
  readonly clock = new VirtualClock();
  readonly arm: Arm;
  readonly bugs: unknown[] = [];
  /** Names of answered requests, with their results. */
  readonly calls: { readonly operation: string; readonly result: string }[] = [];
  readonly first: AzureController;
  readonly #random = new Random('azure');
  readonly #kubernetes: KubernetesModel;
  readonly #client: KubernetesClient;
  readonly #flags: GivenFlags;

  constructor(topology: string, flags: GivenFlags = {}) {
    const { clock } = this;
    const random = this.#random;
    this.#flags = flags;
    this.arm = createArm({ topology: armTopologyFrom(topology), clock, random: random.fork('arm') });
    const crds = [ciliumNodeCrd];
    this.#kubernetes = new KubernetesModel({ clock, random: random.fork('kubernetes'), crds });
    this.#client = new KubernetesClient(this.#kubernetes.handle, 'test');
    this.first = this.start('headwater-0');
  }

  get logged(): readonly LogLine[] {
    return this.first.logged;
  }

  /** Starts a controller; it leads once no other one does. */
  start(identity: string): AzureController {
    const { clock } = this;
    const log = recordingLogger();
    let isDead = false;
    const never = new Promise<never>(() => undefined);
    const transport = new InProcessTransport(
      (request, signal) => (isDead ? never : this.#kubernetes.handle(request, signal)),
      clock,
    );
    const model = new InProcessArm(this.arm.gateway, ({ operation }, result) =>
      this.calls.push({ operation, result }),
    );
    const api: ArmApi = {
      send: async (request, sending) => {
        const answer = isDead ? never : await model.send(request, sending);
        return isDead ? never : answer;
      },
    };
    const connection = { api, cloud: 'AzurePublicCloud', place };
    const controller = new Controller({
      host: {
        options: optionsOf({ ipam: 'azure', ...this.#flags }),
        clock,
        random: this.#random.fork(identity),
        log,
        registry: createMetricRegistry({ measureProcess: false }),
        onBug: (error) => this.bugs.push(error),
      },
      kubernetes: transport,
      leaseTransport: transport,
      composeMode: (deps) => new EniMode(deps, (cloud) => composeAzure(connection, cloud)),
      identity,
      version: '1.2.3',
      readLiveOptions: undefined,
    });
    void controller.run(new AbortController().signal);
    return { controller, logged: log.lines, kill: () => void (isDead = true) };
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
    return this.first.controller.node(name) as unknown as JsonObject;
  }

  fault(action: string, fault: Fault, count?: number): void {
    this.arm.gateway.faults.add({ action, rate: 1, count, match: {}, fault });
  }

  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { operation } of this.calls) counts[operation] = (counts[operation] ?? 0) + 1;
    return counts;
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
