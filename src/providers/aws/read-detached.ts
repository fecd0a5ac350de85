// Reads from EC2 which interfaces are attached to nothing. What it shows may be deleted: that a server heeded the filters
// is checked, and what cannot be understood is left out.
import type { CallContext, DetachedScope, ObservedDetached } from '../allocation-implementation.ts';
import { carries } from '../network-interface.ts';
import type { Ec2Edge } from './ec2-edge.ts';
import type { Ec2NetworkInterface, Filter } from './ec2-api.ts';
import { readTags, tryRead } from './network-interface.ts';
import { filtersOf, readList } from './read.ts';

export async function readDetached(
  edge: Ec2Edge,
  scope: DetachedScope,
  pageSize: number,
  context: CallContext,
): Promise<ObservedDetached> {
  const { tags, networkId, ids } = scope;
  if (Object.keys(tags).length === 0) throw new RangeError('without tags, anybody would be asked for');
  const filters: Filter[] = [
    { Name: 'status', Values: ['available'] },
    ...filtersOf(tags),
    ...(networkId === undefined ? [] : [{ Name: 'vpc-id', Values: [networkId] }]),
    ...(ids === undefined ? [] : [{ Name: 'network-interface-id', Values: ids }]),
  ];
  const input = { Filters: filters, MaxResults: pageSize };
  const from = { edge, context };
  const read = await readList(from, 'DescribeNetworkInterfaces', 'NetworkInterfaces', input);
  const wanted = read.items.filter((shown) => isWanted(shown, scope));
  const interfaces = wanted.flatMap((shown) => {
    const found = tryRead(shown);
    return 'interface' in found ? [found.interface] : [];
  });
  return { begunAt: read.begunAt, interfaces };
}

function isWanted(shown: Ec2NetworkInterface, { tags, networkId, ids }: DetachedScope): boolean {
  return (
    shown.Attachment === undefined &&
    carries(readTags(shown.TagSet), tags) &&
    (networkId === undefined || shown.VpcId === networkId) &&
    (ids === undefined || ids.includes(shown.NetworkInterfaceId ?? ''))
  );
}
