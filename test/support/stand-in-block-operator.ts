// A stand-in for cilium-operator in the modes cluster-pool and multi-pool, as far as its writes go (azure-alibaba-operator, 5),
// and for the node-ipam-controller in a kube-controller-manager: it lists, gives each CiliumNode or Node what it lacks of the
// next free blocks of one network, and PUTs the whole object. It frees nothing, has one pool and IPv4 alone, and is neither.
import { type Clock, sleep } from '../../src/runtime/clock.ts';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import {
  isObject,
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
} from '../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';

const pool = 'default';
const ofCilium = { path: '/apis/cilium.io/v2/ciliumnodes', program: 'cilium-operator-generic' };
const places = {
  'cluster-pool': ofCilium,
  'multi-pool': ofCilium,
  nodeipam: { path: '/api/v1/nodes', program: 'kube-controller-manager' },
} as const;

export type BlockMode = keyof typeof places;

export interface BlockOperatorOptions {
  readonly clock: Clock;
  readonly handler: KubernetesHandler;
  readonly mode: BlockMode;
  /** The block of an index, such as `10.0.7.0/24`. */
  readonly blockOf: (index: number) => string;
  /** Addresses for pods in a block. */
  readonly usable: number;
}

export class StandInBlockOperator {
  readonly #options: BlockOperatorOptions;
  readonly #client: KubernetesClient;
  readonly #taken = new Set<string>();
  readonly #stopping = new AbortController();
  #next = 0;

  constructor(options: BlockOperatorOptions) {
    this.#options = options;
    this.#client = new KubernetesClient(options.handler, places[options.mode].program);
  }

  async run(period: number): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#resync().catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      await sleep(this.#options.clock, period, signal).catch(() => undefined);
    }
  }

  get #path(): string {
    return places[this.#options.mode].path;
  }

  /** Stops its process, wherever it is. */
  stop(): void {
    this.#stopping.abort();
  }

  /** The watch shows an object that lacks blocks, after it has shown that `taken` are: the next list is not waited for. */
  async see(node: JsonObject, taken: Iterable<string>): Promise<void> {
    for (const block of taken) this.#taken.add(block);
    await this.#serve(node);
  }

  async #resync(): Promise<void> {
    const listed = await this.#client.get(this.#path, this.#stopping.signal);
    if (listed.kind === 'refused') return;
    const nodes = listAt(listed.object, 'items').filter(isObject);
    for (const block of nodes.flatMap(blocksOf)) this.#taken.add(block);
    for (const node of nodes) await this.#serve(node);
  }

  async #serve(node: JsonObject): Promise<void> {
    const spec = objectAt(node, 'spec');
    const ipam = objectAt(spec, 'ipam');
    const held = blocksOf(node);
    const given: string[] = [];
    while (held.length + given.length < this.#wanted(ipam)) given.push(this.#free());
    if (given.length === 0) return;
    const path = `${this.#path}/${textAt(node, 'metadata', 'name')}`;
    // What is refused, the next list shows as it is now.
    await this.#client.replace(
      path,
      { ...node, spec: { ...spec, ...this.#shown(ipam, [...held, ...given]) } },
      this.#stopping.signal,
    );
  }

  #shown(ipam: JsonObject, cidrs: readonly string[]): JsonObject {
    const { mode } = this.#options;
    if (mode === 'nodeipam') return { podCIDR: cidrs[0] ?? '', podCIDRs: cidrs };
    if (mode === 'cluster-pool') return { ipam: { ...ipam, podCIDRs: cidrs } };
    return { ipam: { ...ipam, pools: { ...objectAt(ipam, 'pools'), allocated: [{ pool, cidrs }] } } };
  }

  #wanted(ipam: JsonObject): number {
    if (this.#options.mode !== 'multi-pool') return 1;
    const request = listAt(ipam, 'pools', 'requested').find((each) => textAt(each, 'pool') === pool);
    return Math.ceil(numberAt(request, 'needed', 'ipv4-addrs') / this.#options.usable);
  }

  #free(): string {
    for (;;) {
      const block = this.#options.blockOf(this.#next++);
      if (!this.#taken.has(block)) {
        this.#taken.add(block);
        return block;
      }
    }
  }
}

function blocksOf(node: JsonObject): readonly string[] {
  const pooled = listAt(node, 'spec', 'ipam', 'pools', 'allocated').flatMap((entry) =>
    textsAt(entry, 'cidrs'),
  );
  return [...textsAt(node, 'spec', 'podCIDRs'), ...textsAt(node, 'spec', 'ipam', 'podCIDRs'), ...pooled];
}
