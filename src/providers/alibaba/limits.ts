// The rate limits of ECS and VPC, per account, region and action. The vendor shows them only in its quota centre; these are
// the ones that its own network plugin keeps (https://github.com/AliyunContainerService/terway). A call too many is refused
// until the minute ends.
import type { LimitSize, LimitSizes } from '../rate-limit/limit-key.ts';
import type { RpcAction } from './rpc-api.ts';

/** A second more: a call may arrive later than the one after it. */
function perMinute(max: number): LimitSize {
  return { kind: 'window', max, ms: 61_000 };
}

const sizes: Readonly<Record<RpcAction, LimitSize>> = {
  DescribeNetworkInterfaces: perMinute(800),
  DescribeInstances: perMinute(500),
  DescribeInstanceTypes: perMinute(400),
  DescribeSecurityGroups: perMinute(500),
  DescribeVpcs: perMinute(500),
  DescribeVSwitches: perMinute(300),
  CreateNetworkInterface: perMinute(500),
  AttachNetworkInterface: perMinute(500),
  DeleteNetworkInterface: perMinute(500),
  AssignPrivateIpAddresses: perMinute(400),
  UnassignPrivateIpAddresses: perMinute(400),
};

/** A limit for each action, under its name. */
export const alibabaLimits: LimitSizes = new Map(Object.entries(sizes));
