// Reads detached interfaces from ECS. Its result may be deleted, so it verifies that the server applied the filters, and
// skips what cannot be parsed.
import type { CallContext, DetachedScope, ObservedDetached } from '../contract/allocation-implementation.ts';
import { carries, type NetworkInterface } from '../contract/network-interface.ts';
import { holderOf, readTags, requestTags, tryRead } from './network-interface.ts';
import { interfacePage } from './read.ts';
import type { ShownNetworkInterface } from './rpc-api.ts';
import { listed, type RpcClient } from './rpc-client.ts';

export async function readDetached(
  client: RpcClient,
  scope: DetachedScope,
  context: CallContext,
): Promise<ObservedDetached> {
  const { tags, networkId, ids } = scope;
  if (Object.keys(tags).length === 0)
    throw new RangeError('without tags, the interfaces of others would be read');
  const input = {
    status: 'Available',
    tag: requestTags(tags),
    maxResults: interfacePage,
    ...(networkId !== undefined && { vpcId: networkId }),
    ...(ids !== undefined && { networkInterfaceId: ids }),
  };
  const interfaces: NetworkInterface[] = [];
  let first: number | undefined;
  for await (const { startedAt, output } of client.pages('DescribeNetworkInterfaces', input, context)) {
    first ??= startedAt;
    const page = listed('DescribeNetworkInterfaces', output.networkInterfaceSets?.networkInterfaceSet);
    interfaces.push(...page.filter((shown) => isWanted(shown, scope)).flatMap(readable));
  }
  return { startedAt: first ?? 0, interfaces };
}

function readable(shown: ShownNetworkInterface): readonly NetworkInterface[] {
  const read = tryRead(shown);
  return 'interface' in read ? [read.interface] : [];
}

function isWanted(shown: ShownNetworkInterface, { tags, networkId, ids }: DetachedScope): boolean {
  return (
    holderOf(shown) === undefined &&
    shown.status === 'Available' &&
    carries(readTags(shown.tags?.tag), tags) &&
    (networkId === undefined || shown.vpcId === networkId) &&
    (ids === undefined || ids.includes(shown.networkInterfaceId ?? ''))
  );
}
