// The sight of each account on a VPC whose owner shares its subnets with ours (AWS RAM). The owner sees the VPC with its subnets,
// route tables and tags, and nothing that is ours. We see them without their tags
// (https://docs.aws.amazon.com/vpc/latest/userguide/vpc-share-limitations.html).
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import type { RecordKind, Records } from '../cloud/records.ts';
import type { ActionContext } from './action.ts';

/** The actions that the model answers to other accounts. */
export const answeredToOwners: ReadonlySet<string> = new Set([
  'DescribeRouteTables',
  'DescribeSubnets',
  'DescribeVpcs',
]);

/** The form in which an account sees a record; undefined if it does not see it. */
export type Sight<T> = 'everything' | ((record: T) => T | undefined);

export function sightOf<K extends RecordKind>(
  kind: K,
  { account, network }: Pick<ActionContext, 'account' | 'network'>,
): Sight<Records[K]> {
  const isOurs = account === network.account;
  if (isOurs && ![...network.all('vpcs').values()].some(({ owner }) => owner !== undefined))
    return 'everything';
  return (record) => {
    if (ownerOf(kind, record, network) === account) return record;
    return isOurs ? { ...record, tags: {} } : undefined;
  };
}

/** The account that owns a record: what is in a shared VPC belongs to those who made it, but for its own parts. */
export function ownerOf<K extends RecordKind>(kind: K, record: Records[K], network: CloudNetwork): string {
  const vpcId = vpcOf[kind]?.(record);
  const owner = vpcId === undefined ? undefined : network.all('vpcs').get(vpcId)?.owner;
  return owner ?? network.account;
}

/** The VPC that a record is a part of. */
const vpcOf: { readonly [K in RecordKind]?: (record: Records[K]) => string } = {
  vpcs: ({ id }) => id,
  subnets: ({ vpcId }) => vpcId,
  routeTables: ({ vpcId }) => vpcId,
};
