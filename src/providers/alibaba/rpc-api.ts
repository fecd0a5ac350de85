// The calls of ECS and VPC that Headwater sends, reduced to the members it sends and reads. All answer members are
// optional; the reader of an answer validates them. Names are those of the vendor's models.
import type { Sending } from '../gate/cloud-call.ts';

export interface RequestTag {
  readonly key: string;
  readonly value: string;
}

/** ECS names the members of a tag otherwise than VPC. */
export interface ShownTag {
  readonly tagKey?: string | undefined;
  readonly tagValue?: string | undefined;
}

export interface ShownAddress {
  readonly privateIpAddress?: string | undefined;
  readonly primary?: boolean | undefined;
  readonly associatedPublicIp?: { readonly publicIpAddress?: string | undefined } | undefined;
}

export interface ShownNetworkInterface {
  readonly networkInterfaceId?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly macAddress?: string | undefined;
  readonly vpcId?: string | undefined;
  readonly vSwitchId?: string | undefined;
  readonly zoneId?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly description?: string | undefined;
  readonly deleteOnRelease?: boolean | undefined;
  readonly serviceManaged?: boolean | undefined;
  readonly privateIpAddress?: string | undefined;
  readonly associatedPublicIp?: { readonly publicIpAddress?: string | undefined } | undefined;
  readonly privateIpSets?: { readonly privateIpSet?: readonly ShownAddress[] | undefined } | undefined;
  readonly ipv4PrefixSets?:
    | { readonly ipv4PrefixSet?: readonly { readonly ipv4Prefix?: string | undefined }[] | undefined }
    | undefined;
  readonly securityGroupIds?: { readonly securityGroupId?: readonly string[] | undefined } | undefined;
  readonly tags?: { readonly tag?: readonly ShownTag[] | undefined } | undefined;
}

export interface ShownInstance {
  readonly instanceId?: string | undefined;
  readonly status?: string | undefined;
  readonly networkInterfaces?:
    | {
        readonly networkInterface?:
          | readonly { readonly networkInterfaceId?: string | undefined }[]
          | undefined;
      }
    | undefined;
}

export interface ShownInstanceType {
  readonly instanceTypeId?: string | undefined;
  readonly eniQuantity?: number | undefined;
  readonly eniPrivateIpAddressQuantity?: number | undefined;
}

export interface ShownVSwitch {
  readonly vSwitchId?: string | undefined;
  readonly vpcId?: string | undefined;
  readonly zoneId?: string | undefined;
  readonly cidrBlock?: string | undefined;
  readonly availableIpAddressCount?: number | undefined;
  readonly tags?:
    | { readonly tag?: readonly { readonly key?: string; readonly value?: string }[] | undefined }
    | undefined;
}

export interface ShownVpc {
  readonly vpcId?: string | undefined;
  readonly cidrBlock?: string | undefined;
  readonly secondaryCidrBlocks?: { readonly secondaryCidrBlock?: readonly string[] | undefined } | undefined;
}

export interface ShownSecurityGroup {
  readonly securityGroupId?: string | undefined;
  readonly vpcId?: string | undefined;
  readonly tags?: { readonly tag?: readonly ShownTag[] | undefined } | undefined;
}

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

interface Calls {
  DescribeNetworkInterfaces: {
    input: TokenPage & {
      readonly vpcId?: string;
      readonly instanceId?: string;
      readonly networkInterfaceId?: readonly string[];
      readonly status?: string;
      readonly tag?: readonly RequestTag[];
    };
    output: {
      readonly networkInterfaceSets?:
        | { readonly networkInterfaceSet?: readonly ShownNetworkInterface[] | undefined }
        | undefined;
      readonly nextToken?: string | undefined;
    };
  };
  DescribeInstances: {
    input: TokenPage & {
      readonly vpcId?: string;
      /** A JSON list. */
      readonly instanceIds?: string;
      readonly tag?: readonly RequestTag[];
    };
    output: {
      readonly instances?: { readonly instance?: readonly ShownInstance[] | undefined } | undefined;
      readonly nextToken?: string | undefined;
    };
  };
  DescribeInstanceTypes: {
    input: TokenPage & { readonly instanceTypes?: readonly string[] };
    output: {
      readonly instanceTypes?:
        | { readonly instanceType?: readonly ShownInstanceType[] | undefined }
        | undefined;
      readonly nextToken?: string | undefined;
    };
  };
  DescribeSecurityGroups: {
    input: NumberedPage & { readonly vpcId?: string };
    output: {
      readonly securityGroups?:
        | { readonly securityGroup?: readonly ShownSecurityGroup[] | undefined }
        | undefined;
      readonly totalCount?: number | undefined;
    };
  };
  DescribeVpcs: {
    input: NumberedPage & { readonly vpcId?: string };
    output: {
      readonly vpcs?: { readonly vpc?: readonly ShownVpc[] | undefined } | undefined;
      readonly totalCount?: number | undefined;
    };
  };
  DescribeVSwitches: {
    input: NumberedPage & { readonly vpcId?: string };
    output: {
      readonly vSwitches?: { readonly vSwitch?: readonly ShownVSwitch[] | undefined } | undefined;
      readonly totalCount?: number | undefined;
    };
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
    output: {
      readonly assignedPrivateIpAddressesSet?:
        | {
            readonly networkInterfaceId?: string | undefined;
            readonly privateIpSet?: { readonly privateIpAddress?: readonly string[] | undefined } | undefined;
          }
        | undefined;
    };
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
 * Sends one request and parses its answer. It neither retries nor waits for rate limits. Rejects with a CallError, or
 * with what `onSend` threw.
 */
export interface RpcApi {
  send<A extends RpcAction>(action: A, input: RpcInput<A>, sending: Sending): Promise<RpcOutput<A>>;
}
