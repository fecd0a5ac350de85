// The port of what hands out the addresses of one family of a pool. An allocator knows which addresses are taken, not by whom.
import {
  type Cidr,
  cidrOf,
  contains,
  type Family,
  network,
  only,
  parseAddress,
} from '../../blocks/set/cidr.ts';
import type { Outcome } from '../ipam/ipam-error.ts';

/** Facts about an address that a pod's network may need. Empty outside the modes of clouds. */
export interface AddressDetails {
  /** The MAC address of the interface that has the address. */
  readonly mac?: string;
  readonly interfaceNumber?: string;
  readonly gateway?: string;
  /** Networks that the cloud routes itself. */
  readonly cidrs?: readonly string[];
  readonly skipsMasquerade?: boolean;
  /** The network of the gateway. */
  readonly subnet?: string;
}

/** The network of a pod's address, and the gateway that leads out of the network. */
export interface PodNetwork {
  /** Prefix length of the network that an address is in. */
  readonly length: number;
  /** In that network, and never an address of a pod; undefined: no address of it is left for one. */
  readonly gateway: bigint | undefined;
}

export interface NextRequest {
  readonly owner: string;
  /** 0: an address may be given. Others are given only if none of these is free, and of them the lowest first. */
  readonly rank: (address: bigint) => number;
}

export interface Allocator {
  readonly family: Family;
  /** Networks that its addresses come from, as text. */
  readonly cidrs: readonly string[];
  /** The address that the network sets aside as its gateway. */
  readonly router: bigint | undefined;
  /** The number of addresses, taken or free. */
  readonly capacity: bigint;
  readonly taken: number;
  covers(address: bigint): boolean;
  /** Takes this address. */
  allocate(address: bigint): Outcome<bigint>;
  allocateNext(request: NextRequest): Outcome<bigint>;
  /** Gives out no address of this network from now on. Addresses in it that are held stay held. */
  exclude(network: Cidr): void;
  /** Takes an address that is held already, whatever became of it. */
  restore(address: bigint): void;
  /** Frees an address; does nothing if it is free, or elsewhere. */
  release(address: bigint): void;
  details(address: bigint): AddressDetails;
  /** Undefined if nothing is known of the network. */
  networkOf(address: bigint): PodNetwork | undefined;
  /** `<taken>/<capacity> allocated`, with more where there is more. */
  status(): string;
}

/** The prefix length of every IPv6 subnet: https://www.rfc-editor.org/rfc/rfc4291#section-2.5.1 */
const ipv6SubnetLength = 64;

/**
 * The network of a single address. The status shows subnets of IPv4 alone; those of IPv6 have a length that is the same
 * everywhere, and a first address that means their routers.
 */
export function subnetOf(
  { subnet, gateway }: AddressDetails,
  family: Family,
  address: bigint,
): PodNetwork | undefined {
  if (family === 'ipv6')
    return { length: ipv6SubnetLength, gateway: network(family, address, ipv6SubnetLength).base };
  const cidr = cidrOf(subnet ?? '');
  const router = parseAddress(gateway ?? '');
  const isInside = cidr !== undefined && contains(cidr, only({ family, value: address }));
  return isInside && router?.family === family ? { length: cidr.length, gateway: router.value } : undefined;
}
