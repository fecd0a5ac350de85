// A network interface as a cloud shows it, reduced to what all clouds have in common.
import { expandBlock } from './ipv4.ts';

/** Number of addresses in a prefix: delegated blocks are /28. */
export const prefixSize = 16;

export interface NetworkInterface {
  readonly id: string;
  readonly description: string;
  /** The network of its addresses (a VPC); an address is unique within one network. */
  readonly networkId: string;
  readonly subnetId: string;
  readonly zone: string;
  readonly mac: string;
  /** Empty if only its name is known: see `interfaceByName`. */
  readonly primaryAddress: string;
  /** Empty if it has one that is not known. */
  readonly publicAddress: string | undefined;
  /** Secondary addresses, without members of prefixes. */
  readonly addresses: readonly string[];
  /**
   * Secondary addresses that a release leaves, because something outside the cluster leads to them or others made them;
   * absent if there are none.
   */
  readonly associated?: readonly string[];
  /**
   * Secondary addresses that others made, or by which something outside the cluster reaches a pod, where the cloud tells them
   * from ours; absent if there are none.
   */
  readonly ofOthers?: readonly string[];
  /** Delegated blocks, as `a.b.c.d/28`. */
  readonly prefixes: readonly string[];
  /** Delegated IPv6 blocks of /80, as the cloud writes them, each held and shown whole; absent if there are none. */
  readonly ipv6Prefixes?: readonly string[];
  /** Single IPv6 addresses, which take the same places; absent if there are none. */
  readonly ipv6Addresses?: number;
  /** Why agents cannot use the IPv6 assignments of the interface; absent if they can, or if there are none. */
  readonly ipv6Problem?: string;
  readonly securityGroupIds: readonly string[];
  readonly tags: Tags;
  /** Why pods cannot use it, whatever the node's options say ("efa", "trunk", "requester-managed", ...). */
  readonly reservedFor: string | undefined;
  readonly attachment: Attachment | undefined;
  /** The only device index at which agents would know a detached interface again. */
  readonly slot?: number;
  /** The name of the interface, in clouds that give it one besides its id. */
  readonly name?: string;
  /**
   * Absent if the interface is ready. While an interface is changing, none of its addresses is newly offered or
   * withdrawn. A failed interface gets no more addresses.
   */
  readonly condition?: 'changing' | 'failed';
  /** Places of the interface that hold no IPv4 address, such as those with an address of IPv6; absent if there are none. */
  readonly placesTaken?: number;
  /** Subnets of addresses that are in another subnet than the interface. */
  readonly addressSubnets?: ReadonlyMap<string, string>;
}

export interface Attachment {
  readonly id: string;
  readonly instanceId: string;
  readonly deviceIndex: number;
  readonly networkCard: number;
  readonly state: 'attaching' | 'attached' | 'detaching';
  readonly deleteOnTermination: boolean;
}

/** Whether it holds the address: as primary, as secondary, or in a prefix. */
export function hasAddress(item: NetworkInterface, address: string): boolean {
  const { primaryAddress, addresses, prefixes, ipv6Prefixes } = item;
  if (address === primaryAddress || addresses.includes(address)) return true;
  if (ipv6Prefixes?.includes(address) === true) return true;
  return prefixes.some((prefix) => expandBlock(prefix).includes(address));
}

export type Tags = Readonly<Record<string, string>>;

/** Sorted by key: clouds show tags in any order, and equal tags must compare equal. */
export function sortedTags(
  tags: readonly (readonly [key: string | undefined, value?: string | undefined])[],
): Tags {
  const entries = tags.flatMap(([key, value = '']) => (key === undefined ? [] : [[key, value] as const]));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether `tags` contain every key and value of `required`; an empty `required` matches anything. */
export function carries(tags: Tags, required: Tags): boolean {
  return Object.entries(required).every(([key, value]) => tags[key] === value);
}

/** Assignments that a call can make to an interface: secondary addresses and prefixes of both families. */
export function secondaryAssignments({ addresses, prefixes, ipv6Prefixes }: Assignable): readonly string[] {
  return ipv6Prefixes === undefined
    ? [...addresses, ...prefixes]
    : [...addresses, ...prefixes, ...ipv6Prefixes];
}

type Assignable = Pick<NetworkInterface, 'addresses' | 'prefixes' | 'ipv6Prefixes'>;

/** The primary address, secondary addresses and prefixes of an interface. */
export function allAssignments(item: NetworkInterface): readonly string[] {
  return [item.primaryAddress, ...secondaryAssignments(item)];
}

/**
 * All addresses of a prefix, or the single address, IPv6 prefix or interface id itself. Ids of some clouds are paths. An IPv6
 * prefix has too many addresses to name, and is held, shown and lost as a whole.
 */
export function expandHolding(holding: string): readonly string[] {
  const isBlock = holding.includes('/') && !holding.startsWith('/') && !holding.includes(':');
  return isBlock ? expandBlock(holding) : [holding];
}

/** Whether it is the primary interface, which its instance keeps for life. */
export function isPrimaryInterface({ attachment }: NetworkInterface): boolean {
  return attachment !== undefined && isFirstSlot(attachment);
}

/** Where only a primary interface can be. */
export function isFirstSlot(slot: {
  readonly deviceIndex: number | undefined;
  readonly networkCard: number;
}): boolean {
  return slot.deviceIndex === 0 && slot.networkCard === 0;
}

/** An attachment of which nothing else is known. An index that is unknown, too, is Infinity. */
export function attachedTo(instanceId: string, deviceIndex = Infinity, id = ''): Attachment {
  return { id, instanceId, deviceIndex, networkCard: 0, state: 'attached', deleteOnTermination: true };
}

type KnownInterface = Pick<NetworkInterface, 'id' | 'networkId' | 'addresses' | 'attachment'>;

/** An interface of which nothing else is known. */
export function interfaceWith(known: KnownInterface & Partial<NetworkInterface>): NetworkInterface {
  return {
    description: '',
    subnetId: '',
    zone: '',
    mac: '',
    primaryAddress: '',
    publicAddress: undefined,
    prefixes: [],
    securityGroupIds: [],
    tags: {},
    reservedFor: undefined,
    ...known,
  };
}

/**
 * An interface that only a pool names, because the status beside that pool was lost. The interface stays until the cloud
 * shows it or proves that it is gone. None of its addresses is newly offered, and its device index is unknown.
 */
export function interfaceByName({
  instanceId,
  ...known
}: Omit<KnownInterface, 'attachment'> & { readonly instanceId: string }): NetworkInterface {
  return interfaceWith({ ...known, attachment: attachedTo(instanceId) });
}

export function isByName({ primaryAddress }: NetworkInterface): boolean {
  return primaryAddress === '';
}

/** The interface with only those addresses and prefixes that stay. */
export function onlyWith(record: NetworkInterface, stays: (holding: string) => boolean): NetworkInterface {
  return withAssignments(record, (holdings) => holdings.filter(stays));
}

/** The interface with what `change` makes of each kind of its secondary assignments. Without an IPv6 prefix it names none. */
export function withAssignments(
  item: NetworkInterface,
  change: (holdings: readonly string[], kind: keyof Assignable) => readonly string[],
): NetworkInterface {
  const { ipv6Prefixes = none, ...others } = item;
  const ofIpv6 = change(ipv6Prefixes, 'ipv6Prefixes');
  return {
    ...others,
    addresses: change(item.addresses, 'addresses'),
    prefixes: change(item.prefixes, 'prefixes'),
    ...(ofIpv6.length > 0 && { ipv6Prefixes: ofIpv6 }),
  };
}

const none: readonly string[] = [];

export interface PublicAddress {
  readonly id: string;
  /** Empty where the cloud chooses it when it is associated. */
  readonly address: string;
  /** Where the cloud chooses it: what it takes it from. If it refuses one, it refuses all. */
  readonly source?: string;
  readonly tags: Tags;
  /** Whether anything uses it. */
  readonly taken: boolean;
  /** The interface that uses it. Undefined if it is free or used by something without one of our interfaces. */
  readonly interfaceId: string | undefined;
}
