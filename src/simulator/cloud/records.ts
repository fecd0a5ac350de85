// The records of a cloud network, as plain immutable data. Times are wall-clock ms since the epoch; addresses
// and blocks are canonical text.
import type { ReservationType } from './address-space.ts';

export type Tags = Readonly<Record<string, string>>;

export interface Vpc {
  readonly id: string;
  /** The name, in clouds where it is not a tag. */
  readonly name?: string;
  /** Another account, which shares all subnets of it with ours; absent for our own. */
  readonly owner?: string;
  readonly blocks: readonly AssociatedBlock[];
  readonly ipv6Blocks: readonly AssociatedBlock[];
  readonly tags: Tags;
}

export interface AssociatedBlock {
  readonly associationId: string;
  readonly block: string;
}

export interface Subnet {
  readonly id: string;
  /** The name, in clouds where it is not a tag. */
  readonly name?: string;
  readonly vpcId: string;
  readonly zone: string;
  readonly block: string;
  readonly ipv6Block?: AssociatedBlock;
  /** The Outpost that contains it. */
  readonly outpost?: string;
  /** Addresses neither held nor reserved. */
  readonly available: number;
  readonly tags: Tags;
}

/** A part of a subnet reserved for explicit addresses or for prefixes. */
export interface BlockReservation {
  readonly id: string;
  readonly subnetId: string;
  readonly block: string;
  readonly type: ReservationType;
  readonly description: string;
  readonly tags: Tags;
}

export interface RouteTable {
  readonly id: string;
  readonly vpcId: string;
  readonly associations: readonly RouteTableAssociation[];
  readonly tags: Tags;
}

/**
 * An association without a subnet makes the table the main one of its VPC, which applies to every subnet without its own
 * table.
 */
export interface RouteTableAssociation {
  readonly id: string;
  readonly subnetId?: string;
}

export interface SecurityGroup {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly vpcId: string;
  readonly tags: Tags;
}

export interface PublicAddress {
  readonly id: string;
  readonly address: string;
  readonly association?: PublicAssociation;
  readonly tags: Tags;
}

export interface PublicAssociation {
  readonly id: string;
  readonly interfaceId: string;
  readonly privateAddress: string;
}

export type InstanceState = 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated';

export interface Instance {
  readonly id: string;
  readonly name?: string;
  readonly reservationId: string;
  readonly launchIndex: number;
  readonly type: string;
  readonly imageId: string;
  readonly state: InstanceState;
  readonly launchTime: number;
  readonly vpcId: string;
  readonly subnetId: string;
  readonly zone: string;
  /** Everything attached, attaching or detaching. */
  readonly interfaceIds: readonly string[];
  /** The primary interface's address; kept during termination. */
  readonly primaryAddress: string;
  readonly clientToken?: string;
  readonly tags: Tags;
}

export type InterfaceType = 'interface' | 'efa' | 'efa-only' | 'trunk' | 'branch';

export type AttachmentStatus = 'attaching' | 'attached' | 'detaching';

export interface Attachment {
  readonly id: string;
  readonly instanceId: string;
  readonly deviceIndex: number;
  readonly cardIndex: number;
  readonly status: AttachmentStatus;
  readonly attachTime: number;
  readonly deleteOnTermination: boolean;
}

export interface NetworkInterface {
  readonly id: string;
  readonly subnetId: string;
  readonly vpcId: string;
  readonly zone: string;
  readonly type: InterfaceType;
  readonly status: 'available' | 'in-use';
  readonly attachment?: Attachment;
  /** Copies of the attachment's values, for invariant checks. */
  readonly instanceId?: string;
  readonly deviceIndex?: number;
  readonly primaryAddress: string;
  /** Every single address, the primary one first. */
  readonly addresses: readonly string[];
  readonly prefixes: readonly string[];
  readonly ipv6Addresses: readonly string[];
  readonly ipv6Prefixes: readonly string[];
  readonly groupIds: readonly string[];
  readonly description: string;
  readonly mac: string;
  readonly sourceDestCheck: boolean;
  /** Created by another service of the cloud, such as a load balancer: its owner may not change it. */
  readonly requesterManaged: boolean;
  readonly life?: InterfaceLife;
  readonly tags: Tags;
}

/** The life of an interface, in clouds where creating and deleting one takes time and where it has a name. */
export interface InterfaceLife {
  readonly phase: 'creating' | 'ready' | 'deleting';
  readonly name: string;
  readonly createTime: number;
  /** Whether it is deleted with the instance that it is attached to. */
  readonly deleteOnRelease: boolean;
}

/** Every kind of record, by the name of its collection. */
export interface Records {
  readonly vpcs: Vpc;
  readonly subnets: Subnet;
  readonly reservations: BlockReservation;
  readonly routeTables: RouteTable;
  readonly groups: SecurityGroup;
  readonly publicAddresses: PublicAddress;
  readonly instances: Instance;
  readonly interfaces: NetworkInterface;
}

export type RecordKind = keyof Records;

/** The interface with another attachment, or with none. */
export function withAttachment(
  record: NetworkInterface,
  attachment: Attachment | undefined,
): NetworkInterface {
  const { attachment: _, instanceId: __, deviceIndex: ___, ...detached } = record;
  if (attachment === undefined) return { ...detached, status: 'available' };
  const { instanceId, deviceIndex } = attachment;
  return { ...detached, status: 'in-use', attachment, instanceId, deviceIndex };
}
