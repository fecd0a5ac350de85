// The agents of a benchmark, as lean as can be so that they do not take the machine from the controller: they make Nodes
// and CiliumNodes, ask for addresses, and read their offers. Multi-pool agents ask by `spec.ipam.pools.requested`, and
// others by the number of addresses that should be free.
import { type Clock, sleep } from '../../src/runtime/clock.ts';
import { Random } from '../../src/runtime/random.ts';
import { type JsonObject, objectAt, textAt } from '../../src/simulator/workload/json.ts';
import { type Answer, KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { newNode } from '../../src/simulator/workload/node-objects.ts';
import { watchObjects } from '../../src/simulator/workload/object-watch.ts';
import { ciliumNodesPath, newOwnNode } from '../../src/simulator/workload/own-node.ts';
import { newPod, podCollectionPath } from '../../src/simulator/workload/pod.ts';
import { withPools } from '../../src/simulator/workload/pool-demand.ts';
import type { CloudState } from './cloud-process.ts';
import { handlerFor } from '../../rig/http.ts';
import type { BenchCloud, FirstInterfaceIndex } from '../clouds/bench-cloud.ts';

export interface NodePlan {
  readonly firstInterfaceIndex: FirstInterfaceIndex;
  /** Free addresses that a node is to have. */
  readonly preAllocate: number;
}

/** A node as it is first seen with what was waited for. */
export interface Sighting {
  /** In monotonic ms. */
  readonly at: number;
  readonly resourceVersion: string;
}

interface Awaited {
  readonly count: number;
  readonly resolve: (sighting: Sighting) => void;
}

/**
 * Requests in flight at once. The agents of a fleet have machines of their own; here they take the two cores
 * from the controller while they write, and it is the controller that is timed.
 */
const concurrency = 4;
/** Between two checks of an awaited condition, in ms. Nothing is timed by these checks. */
const pollInterval = 20;

export class NodeFleet {
  readonly #client: KubernetesClient;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  /** Addresses that each node is offered, as the watch shows them. */
  readonly #addresses = new Map<string, readonly string[]>();
  readonly #awaited = new Map<string, Awaited>();
  /** Ends with `signal`, which it rejects by. */
  readonly watching: Promise<never>;

  constructor(apiUrl: string, clock: Clock, signal: AbortSignal) {
    this.#client = new KubernetesClient(handlerFor({ url: apiUrl }), 'cilium-agent');
    this.#clock = clock;
    this.#signal = signal;
    this.watching = watchObjects(
      {
        client: this.#client,
        path: ciliumNodesPath,
        fieldSelector: '',
        clock,
        random: new Random('bench'),
        lag: 0,
      },
      {
        onList: (objects) => objects.forEach((object) => this.#see(object)),
        onChange: (object) => this.#see(object),
        onDelete: () => undefined,
        onTrouble: () => undefined,
      },
      signal,
    );
  }

  /** Makes the Nodes and CiliumNodes of these machines, each asking for its free addresses. */
  async create(machines: readonly NodeFacts[]): Promise<void> {
    await inParallel(machines, async (facts) => {
      this.#check(await this.#client.create('/api/v1/nodes', newNode(facts), this.#signal));
      const node = newOwnNode(facts, `uid-of-${facts.name}`);
      const isOld = facts.protocol === 'crd-allocator';
      const asking = isOld ? node : withPools(node, facts.ipam?.preAllocate ?? 0, []);
      this.#check(await this.#client.create(ciliumNodesPath, asking, this.#signal));
    });
  }

  /**
   * The node says that it wants so many addresses in all, those in use and those to be free. Resolves to the resource version
   * of that.
   */
  async request(name: string, addresses: number): Promise<string> {
    const requested = [{ pool: 'default', needed: { 'ipv4-addrs': addresses } }];
    const patch = { spec: { ipam: { pools: { requested } } } };
    const path = `${ciliumNodesPath}/${name}`;
    return versionOf(this.#check(await this.#client.mergePatch(path, patch, this.#signal)));
  }

  /** The same of many nodes, several at once. */
  async requestAll(wishes: ReadonlyMap<string, number>): Promise<void> {
    await inParallel([...wishes], async ([name, addresses]) => void (await this.request(name, addresses)));
  }

  /** Every node is to have only so many addresses from now on. Its agent holds those and drops the others. */
  async keepOnly(count: number): Promise<void> {
    await inParallel([...this.#addresses], async ([name, addresses]) => {
      const cidrs = addresses.slice(0, count).map((address) => `${address}/32`);
      const pools = {
        requested: [{ pool: 'default', needed: { 'ipv4-addrs': count } }],
        allocated: [{ pool: 'default', cidrs }],
      };
      // Otherwise the free addresses that it was to have would stay.
      const ipam = { 'pre-allocate': count, pools };
      const path = `${ciliumNodesPath}/${name}`;
      this.#check(await this.#client.mergePatch(path, { spec: { ipam } }, this.#signal));
    });
  }

  /** Pods that wait for their addresses on the node. `name` makes theirs. */
  async addPods(nodeName: string, count: number, name: string): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `${name}-${index}`);
    await inParallel(names, async (pod) => {
      const object = newPod({ name: pod, nodeName, hostNetwork: false, grace: 0 });
      this.#check(await this.#client.create(podCollectionPath, object, this.#signal));
    });
  }

  offered(name: string): number {
    return this.#addresses.get(name)?.length ?? 0;
  }

  /** Resolves when the node is first seen with so many addresses, which it is not yet. */
  whenOffered(name: string, count: number): Promise<Sighting> {
    return new Promise((resolve) => this.#awaited.set(name, { count, resolve }));
  }

  /** Resolves once `isSo`. */
  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isSo())) await sleep(this.#clock, pollInterval, this.#signal);
  }

  #see(object: JsonObject): void {
    const name = textAt(object, 'metadata', 'name');
    const addresses = Object.keys(objectAt(object, 'spec', 'ipam', 'pool'));
    const count = addresses.length;
    this.#addresses.set(name, addresses);
    const awaited = this.#awaited.get(name);
    if (awaited === undefined || count < awaited.count) return;
    this.#awaited.delete(name);
    awaited.resolve({ at: this.#clock.monotonic(), resourceVersion: versionOf(object) });
  }

  #check(answer: Answer): JsonObject {
    if (answer.kind === 'refused') throw new Error(`the API refused: ${answer.status} ${answer.message}`);
    return answer.object;
  }
}

function versionOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'resourceVersion');
}

/** The agents' knowledge of the machines that the cloud has, in the order of their names. */
export function machinesIn(
  state: CloudState,
  { agent }: BenchCloud,
  { firstInterfaceIndex, preAllocate }: NodePlan,
): NodeFacts[] {
  const types = new Map(state.instances.map(({ id, type }) => [id, type]));
  return state.interfaces
    .flatMap((each) => {
      const type = each.deviceIndex === 0 ? types.get(each.instanceId ?? '') : undefined;
      if (type === undefined || each.instanceId === undefined) return [];
      return {
        name: `ip-${each.primaryAddress.replaceAll('.', '-')}`,
        instanceId: each.instanceId,
        instanceType: type,
        vpcId: each.vpcId,
        zone: each.zone,
        subnetId: each.subnetId,
        primaryAddress: each.primaryAddress,
        ipam: { preAllocate },
        ...agent(firstInterfaceIndex),
      };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const work = async (): Promise<void> => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
