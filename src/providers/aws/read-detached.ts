// Reads detached interfaces from EC2. Its result may be deleted, so it verifies that the server applied the
// filters, and skips what cannot be parsed.
import type { CallContext, DetachedScope, ObservedDetached } from '../contract/cloud.ts';
import { detachedAmong, requireTags } from '../reading/plausible.ts';
import type { Ec2Client } from './ec2-client.ts';
import type { Ec2NetworkInterface, Filter } from './ec2-api.ts';
import { tryRead } from './network-interface.ts';
import { literalFiltersOf } from './read-list.ts';

export async function readDetached(
  client: Ec2Client,
  scope: DetachedScope,
  pageSize: number,
  context: CallContext,
): Promise<ObservedDetached> {
  const { tags, networkId, ids } = scope;
  requireTags(scope);
  const filters: Filter[] = [
    { Name: 'status', Values: ['available'] },
    ...literalFiltersOf(tags),
    ...(networkId === undefined ? [] : [{ Name: 'vpc-id', Values: [networkId] }]),
    ...(ids === undefined ? [] : [{ Name: 'network-interface-id', Values: ids }]),
  ];
  const input = { Filters: filters, MaxResults: pageSize };
  const read = await client.list('DescribeNetworkInterfaces', input, context);
  const detached = read.items.filter(isDetached).map(tryRead);
  return { startedAt: read.startedAt, interfaces: detachedAmong(detached, scope) };
}

function isDetached({ Attachment, Status = 'available' }: Ec2NetworkInterface): boolean {
  return Attachment === undefined && Status === 'available';
}
