// The rate limits of EC2 for an account and region, and its latencies. Sources: the EC2 developer guide
// (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html) and the latencies that operators report.
import type { Bucket } from '../floor.ts';

/** Buckets of the calls that a scale-up needs. */
export const buckets = {
  CreateNetworkInterface: { capacity: 100, refill: 5 },
  AttachNetworkInterface: { capacity: 50, refill: 5 },
  ModifyNetworkInterfaceAttribute: { capacity: 100, refill: 5 },
  AssignPrivateIpAddresses: { capacity: 100, refill: 5 },
} as const satisfies Record<string, Bucket>;

const reads = { capacity: 100, refill: 20 };
const readActions = [
  'DescribeAddresses',
  'DescribeInstances',
  'DescribeInstanceTypes',
  'DescribeNetworkInterfaces',
  'DescribeRouteTables',
  'DescribeSecurityGroups',
  'DescribeSubnets',
  'DescribeVpcs',
] as const;

/** Buckets of all calls that the controller makes. */
export const allBuckets: Readonly<Record<string, Bucket>> = {
  ...buckets,
  ...Object.fromEntries(readActions.map((action) => [action, reads])),
};

/** Means, in seconds. */
export const latencies = {
  CreateNetworkInterface: 1,
  AttachNetworkInterface: 0.74,
  ModifyNetworkInterfaceAttribute: 0.34,
  AssignPrivateIpAddresses: 0.5,
  DescribeNetworkInterfaces: 0.18,
} as const satisfies Record<string, number>;
