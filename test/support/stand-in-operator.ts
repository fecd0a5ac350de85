// A cilium-operator that still runs next to Headwater, as far as its writes go. Once a minute it lists, renders every
// CiliumNode from the cloud, and PUTs the whole object from its cache if it differs: status first, then spec, each with two
// attempts. It allocates and releases nothing.
import { type Clock, sleep } from '../../src/runtime/clock.ts';
import type { CloudNetwork } from '../../src/simulator/cloud/cloud-network.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import { isObject, type JsonObject, listAt, objectAt, textAt } from '../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';

const nodesPath = '/apis/cilium.io/v2/ciliumnodes';

/** Where it runs: a cluster in one process, or a real API server beside a model of EC2. */
interface Surroundings {
  readonly clock: Clock;
  readonly cluster: {
    readonly kubernetes: { readonly handle: KubernetesHandler };
    readonly ec2: { readonly network: CloudNetwork };
  };
}

export class StandInOperator {
  /** Monotonic time of each PUT that the API accepted. */
  readonly writes: number[] = [];
  readonly #world: Surroundings;
  readonly #describes: boolean;
  readonly #client: KubernetesClient;
  readonly #stopping = new AbortController();

  /** `describes`: it gives interfaces descriptions of its own, so that its status differs from Headwater's. */
  constructor(world: Surroundings, { describes = true } = {}) {
    this.#world = world;
    this.#describes = describes;
    this.#client = new KubernetesClient(world.cluster.kubernetes.handle, 'cilium-operator-aws');
  }

  async run(period = 60_000): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.resync();
      await sleep(this.#world.clock, period, signal).catch(() => undefined);
    }
  }

  /** Stops its process. */
  stop(): void {
    this.#stopping.abort();
  }

  async resync(): Promise<void> {
    const listed = await this.#client.get(nodesPath, this.#stopping.signal);
    if (listed.kind === 'refused') return;
    for (const node of listAt(listed.object, 'items').filter(isObject)) await this.#sync(node);
  }

  async #sync(node: JsonObject): Promise<void> {
    const instanceId = textAt(node, 'spec', 'instance-id');
    const interfaces = [...this.#world.cluster.ec2.network.interfaces.values()].filter(
      (item) => item.instanceId === instanceId,
    );
    const enis = Object.fromEntries(interfaces.map((item) => [item.id, this.#statusOf(item)]));
    const pool = Object.fromEntries(
      interfaces.flatMap(({ id, addresses, primaryAddress }) =>
        addresses
          .filter((address) => address !== primaryAddress)
          .map((address) => [address, { resource: id }] as const),
      ),
    );
    const withStatus = await this.#put(node, '/status', (object) => ({
      ...object,
      status: { ...objectAt(object, 'status'), eni: { enis } },
    }));
    if (withStatus === undefined) return;
    await this.#put(withStatus, '', (object) => {
      const spec = objectAt(object, 'spec');
      return { ...object, spec: { ...spec, ipam: { ...objectAt(spec, 'ipam'), pool } } };
    });
  }

  /** The object after the write; undefined after two failures. */
  async #put(
    cached: JsonObject,
    suffix: '' | '/status',
    change: (object: JsonObject) => JsonObject,
  ): Promise<JsonObject | undefined> {
    const { signal } = this.#stopping;
    const path = `${nodesPath}/${textAt(cached, 'metadata', 'name')}`;
    let object = cached;
    for (let attempt = 0; attempt < 2; attempt++) {
      const changed = change(object);
      if (JSON.stringify(sorted(changed)) === JSON.stringify(sorted(object))) return object;
      const answer = await this.#client.replace(path + suffix, changed, signal);
      if (answer.kind === 'ok') {
        this.writes.push(this.#world.clock.monotonic());
        return answer.object;
      }
      const live = await this.#client.get(path, signal);
      if (live.kind === 'refused') return undefined;
      object = live.object;
    }
    return undefined;
  }

  #statusOf(item: NetworkInterface): JsonObject {
    const { network } = this.#world.cluster.ec2;
    const index = item.deviceIndex ?? 0;
    return {
      id: item.id,
      ip: item.primaryAddress,
      mac: item.mac,
      ...(this.#describes && { description: `${item.description} (Cilium)` }),
      ...(!this.#describes && item.description !== '' && { description: item.description }),
      ...(index > 0 && { number: index }),
      subnet: { id: item.subnetId, cidr: network.subnets.get(item.subnetId)?.block ?? '' },
      vpc: vpcOf(network, item),
      addresses: item.addresses.filter((address) => address !== item.primaryAddress),
      ...(item.ipv6Prefixes.length > 0 && { 'ipv6-prefixes': item.ipv6Prefixes }),
      'security-groups': item.groupIds,
    };
  }
}

function vpcOf(network: CloudNetwork, { vpcId }: NetworkInterface): JsonObject {
  const [primary = '', ...others] = network.find('vpcs', vpcId).blocks.map(({ block }) => block);
  return { id: vpcId, 'primary-cidr': primary, ...(others.length > 0 && { cidrs: others }) };
}

/** Sorts members by name, so that equal objects have equal texts. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, inner]) => [name, sorted(inner)]));
}
