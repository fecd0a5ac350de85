// Tracks addresses that leave nodes, as CiliumNodes and the cloud show them.
import type { SimulatedCluster } from '../../simulator/cluster/embedded-cluster.ts';
import { agentCloudOf } from '../../simulator/workload/clouds/known-clouds.ts';
import { type JsonObject, objectAt, textMapAt } from '../../simulator/workload/json.ts';
import type { CloudName } from '../../simulator/workload/node-facts.ts';
import type { NodeView } from '../../simulator/workload/node-view.ts';

/** Numbers of addresses that leave nodes. */
export interface Departures {
  /** By state in `status.ipam.release-ips`, of agents up to 1.19. */
  readonly marked: number;
  readonly ready: number;
  readonly released: number;
  /** `do-not-release`. */
  readonly refused: number;
  /** Held by the cloud and hidden from agents from 1.20 on. */
  readonly hidden: number;
  /** Total that nodes have released so far. */
  readonly unassigned: number;
}

/** Addresses that belong neither to the node nor to the subnet. */
export function totalLeaving({ marked, ready, released, refused, hidden }: Departures): number {
  return marked + ready + released + refused + hidden;
}

/** Remembers the addresses shown to agents: only those can be hidden or released. */
export class DepartureWatch {
  readonly #cluster: Pick<SimulatedCluster, 'network' | 'kubernetes' | 'workload'>;
  /** By node. */
  readonly #shown = new Map<string, Set<string>>();
  #unassigned = 0;

  constructor(cluster: Pick<SimulatedCluster, 'network' | 'kubernetes' | 'workload'>) {
    this.#cluster = cluster;
  }

  read(): Departures {
    const { network, kubernetes, workload } = this.#cluster;
    const held = Map.groupBy(network.interfaces.values(), ({ instanceId }) => instanceId);
    const states: string[] = [];
    let hidden = 0;
    for (const view of workload.views) {
      const node = kubernetes.get('ciliumnodes.cilium.io', view.nodeName);
      if (node === undefined) continue;
      const own = held.get(view.facts.instanceId) ?? [];
      const missing = this.#missingOn(view, node, new Set(own.flatMap(({ addresses }) => addresses)));
      if (view.protocol === 'multi-pool') hidden += missing;
      states.push(...textMapAt(node, 'status', 'ipam', 'release-ips').values());
    }
    const count = (wanted: string): number => states.filter((state) => state === wanted).length;
    return {
      marked: count('marked-for-release'),
      ready: count('ready-for-release'),
      released: count('released'),
      refused: count('do-not-release'),
      hidden,
      unassigned: this.#unassigned,
    };
  }

  /** Addresses that were shown to the agent once, and that the cloud still holds. */
  #missingOn(view: NodeView, node: JsonObject, holds: ReadonlySet<string>): number {
    const shown = shownAddresses(node, view.protocol, view.facts.cloud);
    const known = new Set([...shown, ...(this.#shown.get(view.nodeName) ?? [])]);
    const gone = [...known].filter((address) => !shown.has(address) && !holds.has(address));
    for (const address of gone) known.delete(address);
    this.#shown.set(view.nodeName, known);
    this.#unassigned += gone.length;
    return known.size - shown.size;
  }
}

/** The addresses that an agent may give to pods, from its CiliumNode. */
export function shownAddresses(
  node: JsonObject,
  protocol: NodeView['protocol'],
  cloud?: CloudName,
): ReadonlySet<string> {
  if (protocol === 'crd-allocator') return new Set(Object.keys(objectAt(node, 'spec', 'ipam', 'pool')));
  const interfaces = agentCloudOf({ cloud }).interfacesOf(node, protocol);
  return new Set(interfaces.flatMap(({ addresses }) => addresses));
}
