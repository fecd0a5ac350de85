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
import { isList, textsAt, valueAt } from '../../runtime/json.ts';
import { lists, type RpcAction, type RpcInput, type RpcOutput } from './rpc-api.ts';

type ModelClass = new (members: Record<string, unknown>) => dara.Model;

export interface RpcProduct {
  readonly name: 'ecs' | 'vpc';
  readonly version: string;
}

const ecs: RpcProduct = { name: 'ecs', version: '2014-05-26' };
const vpc: RpcProduct = { name: 'vpc', version: '2016-04-28' };

/** The product of each call, and the models of its request and of the body of its answer. */
const models: Readonly<Record<RpcAction, readonly [RpcProduct, ModelClass, ModelClass]>> = {
  AssignPrivateIpAddresses: [ecs, AssignPrivateIpAddressesRequest, AssignPrivateIpAddressesResponseBody],
  AttachNetworkInterface: [ecs, AttachNetworkInterfaceRequest, AttachNetworkInterfaceResponseBody],
  CreateNetworkInterface: [ecs, CreateNetworkInterfaceRequest, CreateNetworkInterfaceResponseBody],
  DeleteNetworkInterface: [ecs, DeleteNetworkInterfaceRequest, DeleteNetworkInterfaceResponseBody],
  DescribeInstances: [ecs, DescribeInstancesRequest, DescribeInstancesResponseBody],
  DescribeInstanceTypes: [ecs, DescribeInstanceTypesRequest, DescribeInstanceTypesResponseBody],
  DescribeNetworkInterfaces: [ecs, DescribeNetworkInterfacesRequest, DescribeNetworkInterfacesResponseBody],
  DescribeSecurityGroups: [ecs, DescribeSecurityGroupsRequest, DescribeSecurityGroupsResponseBody],
  UnassignPrivateIpAddresses: [
    ecs,
    UnassignPrivateIpAddressesRequest,
    UnassignPrivateIpAddressesResponseBody,
  ],
  DescribeVpcs: [vpc, DescribeVpcsRequest, DescribeVpcsResponseBody],
  DescribeVSwitches: [vpc, DescribeVSwitchesRequest, DescribeVSwitchesResponseBody],
};

export function productOf(action: RpcAction): RpcProduct {
  return models[action][0];
}

/** The parameters of a request by their names on the wire. */
export function parametersOf<A extends RpcAction>(
  action: A,
  input: RpcInput<A>,
  regionId: string,
): Readonly<Record<string, string>> {
  const [, Request] = models[action];
  // A request model sends only what it has a name for: instance types are not asked for by region.
  return openApi.default.query(new Request({ ...input, regionId }).toMap());
}

/**
 * Reads the body of an answer. If a member of a list item has another type than in the vendor's model, only the ids of
 * the item stay: the item exists, but cannot be used. Throws an UnreadableAnswer for any other deviation.
 */
export function outputOf<A extends RpcAction>(action: A, body: unknown): RpcOutput<A> {
  try {
    return cast(action, body);
  } catch (cause) {
    const readable = withReadableItems(action, body);
    if (readable !== undefined) return outputOf(action, readable);
    throw new UnreadableAnswer(`the answer has another form: ${(cause as Error).message}`, { cause });
  }
}

function cast<A extends RpcAction>(action: A, body: unknown): RpcOutput<A> {
  const [, , Body] = models[action];
  // The table holds the model of each action, which TypeScript cannot follow through a type parameter.
  return dara.cast(body, new Body({})) as RpcOutput<A>;
}

/** Undefined if no item of a list is the reason. */
function withReadableItems(action: RpcAction, body: unknown): unknown {
  const [wrapper = '', name = ''] = (action in lists ? lists[action as keyof typeof lists] : []).map(
    onTheWire,
  );
  const list = valueAt(body, wrapper, name);
  if (!isList(list)) return undefined;
  const isReadable = (item: unknown): boolean => {
    try {
      cast(action, { [wrapper]: { [name]: [item] } });
      return true;
    } catch {
      return false;
    }
  };
  const items = list.map((item) => (isReadable(item) ? item : idsIn(item)));
  if (items.every((item, index) => item === list[index])) return undefined;
  return { ...(body as object), [wrapper]: { [name]: items } };
}

function onTheWire(member: string): string {
  return member.charAt(0).toUpperCase() + member.slice(1);
}

function idsIn(item: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(textsAt(item)).filter(([name]) => name.endsWith('Id')));
}
