// Reads detached interfaces from EC2. Its result may be deleted, so it verifies that the server applied the
// filters, and skips what cannot be parsed.
import type { CallContext, DetachedScope, ObservedDetached } from '../contract/allocation-implementation.ts';
import { carries } from '../contract/network-interface.ts';
import type { Ec2Client } from './ec2-client.ts';
import type { Ec2NetworkInterface, Filter } from './ec2-api.ts';
import { readTags, tryRead } from './network-interface.ts';
import { literalFiltersOf, readList } from './read-list.ts';

export async function readDetached(
  client: Ec2Client,
  scope: DetachedScope,
  pageSize: number,
  context: CallContext,
): Promise<ObservedDetached> {
  const { tags, networkId, ids } = scope;
  if (Object.keys(tags).length === 0)
    throw new RangeError('without tags, the interfaces of others would be read');
  const filters: Filter[] = [
    { Name: 'status', Values: ['available'] },
    ...literalFiltersOf(tags),
    ...(networkId === undefined ? [] : [{ Name: 'vpc-id', Values: [networkId] }]),
    ...(ids === undefined ? [] : [{ Name: 'network-interface-id', Values: ids }]),
  ];
  const input = { Filters: filters, MaxResults: pageSize };
  const from = { client, context };
  const read = await readList(from, 'DescribeNetworkInterfaces', 'NetworkInterfaces', input);
  const wanted = read.items.filter((shown) => isWanted(shown, scope));
  const interfaces = wanted.flatMap((shown) => {
    const found = tryRead(shown);
    return 'interface' in found ? [found.interface] : [];
  });
  return { startedAt: read.startedAt, interfaces };
}

function isWanted(shown: Ec2NetworkInterface, { tags, networkId, ids }: DetachedScope): boolean {
  return (
    shown.Attachment === undefined &&
    (shown.Status ?? 'available') === 'available' &&
    carries(readTags(shown.TagSet), tags) &&
    (networkId === undefined || shown.VpcId === networkId) &&
    (ids === undefined || ids.includes(shown.NetworkInterfaceId ?? ''))
  );
}
