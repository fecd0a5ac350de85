// EC2's token buckets per account, region and action, as AWS documents them
// (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html). Attach has no entry there and
// uses the default for mutating actions.
import type { LimitSize, LimitSizes } from '../rate-limit/limit-key.ts';
import type { Ec2Action } from './ec2-api.ts';

const reads: LimitSize = { kind: 'bucket', capacity: 100, refill: 20 };
const mutating: LimitSize = { kind: 'bucket', capacity: 50, refill: 5 };
const interfaceMutating: LimitSize = { kind: 'bucket', capacity: 100, refill: 5 };

const quotas: Readonly<Record<Ec2Action, LimitSize>> = {
  DescribeAddresses: reads,
  DescribeInstances: reads,
  DescribeInstanceTypes: reads,
  DescribeNetworkInterfaces: reads,
  DescribeRouteTables: reads,
  DescribeSecurityGroups: reads,
  DescribeSubnets: reads,
  DescribeVpcs: reads,
  GetSubnetCidrReservations: reads,
  AssignIpv6Addresses: mutating,
  AssociateAddress: mutating,
  AttachNetworkInterface: mutating,
  AssignPrivateIpAddresses: interfaceMutating,
  CreateNetworkInterface: interfaceMutating,
  DeleteNetworkInterface: interfaceMutating,
  DetachNetworkInterface: interfaceMutating,
  ModifyNetworkInterfaceAttribute: interfaceMutating,
  UnassignPrivateIpAddresses: interfaceMutating,
};

/** The documented limits: one of each action, under its name. */
export const ec2Limits: LimitSizes = new Map(Object.entries(quotas));
