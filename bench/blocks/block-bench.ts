// The bench for figures of blocks: a real API server with its etcd, a process that gives out blocks, and a watch that
// tells when the last object has one.
import { RigChild } from '../../rig/child-process.ts';
import type { ControllerChild } from '../../rig/controller-child.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { ciliumPodIpPoolCrd } from '../../src/simulator/kubernetes/ciliumpodippool-crd.ts';
import { type JsonObject, listAt, objectAt, textAt, textsAt } from '../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';
import { BlockCluster } from '../../test/e2e/rig/block-cluster.ts';
import { join } from 'node:path';

export type Scope = 'cluster-pool' | 'multi-pool' | 'nodeipam';

/** A network with more blocks than any figure has nodes. */
export const networkFlags = {
  'cluster-pool': ['--cluster-pool-ipv4-cidr=10.0.0.0/8'],
  'multi-pool': [],
  nodeipam: ['--cluster-cidr=10.0.0.0/8'],
} as const;

/** Each CiliumNode asks two of the three pools. */
const pools = { default: '10.0.0.0/12', blue: '10.16.0.0/12', green: '10.32.0.0/12' } as const;
const asked = { default: 1, blue: 1 } as const;

function isServed(scope: Scope, object: JsonObject): boolean {
  if (scope === 'nodeipam') return textsAt(object, 'spec', 'podCIDRs').length > 0;
  if (scope === 'cluster-pool') return textsAt(object, 'spec', 'ipam', 'podCIDRs').length > 0;
  return listAt(object, 'spec', 'ipam', 'pools', 'allocated').length === Object.keys(asked).length;
}

/** Whether it has several blocks of each pool. */
function hasMore(object: JsonObject): boolean {
  const entries = listAt(object, 'spec', 'ipam', 'pools', 'allocated');
  return entries.length > 0 && entries.every((entry) => textsAt(objectAt(entry), 'cidrs').length > 1);
}

/** The number of connections of the controller's transport. */
export const connections = 32;

export interface BlockBenchEnvironment {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Whatever happens, no process is left. */
export async function withBlockBench<T>(
  scope: Scope,
  { clock, signal }: BlockBenchEnvironment,
  use: (bench: BlockBench) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const cluster = await BlockCluster.start({ scope, flags: networkFlags[scope] });
  const bench = new BlockBench(scope, cluster, clock);
  const interrupted = Promise.withResolvers<never>();
  const interrupt = (): void => interrupted.reject(signal.reason);
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    return await Promise.race([use(bench), interrupted.promise]);
  } finally {
    signal.removeEventListener('abort', interrupt);
    await bench.stop();
  }
}

export class BlockBench {
  readonly cluster: BlockCluster;
  readonly scope: Scope;
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  readonly #children: RigChild[] = [];
  /** Objects that have a block, by name. */
  readonly #served = new Set<string>();
  readonly #withMore = new Set<string>();
  #onChange: () => void = () => undefined;

  constructor(scope: Scope, cluster: BlockCluster, clock: Clock) {
    this.scope = scope;
    this.cluster = cluster;
    this.#clock = clock;
  }

  /** Creates objects without a block. */
  async create(count: number, prefix = 'node'): Promise<void> {
    const isPools = this.scope === 'multi-pool';
    if (isPools) await this.#createPools();
    await this.cluster.each(namesOf(count, prefix), (name) =>
      isPools ? this.cluster.ask(name, asked) : this.cluster.create(name),
    );
  }

  /** Before any controller creates their definition. */
  async #createPools(): Promise<void> {
    const { api } = this.cluster;
    const definition = ciliumPodIpPoolCrd as unknown as JsonObject;
    await api.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    await this.cluster.until('pools are served', () =>
      api.call('GET', '/apis/cilium.io/v2alpha1/ciliumpodippools').then(
        () => true,
        () => false,
      ),
    );
    for (const [name, cidr] of Object.entries(pools)) await this.cluster.setPool(name, 24, [cidr]);
  }

  /** Creates the Nodes of as many CiliumNodes. */
  async createNodes(count: number, prefix = 'node'): Promise<void> {
    await this.cluster.each(namesOf(count, prefix), async (name) => {
      await this.cluster.api.call('POST', '/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
      });
    });
  }

  /** Starts to follow which objects have a block. */
  async follow(): Promise<void> {
    const { path, api } = this.cluster;
    const { signal } = this.#ending;
    const list = await api.call('GET', path);
    this.#served.clear();
    for (const each of listAt(list, 'items')) this.#note(objectAt(each), false);
    this.#onChange();
    const client = new KubernetesClient(api.handler, 'headwater-bench');
    const version = textAt(list, 'metadata', 'resourceVersion');
    const query = `watch=true&resourceVersion=${version}&timeoutSeconds=3600`;
    const answer = await client.watch(`${path}?${query}`, signal);
    if (answer.kind === 'refused') throw new Error(answer.message);
    // The API server ends the watch of a client that falls behind.
    void this.#take(answer.events)
      .catch(() => undefined)
      .then(() => (signal.aborted ? undefined : this.follow()));
  }

  /** Resolves with the time when so many objects have a block, in monotonic ms. */
  async served(count: number): Promise<number> {
    await this.#until(() => this.#served.size >= count);
    return this.#clock.monotonic();
  }

  /** Lets the agents of `count` CiliumNodes ask their pools for so many addresses. */
  async askMore(count: number, asked: Readonly<Record<string, number>>): Promise<void> {
    const requested = Object.entries(asked).map(([pool, needed]) => ({
      pool,
      needed: { 'ipv4-addrs': needed },
    }));
    const spec = { ipam: { pools: { requested } } };
    await this.cluster.each(namesOf(count, 'node'), async (name) => {
      await this.cluster.api.call('PATCH', `${this.cluster.path}/${name}`, { spec });
    });
  }

  /** Resolves once so many CiliumNodes have more than one block of each pool. */
  servedMore(count: number): Promise<void> {
    return this.#until(() => this.#withMore.size >= count);
  }

  /** Resolves once this object is gone. */
  unserved(name: string): Promise<void> {
    return this.#until(() => !this.#served.has(name));
  }

  /** Starts the controller; resolves with the time when it leads. */
  async startController(): Promise<{ readonly controller: ControllerChild; readonly leadsAt: number }> {
    const controller = await this.cluster.startController();
    await controller.child.waitForLine((line) => (line.includes('"leading"') ? line : undefined));
    return { controller, leadsAt: this.#clock.monotonic() };
  }

  async startPeer(flags: readonly string[]): Promise<{ readonly child: RigChild; readonly leadsAt: number }> {
    const child = await this.cluster.startPeer([...networkFlags.nodeipam, ...flags]);
    this.#children.push(child);
    return { child, leadsAt: this.#clock.monotonic() };
  }

  /** Starts to write the same without a controller. */
  async startPlain(
    form: 'patch' | 'pools' | 'replace',
    width: number,
  ): Promise<{ readonly child: RigChild; readonly leadsAt: number }> {
    const { api, path } = this.cluster;
    const child = new RigChild({
      name: 'the plain writer',
      command: process.execPath,
      args: [join(import.meta.dirname, 'plain-writer.ts'), api.url, api.caFile, path, String(width), form],
      env: { TOKEN: api.adminToken },
      bound: true,
    });
    this.#children.push(child);
    await child.waitForLine((line) => (line === 'started' ? line : undefined));
    return { child, leadsAt: this.#clock.monotonic() };
  }

  /**
   * The requests that the API server counted for objects that a controller writes or lists, without watches and reads of
   * single objects. Call it after the first such request.
   */
  async requests(): Promise<ReadonlyMap<string, number>> {
    const { handler } = this.cluster.api;
    const { body } = await handler({ method: 'GET', url: '/metrics', headers: {} }, this.#ending.signal);
    const counts = new Map<string, number>();
    for (const line of typeof body === 'string' ? body.split('\n') : []) {
      const labels = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line);
      if (labels === null) continue;
      const [, text = '', value = '0'] = labels;
      const resource = labelIn(text, 'resource');
      const verb = labelIn(text, 'verb');
      if (!counted.has(resource) || !acting.has(verb)) continue;
      const key = `${verb} ${resource}`;
      counts.set(key, (counts.get(key) ?? 0) + Number(value));
    }
    if (counts.size === 0) throw new Error('the API server counts no requests');
    return counts;
  }

  /** How long a client takes to list and read all objects, in ms. */
  async listTime(): Promise<number> {
    const begin = this.#clock.monotonic();
    await this.cluster.api.call('GET', this.cluster.path);
    return this.#clock.monotonic() - begin;
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#children.map((child) => child.kill()));
    await this.cluster.stop();
  }

  async #until(isSo: () => boolean): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve) => {
      this.#onChange = () => {
        if (isSo()) resolve();
      };
    });
  }

  async #take(events: AsyncIterable<JsonObject>): Promise<void> {
    for await (const event of events) {
      this.#note(objectAt(event, 'object'), textAt(event, 'type') === 'DELETED');
      this.#onChange();
    }
  }

  #note(object: JsonObject, isGone: boolean): void {
    const name = textAt(object, 'metadata', 'name');
    if (!isGone && isServed(this.scope, object)) this.#served.add(name);
    else this.#served.delete(name);
    if (this.scope === 'multi-pool' && hasMore(object)) this.#withMore.add(name);
  }
}

const counted = new Set(['ciliumnodes', 'nodes', 'events', 'pods', 'customresourcedefinitions']);
const acting = new Set(['LIST', 'POST', 'PUT', 'PATCH', 'DELETE', 'APPLY']);

function labelIn(text: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? '';
}

function namesOf(count: number, prefix: string): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}
