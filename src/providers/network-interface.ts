// A network interface as a cloud shows it, reduced to what all clouds have in common.
import { addressesOf } from './ipv4.ts';

/** Addresses of a prefix: the blocks that are delegated are /28. */
export const prefixSize = 16;

export interface NetworkInterface {
  readonly id: string;
  readonly description: string;
  /** The network whose addresses it has (a VPC); an address is unique in one network. */
  readonly networkId: string;
  readonly subnetId: string;
  readonly zone: string;
  readonly mac: string;
  readonly primaryAddress: string;
  readonly publicAddress: string | undefined;
  /** Secondary addresses; members of prefixes are not repeated here. */
  readonly addresses: readonly string[];
  /** Delegated blocks, as `a.b.c.d/28`. */
  readonly prefixes: readonly string[];
  readonly securityGroupIds: readonly string[];
  readonly tags: Tags;
  /** What keeps pods off it whatever the node's options say ("efa", "trunk", "requester-managed", ...). */
  readonly reservedFor: string | undefined;
  readonly attachment: Attachment | undefined;
}

export interface Attachment {
  readonly id: string;
  readonly instanceId: string;
  readonly deviceIndex: number;
  readonly networkCard: number;
  readonly state: 'attaching' | 'attached' | 'detaching';
  readonly deleteOnTermination: boolean;
}

/** Whether it holds the address: as its own, as a secondary one, or in a prefix. */
export function hasAddress(item: NetworkInterface, address: string): boolean {
  const { primaryAddress, addresses, prefixes } = item;
  if (address === primaryAddress || addresses.includes(address)) return true;
  return prefixes.some((prefix) => addressesOf(prefix).includes(address));
}

export type Tags = Readonly<Record<string, string>>;

/** Whether `tags` carry every key and value of `required`; nothing required matches anything. */
export function carries(tags: Tags, required: Tags): boolean {
  return Object.entries(required).every(([key, value]) => tags[key] === value);
}

/** Its primary address, the others, and its prefixes. */
export function allOn({ primaryAddress, addresses, prefixes }: NetworkInterface): readonly string[] {
  return [primaryAddress, ...addresses, ...prefixes];
}

/** All addresses of a prefix, or the one that it is. */
export function addressesIn(holding: string): readonly string[] {
  return holding.includes('/') ? addressesOf(holding) : [holding];
}
