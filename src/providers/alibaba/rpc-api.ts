// The calls of ECS and VPC that Headwater sends, reduced to the members it sends and reads. The reader of an
// answer validates what it shows. Names are those of the vendor's models.
import type { ActionApi } from '../gate/action-client.ts';

export interface RequestTag {
  readonly key: string;
  readonly value: string;
}

/** Part of an answer, in which any member may be missing. */
type Shown<T> = { readonly [N in keyof T]?: T[N] | undefined };

/** A list, which answers wrap in an object with one member. */
type Wrapped<Name extends string, Item> = Shown<Record<Name, readonly Item[]>>;

type PublicAddress = Shown<{ publicIpAddress: string }>;

/** ECS names the members of a tag otherwise than VPC. */
export type ShownTag = Shown<{ tagKey: string; tagValue: string }>;

export type ShownAddress = Shown<{
  privateIpAddress: string;
  primary: boolean;
  associatedPublicIp: PublicAddress;
}>;

export type ShownNetworkInterface = Shown<{
  networkInterfaceId: string;
  status: string;
  type: string;
  macAddress: string;
  vpcId: string;
  vSwitchId: string;
  zoneId: string;
  instanceId: string;
  description: string;
  deleteOnRelease: boolean;
  serviceManaged: boolean;
  networkInterfaceTrafficMode: string;
  privateIpAddress: string;
  associatedPublicIp: PublicAddress;
  privateIpSets: Wrapped<'privateIpSet', ShownAddress>;
  ipv4PrefixSets: Wrapped<'ipv4PrefixSet', Shown<{ ipv4Prefix: string }>>;
  securityGroupIds: Wrapped<'securityGroupId', string>;
  tags: Wrapped<'tag', ShownTag>;
}>;

export type ShownInstance = Shown<{
  instanceId: string;
  status: string;
  networkInterfaces: Wrapped<'networkInterface', Shown<{ networkInterfaceId: string }>>;
}>;

export type ShownInstanceType = Shown<{
  instanceTypeId: string;
  eniQuantity: number;
  eniPrivateIpAddressQuantity: number;
}>;

export type ShownVSwitch = Shown<{
  vSwitchId: string;
  vSwitchName: string;
  vpcId: string;
  zoneId: string;
  cidrBlock: string;
  availableIpAddressCount: number;
  tags: Wrapped<'tag', Shown<{ key: string; value: string }>>;
}>;

export type ShownVpc = Shown<{
  vpcId: string;
  cidrBlock: string;
  secondaryCidrBlocks: Wrapped<'secondaryCidrBlock', string>;
}>;

export type ShownSecurityGroup = Shown<{
  securityGroupId: string;
  vpcId: string;
  tags: Wrapped<'tag', ShownTag>;
}>;

/** Pages that follow each other by a token. */
export interface TokenPage {
  readonly maxResults?: number;
  readonly nextToken?: string;
}

/** Pages that are numbered from 1. */
export interface NumberedPage {
  readonly pageNumber?: number;
  readonly pageSize?: number;
}

interface InVpc extends NumberedPage {
  readonly vpcId?: string;
}

/** A listing: `Lists` has the member of an answer that wraps its list. */
interface Listing<Input, Lists, Item> {
  input: Input;
  output: Shown<Lists & { nextToken: string; totalCount: number }>;
  item: Item;
}

export interface RpcCalls {
  DescribeNetworkInterfaces: Listing<
    TokenPage & {
      readonly vpcId?: string;
      readonly instanceId?: string;
      readonly networkInterfaceId?: readonly string[];
      readonly status?: string;
      readonly tag?: readonly RequestTag[];
    },
    { networkInterfaceSets: Wrapped<'networkInterfaceSet', ShownNetworkInterface> },
    ShownNetworkInterface
  >;
  DescribeInstances: Listing<
    TokenPage & {
      readonly vpcId?: string;
      /** A JSON list. */
      readonly instanceIds?: string;
      readonly tag?: readonly RequestTag[];
    },
    { instances: Wrapped<'instance', ShownInstance> },
    ShownInstance
  >;
  DescribeInstanceTypes: Listing<
    TokenPage & { readonly instanceTypes?: readonly string[] },
    { instanceTypes: Wrapped<'instanceType', ShownInstanceType> },
    ShownInstanceType
  >;
  DescribeSecurityGroups: Listing<
    TokenPage & { readonly vpcId?: string },
    { securityGroups: Wrapped<'securityGroup', ShownSecurityGroup> },
    ShownSecurityGroup
  >;
  DescribeVpcs: Listing<InVpc, { vpcs: Wrapped<'vpc', ShownVpc> }, ShownVpc>;
  DescribeVSwitches: Listing<InVpc, { vSwitches: Wrapped<'vSwitch', ShownVSwitch> }, ShownVSwitch>;
  CreateNetworkInterface: {
    input: {
      readonly vSwitchId: string;
      readonly securityGroupIds: readonly string[];
      readonly secondaryPrivateIpAddressCount?: number;
      readonly description: string;
      readonly deleteOnRelease: boolean;
      readonly tag: readonly RequestTag[];
      readonly clientToken: string;
    };
    output: ShownNetworkInterface;
  };
  AttachNetworkInterface: {
    input: { readonly instanceId: string; readonly networkInterfaceId: string };
    output: object;
  };
  DeleteNetworkInterface: {
    input: { readonly networkInterfaceId: string };
    output: object;
  };
  AssignPrivateIpAddresses: {
    input: {
      readonly networkInterfaceId: string;
      readonly secondaryPrivateIpAddressCount: number;
      readonly clientToken?: string;
    };
    output: Shown<{
      assignedPrivateIpAddressesSet: Shown<{
        networkInterfaceId: string;
        privateIpSet: Wrapped<'privateIpAddress', string>;
      }>;
    }>;
  };
  UnassignPrivateIpAddresses: {
    input: { readonly networkInterfaceId: string; readonly privateIpAddress: readonly string[] };
    output: object;
  };
}

export type RpcAction = keyof RpcCalls;
export type RpcInput<A extends RpcAction> = RpcCalls[A]['input'];
export type RpcOutput<A extends RpcAction> = RpcCalls[A]['output'];

export type RpcApi = ActionApi<RpcCalls>;

/** Where the answer to a listing has its list. */
export const lists = {
  DescribeInstances: ['instances', 'instance'],
  DescribeInstanceTypes: ['instanceTypes', 'instanceType'],
  DescribeNetworkInterfaces: ['networkInterfaceSets', 'networkInterfaceSet'],
  DescribeSecurityGroups: ['securityGroups', 'securityGroup'],
  DescribeVpcs: ['vpcs', 'vpc'],
  DescribeVSwitches: ['vSwitches', 'vSwitch'],
} as const satisfies { readonly [A in RpcAction]?: readonly [wrapper: keyof RpcOutput<A>, list: string] };

export type NumberedAction = 'DescribeVpcs' | 'DescribeVSwitches';
export type TokenAction = Exclude<keyof typeof lists, NumberedAction>;
