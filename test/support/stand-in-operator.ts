// A stand-in for cilium-operator in the modes of clouds, as far as its writes go: cilium-node-contract, 1.7 and 2. It renders every
// CiliumNode from the cloud, and PUTs the whole object from its cache if it differs: status first, then spec, each with two
// attempts. Its memory of releases is empty, as that of an operator that starts. It is no cilium-operator: it lists no faster than
// the test wants, takes addresses from models of AWS and Alibaba Cloud without their API, and releases none.
import { type Clock, sleep } from '../../src/runtime/clock.ts';
import type { ArmCloud } from '../../src/simulator/arm/arm-cloud.ts';
import type { Arm } from '../../src/simulator/arm/create-arm.ts';
import { readyLife } from '../../src/simulator/alibaba/states.ts';
import { attach, attachedTo } from '../../src/simulator/cloud/attachments.ts';
import { assign } from '../../src/simulator/cloud/assignments.ts';
import { nothing } from '../../src/simulator/cloud/claims.ts';
import type { CloudNetwork } from '../../src/simulator/cloud/cloud-network.ts';
import { CloudRefusal } from '../../src/simulator/cloud/cloud-refusal.ts';
import { plainInterface } from '../../src/simulator/cloud/instances.ts';
import { filledSlots, typeOf } from '../../src/simulator/cloud/interface-limits.ts';
import { createInterface } from '../../src/simulator/cloud/network-interfaces.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import {
  isObject,
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textMapAt,
} from '../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';
import { ArmHand } from './arm-hand.ts';

const nodesPath = '/apis/cilium.io/v2/ciliumnodes';

/** Where it runs: a cluster in one process, or a real API server beside a model of a cloud. */
interface Surroundings {
  readonly clock: Clock;
  readonly cluster: {
    readonly kubernetes: { readonly handle: KubernetesHandler };
    readonly ec2: { readonly network: CloudNetwork };
  };
}

/** What it shows of an instance, and how it gets more for it. */
export interface OperatorCloud {
  /** The member of the status that is the cloud's. */
  readonly section: string;
  readonly shown: (node: JsonObject) => JsonObject;
  /** The addresses that pods get, each with its interface. */
  readonly pool: (node: JsonObject) => ReadonlyMap<string, string>;
  /** Takes up to that many addresses more, as one run of the operator does. */
  readonly grow: (node: JsonObject, count: number) => Promise<void> | void;
}

export interface OperatorOptions {
  /** It gives interfaces descriptions of its own, so that its status differs from Headwater's. On AWS only. */
  readonly describes?: boolean;
  /** It takes addresses for nodes that need them. */
  readonly supplies?: boolean;
  /** AWS by default. */
  readonly cloud?: OperatorCloud;
  readonly program?: string;
}

export class StandInOperator {
  /** Monotonic time of each PUT that the API accepted. */
  readonly writes: number[] = [];
  readonly #clock: Clock;
  readonly #cloud: OperatorCloud;
  readonly #supplies: boolean;
  readonly #client: KubernetesClient;
  readonly #stopping = new AbortController();

  constructor(world: Surroundings, options: OperatorOptions = {}) {
    const { describes = true, supplies = false, program = 'cilium-operator-aws' } = options;
    this.#clock = world.clock;
    this.#cloud = options.cloud ?? eniCloud(world.cluster.ec2.network, { describes });
    this.#supplies = supplies;
    this.#client = new KubernetesClient(world.cluster.kubernetes.handle, program);
  }

  async run(period = 60_000): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.resync().catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      await sleep(this.#clock, period, signal).catch(() => undefined);
    }
  }

  /** Stops its process, wherever it is: between two writes, or in one. */
  stop(): void {
    this.#stopping.abort();
  }

  async resync(): Promise<void> {
    const listed = await this.#client.get(nodesPath, this.#stopping.signal);
    if (listed.kind === 'refused') return;
    // It has 50 workers.
    await Promise.all(
      listAt(listed.object, 'items')
        .filter(isObject)
        .map((node) => this.#sync(node)),
    );
  }

  async #sync(node: JsonObject): Promise<void> {
    if (this.#supplies) {
      const needed = neededOf(node, this.#cloud.pool(node).size);
      if (needed > 0) await this.#cloud.grow(node, needed);
    }
    // The pool may be older than the status, never newer.
    const pool = Object.fromEntries(
      [...this.#cloud.pool(node)].map(([address, resource]) => [address, { resource }]),
    );
    const withStatus = await this.#put(node, '/status', (object) => {
      const { 'release-ips': _, ...ipam } = objectAt(object, 'status', 'ipam');
      const status = { ...objectAt(object, 'status'), [this.#cloud.section]: this.#cloud.shown(object) };
      return { ...object, status: Object.keys(ipam).length === 0 ? status : { ...status, ipam } };
    });
    if (withStatus === undefined) return;
    await this.#put(withStatus, '', (object) => {
      const spec = objectAt(object, 'spec');
      const ipam = objectAt(spec, 'ipam');
      const preAllocate = numberAt(ipam, 'pre-allocate') || usualPreAllocate;
      return { ...object, spec: { ...spec, ipam: { ...ipam, 'pre-allocate': preAllocate, pool } } };
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
        this.writes.push(this.#clock.monotonic());
        return answer.object;
      }
      const live = await this.#client.get(path, signal);
      if (live.kind === 'refused') return undefined;
      object = live.object;
    }
    return undefined;
  }
}

const usualPreAllocate = 8;

/** How many addresses the node lacks: cilium-node-contract, 2.1. Agents of both protocols say what they use. */
function neededOf(node: JsonObject, held: number): number {
  const preAllocate = numberAt(node, 'spec', 'ipam', 'pre-allocate') || usualPreAllocate;
  const listed = Object.keys(objectAt(node, 'status', 'ipam', 'used')).length;
  const request = listAt(node, 'spec', 'ipam', 'pools', 'requested').find(
    (each) => textAt(each, 'pool') === 'default',
  );
  const requested = Math.max(0, numberAt(request, 'needed', 'ipv4-addrs') - preAllocate);
  const used = request !== undefined && listed === 0 ? requested : listed;
  const least = numberAt(node, 'spec', 'ipam', 'min-allocate') - held;
  return Math.max(preAllocate - (held - used), least, 0);
}

/** `cilium-operator-aws`. */
export function eniCloud(
  network: CloudNetwork,
  { describes = false, showsZones = false } = {},
): OperatorCloud {
  const firstIndexOf = (node: JsonObject): number => numberAt(node, 'spec', 'eni', 'first-interface-index');
  const carriesPods = (node: JsonObject, item: NetworkInterface): boolean =>
    (item.deviceIndex ?? 0) >= firstIndexOf(node);
  const secondary = ({ addresses, primaryAddress }: NetworkInterface): readonly string[] =>
    addresses.filter((address) => address !== primaryAddress);
  const status = (item: NetworkInterface): JsonObject =>
    withoutEmpty({
      id: item.id,
      ip: item.primaryAddress,
      mac: item.mac,
      description: describes ? `${item.description} (Cilium)` : item.description,
      number: item.deviceIndex ?? 0,
      'availability-zone': showsZones ? item.zone : '',
      subnet: { id: item.subnetId, cidr: network.subnets.get(item.subnetId)?.block ?? '' },
      vpc: vpcOf(network, item),
      addresses: secondary(item),
      'ipv6-prefixes': item.ipv6Prefixes,
      'security-groups': item.groupIds,
      tags: item.tags,
    });
  return {
    section: 'eni',
    shown: (node) => ({
      enis: Object.fromEntries(interfacesOf(network, node).map((item) => [item.id, status(item)])),
    }),
    pool: (node) =>
      poolOf(
        interfacesOf(network, node).filter((item) => carriesPods(node, item)),
        secondary,
      ),
    grow: (node, count) =>
      growByInterfaces(network, node, count, {
        carriesPods: (item) => carriesPods(node, item),
        firstIndex: Math.max(1, firstIndexOf(node)),
        subnetTags: textMapAt(node, 'spec', 'eni', 'subnet-tags'),
        request: () => ({ tags: managed }),
      }),
  };
}

const managed = { 'io.cilium/cilium-managed': 'true', 'io.cilium/cluster-name': 'e2e' };

/** `cilium-operator-alibabacloud`. */
export function alibabaCloud(network: CloudNetwork, { ipv6Cidr = '' } = {}): OperatorCloud {
  const carriesPods = ({ deviceIndex = 0 }: NetworkInterface): boolean => deviceIndex > 0;
  const all = ({ addresses }: NetworkInterface): readonly string[] => addresses;
  const status = (item: NetworkInterface): JsonObject =>
    withoutEmpty({
      'network-interface-id': item.id,
      'mac-address': item.mac,
      type: carriesPods(item) ? 'Secondary' : 'Primary',
      'instance-id': item.instanceId ?? '',
      'security-groupids': item.groupIds,
      vpc: { 'vpc-id': item.vpcId, cidr: network.find('vpcs', item.vpcId).blocks[0]?.block ?? '' },
      'zone-id': item.zone,
      vswitch: {
        'vswitch-id': item.subnetId,
        cidr: network.subnets.get(item.subnetId)?.block ?? '',
        ...(ipv6Cidr !== '' && { 'ipv6-cidr': ipv6Cidr }),
      },
      'primary-ip-address': item.primaryAddress,
      'private-ipsets': item.addresses.map((address) => ({
        'private-ip-address': address,
        ...(address === item.primaryAddress && { primary: true }),
      })),
      tags: item.tags,
    });
  return {
    section: 'alibaba-cloud',
    shown: (node) => ({
      enis: Object.fromEntries(interfacesOf(network, node).map((item) => [item.id, status(item)])),
    }),
    pool: (node) => poolOf(interfacesOf(network, node).filter(carriesPods), all),
    grow: (node, count) =>
      growByInterfaces(network, node, count, {
        carriesPods,
        firstIndex: 1,
        subnetTags: textMapAt(node, 'spec', 'alibaba-cloud', 'vswitch-tags'),
        request: (index) => ({ tags: { 'cilium-eni-index': String(index) }, life: readyLife(network) }),
      }),
  };
}

/** `cilium-operator-azure`. `principal`: its name in Azure, the first of the topology by default. */
export function azureCloud({ cloud, gateway }: Arm, principal?: string): OperatorCloud {
  const hand = new ArmHand(gateway, principal);
  const machineOf = (node: JsonObject): string => textAt(node, 'spec', 'instance-id').toLowerCase();
  const nicsOf = (node: JsonObject): ReturnType<ArmCloud['interfacesOf']> =>
    [...cloud.interfaces.current.values()].filter(({ machineId }) => machineId === machineOf(node));
  return {
    section: 'azure',
    shown: (node) => ({
      interfaces: nicsOf(node)
        .toSorted((a, b) => (a.path < b.path ? -1 : 1))
        .map(({ path, name, mac, configurations, model }) => {
          const [primary] = configurations;
          const subnet = cloud.subnets.get(primary?.subnetId ?? '');
          const cidr = subnet?.block ?? '';
          const gateway = cidr.replace(/\d+\/\d+$/, (end) => String(Number(end.split('/')[0]) + 1));
          const group = textAt(model, 'properties', 'networkSecurityGroup', 'id');
          return {
            id: path,
            name,
            mac: mac.replaceAll('-', ':'),
            ip: primary?.address ?? '',
            subnet: { id: subnet?.path ?? '', cidr },
            cidr,
            gateway,
            GatewayIP: gateway,
            ...(group !== '' && { 'security-group': group }),
            addresses: configurations
              .filter(({ isPrimary }) => !isPrimary)
              .map(({ address = '', state }) => ({
                ip: address,
                subnet: subnet?.path ?? '',
                state: state.toLowerCase(),
              }))
              .toSorted((a, b) => (a.ip < b.ip ? -1 : 1)),
          };
        }),
    }),
    pool: (node) =>
      new Map(
        nicsOf(node).flatMap(({ path, configurations }) =>
          configurations
            .filter(({ isPrimary, state }) => !isPrimary && state === 'Succeeded')
            .map(({ address = '' }) => [address, path] as const),
        ),
      ),
    grow: async (node, count) => {
      const machine = cloud.machines.current.get(machineOf(node));
      const nic = nicsOf(node).find(({ state }) => state === 'Succeeded');
      if (machine === undefined || nic === undefined) return;
      // What is refused because a change is under way, the next run tries again.
      await hand.change(machine.instanceId === undefined ? nic.path : machine.path, (configurations) => {
        const { subnet = null, applicationSecurityGroups = [] } = objectAt(configurations[0], 'properties');
        const properties = { subnet, applicationSecurityGroups, privateIPAddressVersion: 'IPv4' };
        const added = Array.from({ length: count }, () => `Cilium-${cloud.newGuid().slice(0, 8)}`);
        return [...configurations, ...added.map((name) => ({ name, properties }))];
      });
    },
  };
}

interface Growth {
  readonly carriesPods: (item: NetworkInterface) => boolean;
  readonly firstIndex: number;
  readonly subnetTags: ReadonlyMap<string, string>;
  readonly request: (index: number) => Partial<Parameters<typeof createInterface>[1]>;
}

/** On an interface with room, else on a new one, which the next run attaches: one change a run. */
function growByInterfaces(network: CloudNetwork, node: JsonObject, count: number, growth: Growth): void {
  const instance = network.instances.get(textAt(node, 'spec', 'instance-id'));
  if (instance === undefined) return;
  const attached = attachedTo(network, instance);
  const limit = typeOf(network, instance).ipv4PerInterface;
  const open = attached.find((item) => growth.carriesPods(item) && filledSlots(item) < limit);
  if (open !== undefined) {
    const most = Math.min(count, limit - filledSlots(open));
    unlessRefused(() => assign(network, open.id, { ...nothing, count: most }, false));
    return;
  }
  const taken = new Set(attached.map(({ attachment }) => attachment?.deviceIndex));
  let deviceIndex = growth.firstIndex;
  while (taken.has(deviceIndex)) deviceIndex++;
  const subnet = [...network.subnets.values()].find(
    ({ zone, tags }) =>
      zone === instance.zone && [...growth.subnetTags].every(([name, value]) => tags[name] === value),
  );
  const [primary] = attached;
  if (
    subnet === undefined ||
    primary === undefined ||
    deviceIndex >= (typeOf(network, instance).cards[0] ?? 0)
  )
    return;
  const made = [...network.interfaces.values()].find(
    ({ attachment, description }) => attachment === undefined && description.includes(instance.id),
  );
  const where = { instanceId: instance.id, deviceIndex, cardIndex: 0, deleteOnTermination: true };
  unlessRefused(() => {
    if (made !== undefined) attach(network, { ...where, interfaceId: made.id });
    else
      createInterface(network, {
        ...plainInterface(subnet.id, primary.groupIds),
        claim: { ...nothing, count: Math.min(count, limit - 1) },
        description: `Cilium-CNI (${instance.id})`,
        ...growth.request(deviceIndex),
      });
  });
}

/** As the tag `omitempty` of Go does it. */
function withoutEmpty(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => !['0', '""', '[]', '{}'].includes(JSON.stringify(value))),
  );
}

/** What the cloud refuses, the next run tries again. */
function unlessRefused(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof CloudRefusal)) throw error;
  }
}

function interfacesOf(network: CloudNetwork, node: JsonObject): readonly NetworkInterface[] {
  const instanceId = textAt(node, 'spec', 'instance-id');
  return [...network.interfaces.values()].filter((item) => item.instanceId === instanceId);
}

function poolOf(
  interfaces: readonly NetworkInterface[],
  addressesOf: (item: NetworkInterface) => readonly string[],
): ReadonlyMap<string, string> {
  return new Map(
    interfaces.flatMap((item) => addressesOf(item).map((address) => [address, item.id] as const)),
  );
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
