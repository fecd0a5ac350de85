// The vendor's request and response models of the calls. They are imported one by one: the index of the SDK loads thousands
// of files. A request model knows how its members are named on the wire; a response model checks the types of an answer.
import { AssignPrivateIpAddressesRequest } from '@alicloud/ecs20140526/dist/models/AssignPrivateIpAddressesRequest.js';
import { AssignPrivateIpAddressesResponseBody } from '@alicloud/ecs20140526/dist/models/AssignPrivateIpAddressesResponseBody.js';
import { AttachNetworkInterfaceRequest } from '@alicloud/ecs20140526/dist/models/AttachNetworkInterfaceRequest.js';
import { AttachNetworkInterfaceResponseBody } from '@alicloud/ecs20140526/dist/models/AttachNetworkInterfaceResponseBody.js';
import { CreateNetworkInterfaceRequest } from '@alicloud/ecs20140526/dist/models/CreateNetworkInterfaceRequest.js';
import { CreateNetworkInterfaceResponseBody } from '@alicloud/ecs20140526/dist/models/CreateNetworkInterfaceResponseBody.js';
import { DeleteNetworkInterfaceRequest } from '@alicloud/ecs20140526/dist/models/DeleteNetworkInterfaceRequest.js';
import { DeleteNetworkInterfaceResponseBody } from '@alicloud/ecs20140526/dist/models/DeleteNetworkInterfaceResponseBody.js';
import { DescribeInstancesRequest } from '@alicloud/ecs20140526/dist/models/DescribeInstancesRequest.js';
import { DescribeInstancesResponseBody } from '@alicloud/ecs20140526/dist/models/DescribeInstancesResponseBody.js';
import { DescribeInstanceTypesRequest } from '@alicloud/ecs20140526/dist/models/DescribeInstanceTypesRequest.js';
import { DescribeInstanceTypesResponseBody } from '@alicloud/ecs20140526/dist/models/DescribeInstanceTypesResponseBody.js';
import { DescribeNetworkInterfacesRequest } from '@alicloud/ecs20140526/dist/models/DescribeNetworkInterfacesRequest.js';
import { DescribeNetworkInterfacesResponseBody } from '@alicloud/ecs20140526/dist/models/DescribeNetworkInterfacesResponseBody.js';
import { DescribeSecurityGroupsRequest } from '@alicloud/ecs20140526/dist/models/DescribeSecurityGroupsRequest.js';
import { DescribeSecurityGroupsResponseBody } from '@alicloud/ecs20140526/dist/models/DescribeSecurityGroupsResponseBody.js';
import { UnassignPrivateIpAddressesRequest } from '@alicloud/ecs20140526/dist/models/UnassignPrivateIpAddressesRequest.js';
import { UnassignPrivateIpAddressesResponseBody } from '@alicloud/ecs20140526/dist/models/UnassignPrivateIpAddressesResponseBody.js';
import { DescribeVpcsRequest } from '@alicloud/vpc20160428/dist/models/DescribeVpcsRequest.js';
import { DescribeVpcsResponseBody } from '@alicloud/vpc20160428/dist/models/DescribeVpcsResponseBody.js';
import { DescribeVSwitchesRequest } from '@alicloud/vpc20160428/dist/models/DescribeVswitchesRequest.js';
import { DescribeVSwitchesResponseBody } from '@alicloud/vpc20160428/dist/models/DescribeVswitchesResponseBody.js';
import openApi from '@alicloud/openapi-core/dist/utils.js';
import * as dara from '@darabonba/typescript';
import { UnreadableAnswer } from '../../network/bounded-body.ts';
import type { RpcAction, RpcInput, RpcOutput } from './rpc-api.ts';

type ModelClass = new (members: Record<string, unknown>) => dara.Model;

export interface RpcProduct {
  readonly name: 'ecs' | 'vpc';
  readonly version: string;
}

const ecs: RpcProduct = { name: 'ecs', version: '2014-05-26' };
const vpc: RpcProduct = { name: 'vpc', version: '2016-04-28' };

interface RpcModels {
  readonly product: RpcProduct;
  readonly Request: ModelClass;
  readonly Body: ModelClass;
}

const models: Readonly<Record<RpcAction, RpcModels>> = {
  AssignPrivateIpAddresses: {
    product: ecs,
    Request: AssignPrivateIpAddressesRequest,
    Body: AssignPrivateIpAddressesResponseBody,
  },
  AttachNetworkInterface: {
    product: ecs,
    Request: AttachNetworkInterfaceRequest,
    Body: AttachNetworkInterfaceResponseBody,
  },
  CreateNetworkInterface: {
    product: ecs,
    Request: CreateNetworkInterfaceRequest,
    Body: CreateNetworkInterfaceResponseBody,
  },
  DeleteNetworkInterface: {
    product: ecs,
    Request: DeleteNetworkInterfaceRequest,
    Body: DeleteNetworkInterfaceResponseBody,
  },
  DescribeInstances: { product: ecs, Request: DescribeInstancesRequest, Body: DescribeInstancesResponseBody },
  DescribeInstanceTypes: {
    product: ecs,
    Request: DescribeInstanceTypesRequest,
    Body: DescribeInstanceTypesResponseBody,
  },
  DescribeNetworkInterfaces: {
    product: ecs,
    Request: DescribeNetworkInterfacesRequest,
    Body: DescribeNetworkInterfacesResponseBody,
  },
  DescribeSecurityGroups: {
    product: ecs,
    Request: DescribeSecurityGroupsRequest,
    Body: DescribeSecurityGroupsResponseBody,
  },
  UnassignPrivateIpAddresses: {
    product: ecs,
    Request: UnassignPrivateIpAddressesRequest,
    Body: UnassignPrivateIpAddressesResponseBody,
  },
  DescribeVpcs: { product: vpc, Request: DescribeVpcsRequest, Body: DescribeVpcsResponseBody },
  DescribeVSwitches: { product: vpc, Request: DescribeVSwitchesRequest, Body: DescribeVSwitchesResponseBody },
};

export function productOf(action: RpcAction): RpcProduct {
  return models[action].product;
}

/** The parameters of a request by their names on the wire. */
export function parametersOf<A extends RpcAction>(
  action: A,
  input: RpcInput<A>,
  regionId: string,
): Readonly<Record<string, string>> {
  const { Request } = models[action];
  // A request model sends only what it has a name for: instance types are not asked for by region.
  return openApi.default.query(new Request({ ...input, regionId }).toMap());
}

/** Reads the body of an answer. Throws an UnreadableAnswer if a member has another type than in the vendor's model. */
export function outputOf<A extends RpcAction>(action: A, body: unknown): RpcOutput<A> {
  const { Body } = models[action];
  try {
    // The table holds the model of each action, which TypeScript cannot follow through a type parameter.
    return dara.cast(body, new Body({})) as RpcOutput<A>;
  } catch (cause) {
    throw new UnreadableAnswer(`the answer has another form: ${(cause as Error).message}`, { cause });
  }
}
