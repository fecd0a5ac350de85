// Everything that one Azure holds: subscriptions with their resources, over the network that hands out addresses. The
// files beside it hold the rules for changes. It never waits; what takes time is an action on the clock.
import type { Random } from '../../runtime/random.ts';
import { CloudNetwork } from '../cloud/cloud-network.ts';
import type { PacedClock } from '../cloud/paced-clock.ts';
import type { NetworkInterface } from '../cloud/records.ts';
import { type Moment, Timeline } from '../cloud/timeline.ts';
import type { MsRange } from '../cloud/topology-fields.ts';
import type {
  ArmInterface,
  ArmSubnet,
  Machine,
  PublicAddress,
  PublicIpPrefix,
  ScaleSet,
  VirtualNetwork,
} from './arm-records.ts';
import { ArmRefusal } from './arm-refusal.ts';
import type { ArmTopology } from './arm-topology-schema.ts';
import { type Operation, Operations } from './operations.ts';
import { givePublicAddresses } from './public-addresses.ts';
import { keyOf } from './resource-path.ts';

/** The view of a read. */
export interface ArmView {
  readonly scaleSets: Moment<ScaleSet>;
  readonly machines: Moment<Machine>;
  readonly interfaces: Moment<ArmInterface>;
}

export interface ModelWrite {
  readonly path: string;
  /** Paths of the fields that it drops or changes. */
  readonly lost: readonly string[];
  /** Whether it drops configurations. */
  readonly drops: boolean;
}

/** Zero times: this cloud's own are in the topology. */
const instant: MsRange = { min: 0, max: 0 };

export class ArmCloud {
  /** Addresses, and what every cloud's checks look at: interfaces with the addresses that are theirs. */
  readonly network: CloudNetwork;
  readonly clock: PacedClock;
  readonly location: string;
  readonly environment: string;
  readonly tenant: string;
  /** How it behaves; may change while it runs. */
  times: ArmTopology['times'];
  operationAnswers: ArmTopology['operations'];
  pageSize: number;
  /** Those that it has; all if empty. */
  readonly apiVersions: readonly string[];
  /** On all its interfaces together. */
  readonly configurationsPerMachine: number;
  respelled: number;
  readonly operations: Operations;
  /** Resource groups by subscription, each as it is spelled, by key. */
  readonly subscriptions = new Map<string, ReadonlyMap<string, string>>();
  readonly virtualNetworks = new Map<string, VirtualNetwork>();
  readonly subnets = new Map<string, ArmSubnet>();
  readonly publicIpPrefixes = new Map<string, PublicIpPrefix>();
  /** Addresses out of prefixes that configurations have. */
  readonly publicAddresses = new Map<string, PublicAddress>();
  readonly scaleSets: Timeline<ScaleSet>;
  readonly machines: Timeline<Machine>;
  readonly interfaces: Timeline<ArmInterface>;
  /** Called for each PUT that replaces a model, before it changes anything. */
  onWrite: (write: ModelWrite) => void = () => undefined;
  readonly #ids: Random;
  readonly #delays: Random;

  constructor({
    topology,
    clock,
    random,
  }: {
    readonly topology: ArmTopology;
    readonly clock: PacedClock;
    readonly random: Random;
  }) {
    this.clock = clock;
    this.location = topology.location;
    this.environment = topology.environment;
    this.tenant = topology.tenant;
    this.times = topology.times;
    this.operationAnswers = topology.operations;
    this.pageSize = topology.pageSize;
    this.apiVersions = topology.apiVersions;
    this.configurationsPerMachine = topology.configurationsPerMachine;
    this.respelled = topology.respelled;
    this.operations = new Operations(() => clock.wall());
    this.#ids = random.fork('ids');
    this.#delays = random.fork('delays');
    const { reuse } = topology;
    // The records of the network are for checks; reads of this cloud see its own.
    const consistency = { ...topology.consistency, visibilityDelayMs: instant };
    this.network = new CloudNetwork({
      topology: {
        account: topology.subscriptions[0]?.id ?? '',
        region: topology.location,
        times: {
          attachMs: instant,
          detachMs: instant,
          startMs: instant,
          stopMs: instant,
          terminateMs: instant,
          terminatedVisibleMs: instant,
        },
        consistency,
        reuse,
      },
      clock,
      random: random.fork('network'),
    });
    const memory = (): number => this.network.consistency.listingLagMs.max;
    const options = { now: () => (this.network.started ? clock.monotonic() : -Infinity), memory };
    this.scaleSets = new Timeline(options);
    this.machines = new Timeline(options);
    this.interfaces = new Timeline(options);
  }

  /** The records as they were `lag` ms ago. */
  view(lag: number): ArmView {
    const time = this.clock.monotonic() - lag;
    return {
      scaleSets: this.scaleSets.at(time),
      machines: this.machines.at(time),
      interfaces: this.interfaces.at(time),
    };
  }

  /** Begins an operation on the resource of a path. */
  beginOperation(path: string, provider: string): Operation {
    return this.operations.beginOperation({
      id: this.newGuid(),
      provider,
      subscription: path.split('/')[2] ?? '',
      resourceId: keyOf(path),
    });
  }

  newGuid(): string {
    return this.#ids.uuid();
  }

  newEtag(): string {
    return `W/"${this.#ids.uuid()}"`;
  }

  /** Azure's own range of MAC addresses. */
  newMac(): string {
    return `00-0D-3A${this.#ids.hex(6).toUpperCase().replace(/../g, '-$&')}`;
  }

  /** Runs `action` after a time drawn from `range`; at once if that is zero. */
  after(range: MsRange, action: () => void): void {
    const delay = range.min + this.#delays.next() * (range.max - range.min);
    if (delay === 0) action();
    else this.clock.schedule(delay, action);
  }

  subnet(path: string): ArmSubnet | undefined {
    return this.subnets.get(keyOf(path));
  }

  /** The machine, which must exist. */
  machine(id: string): Machine {
    const machine = this.machines.current.get(id);
    if (machine === undefined) throw new Error(`no such machine: ${id}`);
    return machine;
  }

  interfacesOf(machine: Machine): readonly ArmInterface[] {
    return machine.interfaceIds.flatMap((id) => this.interfaces.current.get(id) ?? []);
  }

  /** Writes an interface, and what of it is true for the network: the addresses that belong to it. */
  putInterface(record: ArmInterface): void {
    this.interfaces.put(record);
    this.network.put('interfaces', this.#inNetwork(record));
    givePublicAddresses(this, record);
  }

  deleteInterface(record: ArmInterface): void {
    this.interfaces.delete(record.id);
    this.network.delete('interfaces', record.id);
    givePublicAddresses(this, { ...record, configurations: [] });
  }

  #inNetwork(record: ArmInterface): NetworkInterface {
    const { configurations } = record;
    const own = configurations.filter(({ state }) => state === 'Succeeded');
    const subnetId = configurations[0]?.subnetId ?? '';
    return {
      ...unusedHere,
      id: record.id,
      subnetId,
      vpcId: this.subnets.get(subnetId)?.networkId ?? '',
      ...this.#attachmentOf(record),
      primaryAddress: configurations.find(({ isPrimary }) => isPrimary)?.address ?? '',
      addresses: own.flatMap(({ address }) => address ?? []),
      description: record.name,
      mac: record.mac,
    };
  }

  #attachmentOf({ id, machineId }: ArmInterface): Pick<NetworkInterface, 'status' | 'attachment'> {
    if (machineId === undefined) return { status: 'available' };
    const machine = this.machines.current.get(machineId);
    const deviceIndex = machine?.interfaceIds.indexOf(id) ?? 0;
    const shared = { instanceId: machineId, deviceIndex };
    const attachTime = machine?.made ?? 0;
    const more = { cardIndex: 0, status: 'attached', attachTime, deleteOnTermination: true } as const;
    return { status: 'in-use', ...shared, attachment: { id, ...shared, ...more } };
  }
}

/** Members that interfaces of other clouds have and these do not. */
const unusedHere = {
  zone: '',
  type: 'interface',
  prefixes: [],
  ipv6Addresses: [],
  ipv6Prefixes: [],
  groupIds: [],
  sourceDestCheck: true,
  requesterManaged: false,
  tags: {},
} as const;

/** The refusal of a body with an id that names nothing. */
export function invalidReference(path: string, by: string): ArmRefusal {
  return new ArmRefusal(
    'InvalidResourceReference',
    `Resource ${path} referenced by resource ${by} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.`,
    400,
  );
}
