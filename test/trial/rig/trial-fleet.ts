// All agents of a trial over one watch, with checks for violations: an address in use that is not offered, and one that two
// nodes are offered at once. The watch shows every version in order, so it misses none.
import { handlerFor } from '../../../rig/http.ts';
import { type Clock, sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import { type Answer, KubernetesClient } from '../../../src/simulator/workload/kubernetes-client.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { newNode } from '../../../src/simulator/workload/node-objects.ts';
import { watchObjects } from '../../../src/simulator/workload/object-watch.ts';
import { ciliumNodesPath, newOwnNode } from '../../../src/simulator/workload/own-node.ts';
import { TrialNode } from './trial-node.ts';

const nodesPath = '/api/v1/nodes';
/** Maximum number of requests in flight. */
const concurrency = 8;
/** Between two checks for pending writes, in ms. */
const pause = 10;

/** The pools of all nodes, in the order of the writes. */
export class OfferedPools {
  readonly #pools = new Map<string, ReadonlySet<string>>();
  /** Node by address. */
  readonly #holders = new Map<string, string>();
  /** Addresses that were offered to two nodes at once, with both names. */
  readonly doubled = new Set<string>();

  note(name: string, pool: ReadonlySet<string>): void {
    for (const address of this.#pools.get(name) ?? []) {
      if (!pool.has(address) && this.#holders.get(address) === name) this.#holders.delete(address);
    }
    for (const address of pool) {
      const holder = this.#holders.get(address) ?? name;
      if (holder !== name) this.doubled.add(`${address} of ${[holder, name].sort().join(' and ')}`);
      this.#holders.set(address, name);
    }
    this.#pools.set(name, pool);
  }
}

export class TrialFleet {
  readonly #client: KubernetesClient;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #nodes = new Map<string, TrialNode>();
  /** Includes nodes whose CiliumNode is deleted. */
  readonly everyNode: TrialNode[] = [];
  readonly #pools = new OfferedPools();
  /** Nodes that may have a pending write. */
  readonly #restless = new Set<string>();
  /** By name, the version of its own last write, which the node must see before the next one. */
  readonly #written = new Map<string, number>();
  /** Rejects with the reason of the signal. */
  readonly working: Promise<unknown>;

  constructor(apiUrl: string, clock: Clock, signal: AbortSignal) {
    this.#client = new KubernetesClient(handlerFor({ url: apiUrl }), 'cilium-agent');
    this.#clock = clock;
    this.#signal = signal;
    const source = { client: this.#client, path: ciliumNodesPath, fieldSelector: '', clock };
    const watching = watchObjects(
      { ...source, random: new Random('trial'), lag: 0 },
      {
        onList: (objects) => objects.forEach((object) => this.#see(object)),
        onChange: (object) => this.#see(object),
        onDelete: (object) => this.#forget(textAt(object, 'metadata', 'name')),
        onTrouble: () => undefined,
      },
      signal,
    );
    this.working = Promise.all([watching, ...Array.from({ length: concurrency }, () => this.#work())]);
  }

  get doubled(): ReadonlySet<string> {
    return this.#pools.doubled;
  }

  get nodes(): readonly TrialNode[] {
    return [...this.#nodes.values()];
  }

  /** Creates the Nodes and CiliumNodes of these machines, which will use this many addresses each. */
  async join(machines: readonly NodeFacts[], used: number): Promise<readonly TrialNode[]> {
    const nodes = machines.map((facts) => new TrialNode(facts, used));
    for (const node of nodes) this.#nodes.set(node.facts.name, node);
    this.everyNode.push(...nodes);
    await inParallel(machines, async (facts) => {
      await this.#create(nodesPath, newNode(facts));
      await this.#create(ciliumNodesPath, newOwnNode(facts, `uid-of-${facts.name}`));
    });
    return nodes;
  }

  use(nodes: readonly TrialNode[], count: number): void {
    for (const node of nodes) {
      node.use(count);
      this.#restless.add(node.facts.name);
    }
  }

  /** Deletes their Nodes, and their CiliumNodes with them. */
  async remove(nodes: readonly TrialNode[]): Promise<void> {
    await inParallel(nodes, async ({ facts }) => {
      for (const path of [nodesPath, ciliumNodesPath]) {
        await this.#client.delete(`${path}/${facts.name}`, {}, this.#signal);
      }
    });
  }

  async #create(path: string, object: JsonObject): Promise<void> {
    const answer = await this.#client.create(path, object, this.#signal);
    if (answer.kind === 'refused') throw new Error(`the API refused an object: ${answer.message}`);
  }

  #see(object: JsonObject): void {
    const name = textAt(object, 'metadata', 'name');
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    node.see(object);
    this.#pools.note(name, new Set(node.shown?.pool.keys()));
    if (this.#hasSeenItsOwn(node)) this.#restless.add(name);
  }

  #forget(name: string): void {
    this.#pools.note(name, new Set());
    this.#nodes.delete(name);
  }

  async #work(): Promise<never> {
    for (;;) {
      const [name] = this.#restless;
      if (name === undefined) await sleep(this.#clock, pause, this.#signal);
      else await this.#write(name);
    }
  }

  /** Waits until the node has seen its last write. */
  async #write(name: string): Promise<void> {
    this.#restless.delete(name);
    const node = this.#nodes.get(name);
    if (node === undefined || !this.#hasSeenItsOwn(node)) return;
    const { version } = node;
    const patch = node.nextPatch();
    if (patch === undefined) return;
    this.#written.set(name, Infinity);
    const body = { ...patch.body, metadata: { resourceVersion: String(version) } };
    const path = `${ciliumNodesPath}/${name}${patch.part}`;
    const answer = await this.#client.mergePatch(path, body, this.#signal);
    this.#written.set(name, awaitedAfter(answer, version));
    if (this.#hasSeenItsOwn(node)) this.#restless.add(name);
  }

  #hasSeenItsOwn({ facts, version }: TrialNode): boolean {
    return version >= (this.#written.get(facts.name) ?? 0);
  }
}

/** The version that the node must see before its next write; after a conflict, the version that caused it. */
function awaitedAfter(answer: Answer, base: number): number {
  if (answer.kind === 'ok') return Number(textAt(answer.object, 'metadata', 'resourceVersion'));
  return answer.status === 409 ? base + 1 : base;
}

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const work = async (): Promise<void> => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
