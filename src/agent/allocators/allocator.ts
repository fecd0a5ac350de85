// The port of what hands out the addresses of one family of a pool. An allocator knows which addresses are taken, not by whom.
import type { Family } from '../../cidr/set/cidr.ts';
import type { Outcome } from '../ipam/ipam-error.ts';

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
  allocateNext(): Outcome<bigint>;
  /** Frees an address; does nothing if it is free, or elsewhere. */
  release(address: bigint): void;
  /** `<taken>/<capacity> allocated from <network>` */
  status(): string;
}
