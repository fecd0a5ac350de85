// The cluster around one node: its API server, which fails and answers late, and what gives the node its blocks.
import type { KubernetesTransport } from '../../../src/kubernetes/transport/transport.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import type { Random } from '../../../src/runtime/random.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { ciliumPodIpPoolCrd } from '../../../src/simulator/kubernetes/ciliumpodippool-crd.ts';
import { ConnectionDropped } from '../../../src/simulator/kubernetes/faults/faults.ts';
import type { KubernetesHandler } from '../../../src/simulator/kubernetes/exchange.ts';
import { KubernetesModel } from '../../../src/simulator/kubernetes/kubernetes-model.ts';
import { type JsonObject, objectAt, parseObject, textAt } from '../../../src/simulator/workload/json.ts';
import { kubernetesPort } from '../ports.ts';
import type { SimulatedProcess } from '../process.ts';
import { type Ask, ownPath, type Supplier } from './supplier.ts';

const never = new AbortController().signal;
const podsPath = '/api/v1/namespaces/default/pods';
/** How late a request may arrive, in ms. */
const maxLag = 6000;
/** A status that arrives late shows for a moment what was in use before, which harms nobody. */
const neverLate = /watch=|\/status/;

export interface NodeClusterOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly supplier: Supplier;
}

export class NodeCluster {
  readonly model: KubernetesModel;
  /** Whether requests get lost. */
  isReliable = true;
  /** Whether nothing reaches the API server. */
  isAway = false;
  /** Whether requests arrive late, also those of a process that ends meanwhile. */
  isSlow = false;
  /** Called once, when the agent has sent a write that changes which blocks it holds, which then arrives late. */
  onBlocksWritten: (() => void) | undefined;
  readonly #options: NodeClusterOptions;

  constructor(options: NodeClusterOptions) {
    this.#options = options;
    const { clock, random } = options;
    this.model = new KubernetesModel({
      clock,
      random: random.fork('model'),
      crds: [ciliumNodeCrd, ciliumPodIpPoolCrd],
      collectGarbage: true,
    });
  }

  /** Whether a pod of this node may use the address now. */
  supplies(address: string, pool?: string): boolean {
    return this.#options.supplier.supplies(address, this.#object, pool);
  }

  get problemsAtRest(): readonly string[] {
    return this.#options.supplier.problemsAtRest(this.#object);
  }

  get shownInUse(): readonly string[] {
    const ipam = objectAt(this.#object, 'status', 'ipam');
    return ['used', 'ipv6-used'].flatMap((field) => Object.keys(objectAt(ipam, field)));
  }

  get #object(): JsonObject | undefined {
    return this.model.list('ciliumnodes.cilium.io')[0];
  }

  connect(process: SimulatedProcess): KubernetesTransport {
    return kubernetesPort(process, this.#unreliable, () => undefined);
  }

  /** Registers the node, then supplies it. */
  async run(isOver: () => boolean): Promise<void> {
    const { clock, random, supplier } = this.#options;
    await supplier.setUp(this.#ask);
    await sleep(clock, random.integer(5000), never);
    await this.#ask('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } });
    while (!isOver()) {
      await sleep(clock, 500 + random.integer(4000), never);
      const object = this.#object;
      if (object !== undefined) await supplier.step(object, this.#ask);
    }
  }

  /** A pod of this node, and what it shows; resolves to its uid. */
  async createPod(name: string, addresses: readonly string[]): Promise<string> {
    await this.#ask('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'default' },
    });
    await this.#ask('POST', podsPath, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { nodeName: 'one', containers: [{ name: 'main', image: 'none' }] },
    });
    const podIPs = addresses.map((ip) => ({ ip }));
    const shown = { phase: 'Running', podIP: addresses[0] ?? '', podIPs };
    const pod = await this.#ask('PATCH', `${podsPath}/${name}/status`, { status: shown });
    return textAt(pod, 'metadata', 'uid') ?? '';
  }

  async deletePod(name: string): Promise<void> {
    await this.#ask('DELETE', `${podsPath}/${name}?gracePeriodSeconds=0`);
  }

  /** Somebody deletes the CiliumNode. */
  async deleteObject(): Promise<void> {
    await this.#ask('DELETE', ownPath);
  }

  readonly #unreliable: KubernetesHandler = async (request, signal) => {
    const { clock, random } = this.#options;
    if (this.isAway) throw new ConnectionDropped();
    if (this.#changesBlocks(request)) {
      this.onBlocksWritten?.();
      this.onBlocksWritten = undefined;
      await sleep(clock, random.integer(maxLag), never);
    } else if (this.isSlow && !neverLate.test(request.url)) {
      await sleep(clock, random.integer(maxLag / 4), never);
    }
    if (this.isReliable || random.chance(0.7)) return this.model.handle(request, signal);
    if (random.chance(0.5)) await this.model.handle(request, signal);
    throw new ConnectionDropped();
  };

  #changesBlocks({ method, body = '' }: Parameters<KubernetesHandler>[0]): boolean {
    return this.onBlocksWritten !== undefined && method === 'PATCH' && body.includes('"allocated"');
  }

  readonly #ask: Ask = async (method, url, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': type }) };
    const request = { method, url, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await this.model.handle(request, never);
    return typeof answer.body === 'string' ? parseObject(answer.body) : {};
  };
}
