// The EC2 actions that Headwater calls, reduced to the members it sends and reads. What it reads, and how it is read, is in
// the shapes of answers. Names are EC2's own.
import type { ActionApi } from '../gate/action-client.ts';
import type * as shapes from './answer-shapes.ts';
import type { OutputOf, ReadBy } from './page-reader.ts';

export interface Filter {
  readonly Name: string;
  readonly Values: readonly string[];
}

export type Tag = ReadBy<typeof shapes.tag>;
export type Ec2Association = ReadBy<typeof shapes.association>;
export type Ec2NetworkInterface = ReadBy<typeof shapes.networkInterface>;
export type Ec2Attachment = ReadBy<typeof shapes.attachment>;
export type Ec2Subnet = ReadBy<typeof shapes.subnet>;
export type Ec2Vpc = ReadBy<typeof shapes.vpc>;
export type Ec2RouteTable = ReadBy<typeof shapes.routeTable>;
export type Ec2SecurityGroup = ReadBy<typeof shapes.securityGroup>;
export type Ec2InstanceType = ReadBy<typeof shapes.instanceType>;
export type Ec2Instance = ReadBy<typeof shapes.instance>;
export type Ec2Address = ReadBy<typeof shapes.address>;

/** Input of a listing: filters, the page size, and the token of the previous page. */
export interface ListInput {
  readonly Filters?: readonly Filter[];
  readonly MaxResults?: number;
  readonly NextToken?: string | undefined;
}

interface Inputs {
  DescribeNetworkInterfaces: ListInput;
  DescribeAddresses: Pick<ListInput, 'Filters'>;
  DescribeSubnets: ListInput;
  DescribeVpcs: ListInput;
  DescribeRouteTables: ListInput;
  DescribeSecurityGroups: ListInput;
  DescribeInstanceTypes: ListInput;
  DescribeInstances: ListInput;
  GetSubnetCidrReservations: ListInput & { readonly SubnetId: string };
  CreateNetworkInterface: {
    readonly SubnetId: string;
    readonly Description: string;
    readonly Groups: readonly string[];
    readonly SecondaryPrivateIpAddressCount?: number;
    readonly Ipv4PrefixCount?: number;
    readonly Ipv6PrefixCount?: number;
    readonly ClientToken: string;
    readonly TagSpecifications?: readonly {
      readonly ResourceType: 'network-interface';
      readonly Tags: readonly Tag[];
    }[];
  };
  AttachNetworkInterface: {
    readonly NetworkInterfaceId: string;
    readonly InstanceId: string;
    readonly DeviceIndex: number;
    readonly NetworkCardIndex: number;
  };
  AssignPrivateIpAddresses: {
    readonly NetworkInterfaceId: string;
    readonly SecondaryPrivateIpAddressCount?: number;
    readonly Ipv4PrefixCount?: number;
  };
  AssignIpv6Addresses: { readonly NetworkInterfaceId: string; readonly Ipv6PrefixCount: number };
  UnassignPrivateIpAddresses: {
    readonly NetworkInterfaceId: string;
    readonly PrivateIpAddresses?: readonly string[];
    readonly Ipv4Prefixes?: readonly string[];
  };
  DetachNetworkInterface: { readonly AttachmentId: string };
  AssociateAddress: {
    readonly AllocationId: string;
    readonly NetworkInterfaceId: string;
    readonly AllowReassociation: false;
  };
  ModifyNetworkInterfaceAttribute: {
    readonly NetworkInterfaceId: string;
    readonly Attachment: { readonly AttachmentId: string; readonly DeleteOnTermination: boolean };
  };
  DeleteNetworkInterface: { readonly NetworkInterfaceId: string };
}

type Shapes = typeof shapes.answerShapes;

export type Ec2Action = keyof Shapes;
/** Actions that take DryRun. The SDK drops it from the input of others, which would then be carried out. */
export type DryRunAction = Exclude<Ec2Action, `${'Assign' | 'Unassign'}${string}`>;
export type ReadAction = Extract<Ec2Action, `${'Describe' | 'Get'}${string}`>;

export type Ec2Input<A extends Ec2Action> = Ec2Calls[A]['input'];
export type Ec2Output<A extends Ec2Action> = Ec2Calls[A]['output'];

/** Where the answer to a listing has its list. */
export type ListMember<A extends Ec2Action> = Exclude<keyof OutputOf<Shapes[A]>, 'NextToken'>;

type ItemOf<A extends Ec2Action> =
  NonNullable<OutputOf<Shapes[A]>[ListMember<A>]> extends readonly (infer T)[] ? T : never;

export type Ec2Calls = {
  readonly [A in Ec2Action]: {
    readonly input: Inputs[A];
    readonly output: OutputOf<Shapes[A]>;
    readonly item: ItemOf<A>;
  };
};

export type Ec2Api = ActionApi<Ec2Calls>;
