// The flags that give the controller the rate limits that the EC2 model keeps.
import { buckets } from '../floor.ts';

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

const all = { ...buckets, ...Object.fromEntries(readActions.map((action) => [action, reads])) };

/** All of the limits is ours; they are EC2's own times `scale`. */
export function quotaFlags(scale: number): readonly string[] {
  if (scale === 1) return ['--cloud-quota-share=1'];
  const overrides = Object.entries(all).map(
    ([action, { capacity, refill }]) => `${action}=${capacity * scale}:${refill * scale}`,
  );
  return ['--cloud-quota-share=1', `--cloud-quota-overrides=${overrides.join(',')}`];
}
