// The calls of ECS and VPC that Headwater sends, reduced to the members it sends and reads. The reader of an
// answer validates what it shows. Names are those of the vendor's models.
import type { Sending } from '../gate/cloud-call.ts';

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

interface Calls {
  DescribeNetworkInterfaces: {
    input: TokenPage & {
      readonly vpcId?: string;
      readonly instanceId?: string;
      readonly networkInterfaceId?: readonly string[];
      readonly status?: string;
      readonly tag?: readonly RequestTag[];
    };
    output: Shown<{
      networkInterfaceSets: Wrapped<'networkInterfaceSet', ShownNetworkInterface>;
      nextToken: string;
    }>;
  };
  DescribeInstances: {
    input: TokenPage & {
      readonly vpcId?: string;
      /** A JSON list. */
      readonly instanceIds?: string;
      readonly tag?: readonly RequestTag[];
    };
    output: Shown<{ instances: Wrapped<'instance', ShownInstance>; nextToken: string }>;
  };
  DescribeInstanceTypes: {
    input: TokenPage & { readonly instanceTypes?: readonly string[] };
    output: Shown<{ instanceTypes: Wrapped<'instanceType', ShownInstanceType>; nextToken: string }>;
  };
  DescribeSecurityGroups: {
    input: TokenPage & { readonly vpcId?: string };
    output: Shown<{ securityGroups: Wrapped<'securityGroup', ShownSecurityGroup>; nextToken: string }>;
  };
  DescribeVpcs: {
    input: InVpc;
    output: Shown<{ vpcs: Wrapped<'vpc', ShownVpc>; totalCount: number }>;
  };
  DescribeVSwitches: {
    input: InVpc;
    output: Shown<{ vSwitches: Wrapped<'vSwitch', ShownVSwitch>; totalCount: number }>;
  };
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

export type RpcAction = keyof Calls;
export type RpcInput<A extends RpcAction> = Calls[A]['input'];
export type RpcOutput<A extends RpcAction> = Calls[A]['output'];

/**
 * Sends one request and parses its answer, without retries and without waiting for rate limits. Rejects with a CallError,
 * or with the error that `onSend` threw.
 */
export interface RpcApi {
  send<A extends RpcAction>(action: A, input: RpcInput<A>, sending: Sending): Promise<RpcOutput<A>>;
}
