// The network around the instances: subnets, networks, route tables, security groups. Read and replaced as a whole,
// never edited.
import type { CloudFailure } from './cloud-failure.ts';
import type { Tags } from './network-interface.ts';

export interface Subnet {
  readonly id: string;
  /** The name that people gave it, in clouds whose ids say nothing; absent without one. */
  readonly name?: string;
  readonly cidr: string;
  /** Further IPv4 blocks of the subnet, in clouds that give a subnet several. */
  readonly otherCidrs?: readonly string[];
  /** The IPv6 block of the subnet, from which IPv6 prefixes come; absent if there is none. */
  readonly ipv6Cidr?: string;
  readonly networkId: string;
  readonly zone: string;
  readonly tags: Tags;
  /** Free addresses as the cloud reported them. The subnet ledger decides how many can be requested. */
  readonly freeAddresses: number;
  /** False if the options exclude it for pod addresses. */
  readonly eligible: boolean;
}

/** A block of a subnet that its owner reserved. */
export interface SubnetReservation {
  readonly cidr: string;
  /** The only use of its addresses: whole prefixes, or addresses that a request names. Headwater names none. */
  readonly use: 'prefixes' | 'namedAddresses';
}

export interface Network {
  readonly id: string;
  readonly primaryCidr: string;
  /** Additional blocks of the network, without the primary one. */
  readonly cidrs: readonly string[];
}

export interface RouteTable {
  readonly id: string;
  readonly networkId: string;
  /** Explicitly associated subnets. */
  readonly subnetIds: readonly string[];
}

export interface SecurityGroup {
  readonly id: string;
  readonly networkId: string;
  readonly tags: Tags;
}

/** The part of a network that few nodes need. */
export type PartOfFew = 'routeTables' | 'securityGroups';

export interface Infrastructure {
  /** The networks that were read. Nothing is known of others, not even that they are empty. */
  readonly networkIds: ReadonlySet<string>;
  readonly subnets: ReadonlyMap<string, Subnet>;
  readonly networks: ReadonlyMap<string, Network>;
  readonly routeTables: readonly RouteTable[];
  readonly securityGroups: readonly SecurityGroup[];
  /** Why a part is empty, by network: the cloud denies reading it there. This affects only the nodes that need it. */
  readonly denied?: Readonly<Partial<Record<PartOfFew, ReadonlyMap<string, CloudFailure>>>>;
  /** Zones whose subnets could not be read this time, while others could, and why. */
  readonly unreadZones?: ReadonlyMap<string, CloudFailure>;
  /** Networks that our role may not read, while it may read others. */
  readonly unreadNetworks?: ReadonlyMap<string, CloudFailure>;
  /** Single subnets that could not be read this time, while others could, and why. */
  readonly unreadSubnets?: ReadonlyMap<string, CloudFailure>;
  /** Subnets that may have tags which were never read, and why. */
  readonly unreadTags?: ReadonlyMap<string, CloudFailure>;
}

/** A part that the cloud returned and that could not be parsed. */
export interface UnreadablePart {
  readonly what: 'subnet' | 'zone' | 'network' | 'account' | 'route table' | 'security group';
  readonly id: string;
  readonly problem: string;
}

/** The network as it is known in addition to its last read. */
export type KnownNetwork = Pick<Infrastructure, 'subnets' | 'networks' | 'unreadSubnets'>;

/**
 * Combines a read with what was known before. Keeps what the read does not show, because agents know it and
 * interfaces may be in it. Nothing new uses it, unless its zone could not be read. Security groups that could not be read are
 * still those that were.
 */
export function withMemory(
  read: Infrastructure,
  known: KnownNetwork & Partial<Pick<Infrastructure, 'securityGroups'>>,
): Infrastructure {
  const subnets = new Map(read.subnets);
  for (const [id, subnet] of known.subnets) {
    if (!subnets.has(id))
      subnets.set(id, isUnread(read, subnet) ? subnet : { ...subnet, freeAddresses: 0, eligible: false });
  }
  const networks = new Map([...known.networks, ...read.networks]);
  const unread = [read.denied?.securityGroups, read.unreadNetworks];
  const shown = new Set(read.securityGroups.map(({ id }) => id));
  const kept = (known.securityGroups ?? []).filter(
    ({ id, networkId }) => !shown.has(id) && unread.some((networks) => networks?.has(networkId)),
  );
  return { ...read, subnets, networks, securityGroups: [...read.securityGroups, ...kept] };
}

/** Whether a read says nothing about the subnet, because its network, its zone or itself could not be read. */
export function isUnread(
  {
    unreadNetworks,
    unreadZones,
    unreadSubnets,
  }: Pick<Infrastructure, `unread${'Networks' | 'Zones' | 'Subnets'}`>,
  { id, zone, networkId }: Pick<Subnet, 'id' | 'zone' | 'networkId'>,
): boolean {
  const unread = [unreadSubnets?.has(id), unreadZones?.has(zone), unreadNetworks?.has(networkId)];
  return unread.includes(true);
}

/** The known infrastructure, with news that have just been read: in these, new interfaces and addresses may be made. */
export function withNews(
  known: Infrastructure,
  { subnets, networks, unreadSubnets = new Map() }: KnownNetwork,
): Infrastructure {
  const stillUnread = [...(known.unreadSubnets ?? [])].filter(([id]) => !subnets.has(id));
  return {
    ...known,
    unreadSubnets: new Map([...stillUnread, ...unreadSubnets]),
    networkIds: new Set([...known.networkIds, ...networks.keys()]),
    subnets: new Map([...known.subnets, ...subnets]),
    networks: new Map([...known.networks, ...networks]),
  };
}

export const emptyInfrastructure: Infrastructure = {
  networkIds: new Set(),
  subnets: new Map(),
  networks: new Map(),
  routeTables: [],
  securityGroups: [],
};
