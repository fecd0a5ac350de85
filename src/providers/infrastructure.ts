// The network around the instances: subnets, networks, route tables, security groups. Read as a whole and replaced as
// a whole; never edited.
import type { CloudFailure } from './cloud-failure.ts';
import type { Tags } from './network-interface.ts';

export interface Subnet {
  readonly id: string;
  readonly cidr: string;
  readonly networkId: string;
  readonly zone: string;
  readonly tags: Tags;
  /** Addresses that the cloud said were free; what is really left to hand out is the subnet ledger's to say. */
  readonly freeAddresses: number;
  /** False when the options say that pods get no addresses of it. */
  readonly eligible: boolean;
}

export interface Network {
  readonly id: string;
  readonly primaryCidr: string;
  /** Further blocks of the network, the primary one left out. */
  readonly cidrs: readonly string[];
}

export interface RouteTable {
  readonly id: string;
  readonly networkId: string;
  /** Subnets associated explicitly. */
  readonly subnetIds: readonly string[];
}

export interface SecurityGroup {
  readonly id: string;
  readonly networkId: string;
  readonly tags: Tags;
}

export interface Infrastructure {
  /** The networks that were asked about: of others nothing is known, not even that they are empty. */
  readonly networkIds: ReadonlySet<string>;
  readonly subnets: ReadonlyMap<string, Subnet>;
  readonly networks: ReadonlyMap<string, Network>;
  readonly routeTables: readonly RouteTable[];
  readonly securityGroups: readonly SecurityGroup[];
  /** Why a part is empty that the cloud does not permit to read: who needs it must do without, nobody else. */
  readonly denied?: Readonly<Partial<Record<'routeTables' | 'securityGroups', CloudFailure>>>;
}

/** A part that the cloud showed and that could not be understood. */
export interface UnreadablePart {
  readonly what: 'subnet' | 'network' | 'route table' | 'security group';
  readonly id: string;
  readonly problem: string;
}

/** What is known of the network beyond the last reading of it. */
export type KnownNetwork = Pick<Infrastructure, 'subnets' | 'networks'>;

/**
 * A reading together with what was known before. What it does not show is not forgotten: agents have been told of it,
 * and interfaces may still be in it. Nothing new is asked of it.
 */
export function withMemory(read: Infrastructure, known: KnownNetwork): Infrastructure {
  const subnets = new Map(read.subnets);
  for (const [id, subnet] of known.subnets) {
    if (!subnets.has(id)) subnets.set(id, { ...subnet, freeAddresses: 0, eligible: false });
  }
  const networks = new Map([...known.networks, ...read.networks]);
  return { ...read, subnets, networks };
}

export const emptyInfrastructure: Infrastructure = {
  networkIds: new Set(),
  subnets: new Map(),
  networks: new Map(),
  routeTables: [],
  securityGroups: [],
};
