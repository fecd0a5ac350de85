// The state of one cloud network: every record, every subnet's addresses, and the recent past. It keeps
// records and addresses consistent; the files beside it hold the rules for changes. It never waits and has no
// I/O: what takes time is an action on the clock.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { AddressSpace } from './address-space.ts';
import { CloudRefusal } from './cloud-refusal.ts';
import { type CloudRules, ec2Rules } from './cloud-rules.ts';
import { parseIpv4Block } from './ipv4.ts';
import { parseIpv6Block } from './ipv6.ts';
import { Ipv6Space } from './ipv6-space.ts';
import type { Instance, NetworkInterface, RecordKind, Records, Subnet } from './records.ts';
import { type Moment, Timeline } from './timeline.ts';
import type { MsRange } from './topology-fields.ts';
import type { Topology } from './topology-schema.ts';

export interface CloudNetworkOptions {
  readonly topology: Pick<Topology, 'account' | 'region' | 'times' | 'consistency' | 'reuse'>;
  readonly clock: Clock;
  readonly random: Random;
  /** EC2's if absent. */
  readonly rules?: CloudRules;
}

/** The records at one instant, without those not visible yet. */
export type NetworkView = <K extends RecordKind>(kind: K) => Moment<Records[K]>;

type Timelines = { readonly [K in RecordKind]: Timeline<Records[K]> };

/** One cloud network. `interfaces`, `instances` and `subnets` are its true current state, for invariant checks. */
export class CloudNetwork {
  readonly account: string;
  readonly region: string;
  readonly clock: Clock;
  readonly rules: CloudRules;
  /** How long operations take and how far reads lag. May change while the cloud runs. */
  times: Topology['times'];
  consistency: Topology['consistency'];
  readonly #random: Random;
  readonly #ids: Random;
  readonly #delays: Random;
  readonly #reuse: number;
  readonly #timelines: Timelines;
  readonly #spaces = new Map<string, AddressSpace>();
  readonly #ipv6Spaces = new Map<string, Ipv6Space>();
  /** When each new, still hidden record becomes visible. */
  readonly #visibleFrom = new Map<string, number>();
  /** Called on every change of an interface, for invariant checks. */
  onInterface: (before: NetworkInterface | undefined, after: NetworkInterface | undefined) => void = () =>
    undefined;
  #started = false;

  /** An empty network. Everything added before `beginTime` counts as always present. */
  constructor({ topology, clock, random, rules = ec2Rules }: CloudNetworkOptions) {
    this.account = topology.account;
    this.region = topology.region;
    this.times = topology.times;
    this.consistency = topology.consistency;
    this.clock = clock;
    this.rules = rules;
    this.#reuse = topology.reuse;
    this.#random = random.fork('addresses');
    this.#ids = random.fork('ids');
    this.#delays = random.fork('delays');
    const options = {
      now: () => (this.#started ? clock.monotonic() : -Infinity),
      memory: () => this.consistency.listingLagMs.max,
    };
    this.#timelines = {
      vpcs: new Timeline(options),
      subnets: new Timeline(options),
      reservations: new Timeline(options),
      routeTables: new Timeline(options),
      groups: new Timeline(options),
      publicAddresses: new Timeline(options),
      instances: new Timeline(options),
      interfaces: new Timeline(options),
    };
  }

  get interfaces(): ReadonlyMap<string, NetworkInterface> {
    return this.all('interfaces');
  }

  get instances(): ReadonlyMap<string, Instance> {
    return this.all('instances');
  }

  get subnets(): ReadonlyMap<string, Subnet> {
    return this.all('subnets');
  }

  /** From now on changes have a time, and new records become visible with a delay. */
  beginTime(): void {
    this.#started = true;
  }

  get started(): boolean {
    return this.#started;
  }

  /** The records that truly exist now. */
  all<K extends RecordKind>(kind: K): ReadonlyMap<string, Records[K]> {
    return this.#timelines[kind].current;
  }

  /** The record with that id; refuses if it does not exist or is not visible yet. */
  find<K extends RecordKind>(kind: K, id: string): Records[K] {
    const record = this.all(kind).get(id);
    if (record === undefined || this.#hidden(id))
      throw new CloudRefusal({ kind: 'notFound', what: kind, id });
    return record;
  }

  /** Adds or replaces a record. A new one stays hidden for the configured time. */
  put<K extends RecordKind>(kind: K, record: Records[K]): void {
    const timeline: Timeline<Records[K]> = this.#timelines[kind];
    if (this.#started && !timeline.current.has(record.id)) this.#hide(record.id);
    const before = this.interfaces.get(record.id);
    timeline.put(record);
    if (kind === 'interfaces') this.onInterface(before, this.interfaces.get(record.id));
  }

  delete(kind: RecordKind, id: string): void {
    const before = this.interfaces.get(id);
    this.#timelines[kind].delete(id);
    if (kind === 'interfaces') this.onInterface(before, undefined);
  }

  /** The records as they were `lag` ms ago. */
  view(lag: number): NetworkView {
    const time = this.clock.monotonic() - lag;
    return <K extends RecordKind>(kind: K) => {
      const timeline: Timeline<Records[K]> = this.#timelines[kind];
      return this.#visible(timeline.at(time));
    };
  }

  /** A new id: the prefix, a dash and 17 hexadecimal digits. */
  newId(prefix: string): string {
    return `${prefix}-0${this.#ids.hex(16)}`;
  }

  /** A locally administered MAC address. */
  newMac(): string {
    return `02:${this.#ids.hex(10).replace(/..(?=.)/g, '$&:')}`;
  }

  draw(range: MsRange): number {
    return range.min + this.#delays.next() * (range.max - range.min);
  }

  /** Runs `action` after a time drawn from `range`; at once if that is zero or before `beginTime`. */
  after(range: MsRange, action: () => void): void {
    const delay = this.#started ? this.draw(range) : 0;
    if (delay === 0) action();
    else this.clock.schedule(delay, action);
  }

  /** Adds a subnet with all its addresses free. */
  addSubnet(subnet: Omit<Subnet, 'available'>): Subnet {
    const block = parseIpv4Block(subnet.block);
    if (block === undefined) throw new Error(`not a block: ${subnet.block}`);
    const { reservedOffsets } = this.rules;
    const random = this.#random.fork(subnet.id);
    const space = new AddressSpace({ block, random, reuse: this.#reuse, reservedOffsets });
    this.#spaces.set(subnet.id, space);
    const ipv6 = subnet.ipv6Block && parseIpv6Block(subnet.ipv6Block.block);
    if (ipv6 !== undefined) {
      this.#ipv6Spaces.set(subnet.id, new Ipv6Space(ipv6, this.#random.fork(`${subnet.id}/ipv6`)));
    }
    const record = { ...subnet, available: space.available };
    this.put('subnets', record);
    return record;
  }

  /** The addresses of a subnet. After taking or releasing some, call `recount`. */
  space(subnetId: string): AddressSpace {
    const space = this.#spaces.get(subnetId);
    if (space === undefined) throw new CloudRefusal({ kind: 'notFound', what: 'subnets', id: subnetId });
    return space;
  }

  ipv6Space(subnetId: string): Ipv6Space | undefined {
    return this.#ipv6Spaces.get(subnetId);
  }

  /** Writes the number of available addresses into the subnet's record. */
  recount(subnetId: string): void {
    const subnet = this.all('subnets').get(subnetId);
    const { available } = this.space(subnetId);
    if (subnet !== undefined && subnet.available !== available) this.put('subnets', { ...subnet, available });
  }

  /** Everything that exists, as plain data in a fixed order. */
  snapshot(): Record<string, unknown> {
    const sorted = (kind: RecordKind): unknown[] =>
      [...this.all(kind).values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return {
      account: this.account,
      region: this.region,
      vpcs: sorted('vpcs'),
      subnets: sorted('subnets'),
      reservations: sorted('reservations'),
      routeTables: sorted('routeTables'),
      groups: sorted('groups'),
      publicAddresses: sorted('publicAddresses'),
      instances: sorted('instances'),
      interfaces: sorted('interfaces'),
    };
  }

  #hide(id: string): void {
    const delay = this.draw(this.consistency.visibilityDelayMs);
    if (delay === 0) return;
    this.#visibleFrom.set(id, this.clock.monotonic() + delay);
    this.clock.schedule(delay, () => this.#visibleFrom.delete(id));
  }

  #hidden(id: string): boolean {
    return (this.#visibleFrom.get(id) ?? -Infinity) > this.clock.monotonic();
  }

  #visible<T extends { readonly id: string }>(moment: Moment<T>): Moment<T> {
    if (this.#visibleFrom.size === 0) return moment;
    const hidden = (id: string): boolean => this.#hidden(id);
    return {
      get: (id) => (hidden(id) ? undefined : moment.get(id)),
      *after(cursor) {
        for (const record of moment.after(cursor)) {
          if (!hidden(record.id)) yield record;
        }
      },
    };
  }
}
