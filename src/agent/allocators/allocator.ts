// The port of what hands out the addresses of one family of a pool. An allocator knows which addresses are taken, not by whom.
import type { Family } from '../../cidr/set/cidr.ts';
import type { Outcome } from '../ipam/ipam-error.ts';

/** What a pod's network may need to know of an address. Only clouds say more than nothing. */
export interface AddressDetails {
  /** Of the interface that has the address. */
  readonly mac?: string;
  readonly interfaceNumber?: string;
  readonly gateway?: string;
  /** What the network routes by itself. */
  readonly cidrs?: readonly string[];
  readonly skipsMasquerade?: boolean;
}

export interface NextRequest {
  readonly owner: string;
  /** Whether an address is given only if there is no other. */
  readonly isLast: (address: bigint) => boolean;
}

export interface Allocator {
  readonly family: Family;
  /** Networks that its addresses come from, as text. */
  readonly cidrs: readonly string[];
  /** Prefix length of the network that an address is in. */
  readonly prefixLength: number;
  /** The address that the network sets aside as its gateway. */
  readonly router: bigint | undefined;
  /** How many addresses it has, taken or free. */
  readonly capacity: bigint;
  readonly taken: number;
  covers(address: bigint): boolean;
  /** Takes this address. */
  allocate(address: bigint): Outcome<bigint>;
  allocateNext(request: NextRequest): Outcome<bigint>;
  /** Takes an address that is held already, or never given out, whatever became of it. */
  restore(address: bigint): void;
  /** Frees an address; does nothing if it is free, or elsewhere. */
  release(address: bigint): void;
  details(address: bigint): AddressDetails;
  /** `<taken>/<capacity> allocated`, with more where there is more. */
  status(): string;
}
