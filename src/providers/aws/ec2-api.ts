// The EC2 actions that Headwater calls, reduced to the members it sends and reads. All answer members are
// optional; the reader of an answer validates them. Names are EC2's own.
import type { Sending } from '../gate/cloud-call.ts';

export interface Filter {
  readonly Name: string;
  readonly Values: readonly string[];
}

export interface Tag {
  readonly Key?: string | undefined;
  readonly Value?: string | undefined;
}

/** Some EC2 emulators show an empty one instead of none. In a Wavelength Zone it holds a carrier address. */
export interface Ec2Association {
  readonly IpOwnerId?: string | undefined;
  readonly PublicIp?: string | undefined;
  readonly CarrierIp?: string | undefined;
}

export interface Ec2NetworkInterface {
  readonly NetworkInterfaceId?: string | undefined;
  readonly Description?: string | undefined;
  readonly VpcId?: string | undefined;
  readonly SubnetId?: string | undefined;
  readonly AvailabilityZone?: string | undefined;
  readonly MacAddress?: string | undefined;
  readonly PrivateIpAddress?: string | undefined;
  readonly PrivateIpAddresses?: readonly Ec2PrivateAddress[] | undefined;
  readonly Ipv6Addresses?: readonly { readonly Ipv6Address?: string | undefined }[] | undefined;
  readonly Ipv4Prefixes?: readonly { readonly Ipv4Prefix?: string | undefined }[] | undefined;
  readonly Ipv6Prefixes?: readonly { readonly Ipv6Prefix?: string | undefined }[] | undefined;
  readonly Groups?: readonly { readonly GroupId?: string | undefined }[] | undefined;
  readonly TagSet?: readonly Tag[] | undefined;
  readonly InterfaceType?: string | undefined;
  readonly RequesterManaged?: boolean | undefined;
  readonly Status?: string | undefined;
  readonly Association?: Ec2Association | undefined;
  readonly Attachment?: Ec2Attachment | undefined;
}

export interface Ec2PrivateAddress {
  readonly PrivateIpAddress?: string | undefined;
  readonly Primary?: boolean | undefined;
  readonly Association?: Ec2Association | undefined;
}

export interface Ec2Attachment {
  readonly AttachmentId?: string | undefined;
  readonly InstanceId?: string | undefined;
  readonly DeviceIndex?: number | undefined;
  readonly NetworkCardIndex?: number | undefined;
  readonly Status?: string | undefined;
  readonly DeleteOnTermination?: boolean | undefined;
}

export interface Ec2Subnet {
  readonly SubnetId?: string | undefined;
  readonly CidrBlock?: string | undefined;
  readonly Ipv6Native?: boolean | undefined;
  readonly VpcId?: string | undefined;
  readonly AvailabilityZone?: string | undefined;
  readonly AvailableIpAddressCount?: number | undefined;
  readonly Tags?: readonly Tag[] | undefined;
}

export interface Ec2Vpc {
  readonly VpcId?: string | undefined;
  readonly CidrBlock?: string | undefined;
  readonly CidrBlockAssociationSet?:
    | readonly {
        readonly CidrBlock?: string | undefined;
        readonly CidrBlockState?: { readonly State?: string | undefined } | undefined;
      }[]
    | undefined;
}

export interface Ec2RouteTable {
  readonly RouteTableId?: string | undefined;
  readonly VpcId?: string | undefined;
  readonly Associations?: readonly { readonly SubnetId?: string | undefined }[] | undefined;
}

export interface Ec2SecurityGroup {
  readonly GroupId?: string | undefined;
  readonly VpcId?: string | undefined;
  readonly Tags?: readonly Tag[] | undefined;
}

export interface Ec2InstanceType {
  readonly InstanceType?: string | undefined;
  readonly Hypervisor?: string | undefined;
  readonly BareMetal?: boolean | undefined;
  readonly NetworkInfo?:
    | {
        readonly MaximumNetworkInterfaces?: number | undefined;
        readonly Ipv4AddressesPerInterface?: number | undefined;
        readonly DefaultNetworkCardIndex?: number | undefined;
        readonly NetworkCards?:
          | readonly {
              readonly NetworkCardIndex?: number | undefined;
              readonly MaximumNetworkInterfaces?: number | undefined;
            }[]
          | undefined;
      }
    | undefined;
}

export interface Ec2Instance {
  readonly InstanceId?: string | undefined;
  readonly State?: { readonly Code?: number | undefined; readonly Name?: string | undefined } | undefined;
}

export interface Ec2Reservation {
  readonly Instances?: readonly Ec2Instance[] | undefined;
}

export interface Ec2Address {
  readonly AllocationId?: string | undefined;
  readonly AssociationId?: string | undefined;
  readonly PublicIp?: string | undefined;
  readonly NetworkInterfaceId?: string | undefined;
  readonly InstanceId?: string | undefined;
  readonly Tags?: readonly Tag[] | undefined;
}

interface Page {
  readonly NextToken?: string | undefined;
}

/** Input of a listing: filters, the page size, and the token of the previous page. */
export interface ListInput extends Page {
  readonly Filters?: readonly Filter[];
  readonly MaxResults?: number;
}

/** A call that lists items page by page, as a member of its answer. */
interface Listing<Member extends string, Item> {
  readonly input: ListInput;
  readonly output: Page & { readonly [M in Member]?: readonly Item[] | undefined };
}

/** Answer of a call that only confirms success. */
interface Done {
  readonly Return?: boolean | undefined;
}

export interface Ec2Actions {
  DescribeNetworkInterfaces: Listing<'NetworkInterfaces', Ec2NetworkInterface>;
  DescribeAddresses: {
    readonly input: Pick<ListInput, 'Filters'>;
    readonly output: { readonly Addresses?: readonly Ec2Address[] | undefined };
  };
  DescribeSubnets: Listing<'Subnets', Ec2Subnet>;
  DescribeVpcs: Listing<'Vpcs', Ec2Vpc>;
  DescribeRouteTables: Listing<'RouteTables', Ec2RouteTable>;
  DescribeSecurityGroups: Listing<'SecurityGroups', Ec2SecurityGroup>;
  DescribeInstanceTypes: Listing<'InstanceTypes', Ec2InstanceType>;
  DescribeInstances: Listing<'Reservations', Ec2Reservation>;
  CreateNetworkInterface: {
    readonly input: {
      readonly SubnetId: string;
      readonly Description: string;
      readonly Groups: readonly string[];
      readonly SecondaryPrivateIpAddressCount?: number;
      readonly Ipv4PrefixCount?: number;
      readonly ClientToken: string;
      readonly TagSpecifications?: readonly {
        readonly ResourceType: 'network-interface';
        readonly Tags: readonly Tag[];
      }[];
    };
    readonly output: { readonly NetworkInterface?: Ec2NetworkInterface | undefined };
  };
  AttachNetworkInterface: {
    readonly input: {
      readonly NetworkInterfaceId: string;
      readonly InstanceId: string;
      readonly DeviceIndex: number;
      readonly NetworkCardIndex: number;
    };
    readonly output: { readonly AttachmentId?: string | undefined };
  };
  AssignPrivateIpAddresses: {
    readonly input: {
      readonly NetworkInterfaceId: string;
      readonly SecondaryPrivateIpAddressCount?: number;
      readonly Ipv4PrefixCount?: number;
    };
    readonly output: {
      readonly NetworkInterfaceId?: string | undefined;
      readonly AssignedPrivateIpAddresses?:
        | readonly { readonly PrivateIpAddress?: string | undefined }[]
        | undefined;
      readonly AssignedIpv4Prefixes?: readonly { readonly Ipv4Prefix?: string | undefined }[] | undefined;
    };
  };
  UnassignPrivateIpAddresses: {
    readonly input: {
      readonly NetworkInterfaceId: string;
      readonly PrivateIpAddresses?: readonly string[];
      readonly Ipv4Prefixes?: readonly string[];
    };
    readonly output: Done;
  };
  DetachNetworkInterface: {
    readonly input: { readonly AttachmentId: string };
    readonly output: Done;
  };
  AssociateAddress: {
    readonly input: {
      readonly AllocationId: string;
      readonly NetworkInterfaceId: string;
      readonly AllowReassociation: false;
    };
    readonly output: { readonly AssociationId?: string | undefined };
  };
  ModifyNetworkInterfaceAttribute: {
    readonly input: {
      readonly NetworkInterfaceId: string;
      readonly Attachment: { readonly AttachmentId: string; readonly DeleteOnTermination: boolean };
    };
    readonly output: Done;
  };
  DeleteNetworkInterface: {
    readonly input: { readonly NetworkInterfaceId: string };
    readonly output: Done;
  };
}

export type Ec2Action = keyof Ec2Actions;
export type Ec2Input<A extends Ec2Action> = Ec2Actions[A]['input'];
export type Ec2Output<A extends Ec2Action> = Ec2Actions[A]['output'];

/**
 * Sends one request, once a slot is free, and parses its answer. It neither retries nor waits for rate
 * limits. Rejects with a CallError, or with what `onSend` threw.
 */
export interface Ec2Api {
  send<A extends Ec2Action>(action: A, input: Ec2Input<A>, sending: Sending): Promise<Ec2Output<A>>;
}
