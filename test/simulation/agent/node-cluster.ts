// The cluster around one node: its API server, which fails and answers late, and whoever gives the node its blocks.
import type { KubernetesTransport } from '../../../src/kubernetes/transport/transport.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import type { Random } from '../../../src/runtime/random.ts';
import type { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { ConnectionDropped } from '../../../src/simulator/kubernetes/faults/faults.ts';
import type { KubernetesHandler } from '../../../src/simulator/kubernetes/exchange.ts';
import { KubernetesModel } from '../../../src/simulator/kubernetes/kubernetes-model.ts';
import {
  isObject,
  type JsonObject,
  listAt,
  parseObject,
  textsAt,
} from '../../../src/simulator/workload/json.ts';
import { kubernetesPort } from '../ports.ts';
import type { SimulatedProcess } from '../process.ts';

const ciliumNodes = '/apis/cilium.io/v2/ciliumnodes';
const never = new AbortController().signal;

export interface NodeClusterOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** Blocks of the node, the first one first: an administrator may give it the next. */
  readonly blocks: (index: number) => readonly string[];
}

export class NodeCluster {
  readonly model: KubernetesModel;
  /** Whether requests get lost. */
  isReliable = true;
  /** Whether nothing reaches the API server. */
  isAway = false;
  readonly #options: NodeClusterOptions;
  #index = 0;

  constructor(options: NodeClusterOptions) {
    this.#options = options;
    const { clock, random } = options;
    this.model = new KubernetesModel({
      clock,
      random: random.fork('model'),
      crds: [ciliumNodeCrd],
      collectGarbage: true,
    });
  }

  /** Every block that the node has had. */
  get given(): readonly string[] {
    return Array.from({ length: this.#index + 1 }, (_, index) => this.#options.blocks(index)).flat();
  }

  connect(process: SimulatedProcess): KubernetesTransport {
    return kubernetesPort(process, this.#unreliable, () => undefined);
  }

  /** Registers the node, then gives blocks to the CiliumNode whenever it has none. */
  async run(isOver: () => boolean): Promise<void> {
    const { clock, random } = this.#options;
    await sleep(clock, random.integer(5000), never);
    await this.#ask('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } });
    while (!isOver()) {
      await sleep(clock, 500 + random.integer(4000), never);
      const [object] = listAt(await this.#ask('GET', ciliumNodes), 'items').filter(isObject);
      if (object !== undefined && textsAt(object, 'spec', 'ipam', 'podCIDRs').length === 0)
        await this.#give();
    }
  }

  /** An administrator gives the node other blocks. */
  async giveOthers(): Promise<void> {
    this.#index++;
    await this.#give();
  }

  /** Somebody deletes the CiliumNode: the next one gets the same blocks. */
  async deleteObject(): Promise<void> {
    await this.#ask('DELETE', `${ciliumNodes}/one`);
  }

  #give(): Promise<JsonObject> {
    const podCIDRs = this.#options.blocks(this.#index);
    return this.#ask('PATCH', `${ciliumNodes}/one`, { spec: { ipam: { podCIDRs } } });
  }

  readonly #unreliable: KubernetesHandler = async (request, signal) => {
    const { random } = this.#options;
    if (this.isAway) throw new ConnectionDropped();
    if (this.isReliable || random.chance(0.7)) return this.model.handle(request, signal);
    if (random.chance(0.5)) await this.model.handle(request, signal);
    throw new ConnectionDropped();
  };

  async #ask(method: string, url: string, body?: JsonObject): Promise<JsonObject> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': type }) };
    const request = { method, url, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await this.model.handle(request, never);
    return typeof answer.body === 'string' ? parseObject(answer.body) : {};
  }
}
