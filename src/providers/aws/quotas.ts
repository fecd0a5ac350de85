// EC2's token buckets per account, region and action, as AWS documents them
// (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html). Attach has no entry there and
// uses the default for mutating actions.
import type { BucketSize } from '../rate-limit/token-bucket.ts';
import type { Ec2Action } from './ec2-api.ts';

const reads: BucketSize = { capacity: 100, refill: 20 };
const mutating: BucketSize = { capacity: 50, refill: 5 };
const interfaceMutating: BucketSize = { capacity: 100, refill: 5 };

const quotas: Readonly<Record<Ec2Action, BucketSize>> = {
  DescribeAddresses: reads,
  DescribeInstances: reads,
  DescribeInstanceTypes: reads,
  DescribeNetworkInterfaces: reads,
  DescribeRouteTables: reads,
  DescribeSecurityGroups: reads,
  DescribeSubnets: reads,
  DescribeVpcs: reads,
  AssociateAddress: mutating,
  AttachNetworkInterface: mutating,
  AssignPrivateIpAddresses: interfaceMutating,
  CreateNetworkInterface: interfaceMutating,
  DeleteNetworkInterface: interfaceMutating,
  DetachNetworkInterface: interfaceMutating,
  ModifyNetworkInterfaceAttribute: interfaceMutating,
  UnassignPrivateIpAddresses: interfaceMutating,
};

export const quotaActions = Object.keys(quotas) as readonly Ec2Action[];

/** Our `share` of the buckets: the account has other users. `raised`: buckets that AWS changed for the account. */
export function ourQuotas(
  share: number,
  raised: ReadonlyMap<string, BucketSize>,
): ReadonlyMap<string, BucketSize> {
  return new Map(
    quotaActions.map((action) => {
      const { capacity, refill } = raised.get(action) ?? quotas[action];
      return [action, { capacity: capacity * share, refill: refill * share }];
    }),
  );
}
