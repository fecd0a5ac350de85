// Reads detached interfaces from ECS. Its result may be deleted, so it verifies that the server applied the filters, and
// skips what cannot be parsed.
import type { CallContext, DetachedScope, ObservedDetached } from '../contract/cloud.ts';
import { detachedAmong, requireTags } from '../reading/plausible.ts';
import { holderOf, requestTags, tryRead } from './network-interface.ts';
import { interfacePage } from './read.ts';
import type { ShownNetworkInterface } from './rpc-api.ts';
import type { RpcClient } from './rpc-client.ts';

export async function readDetached(
  client: RpcClient,
  scope: DetachedScope,
  context: CallContext,
): Promise<ObservedDetached> {
  const { tags, networkId, ids } = scope;
  requireTags(scope);
  const input = {
    status: 'Available',
    tag: requestTags(tags),
    maxResults: interfacePage,
    ...(networkId !== undefined && { vpcId: networkId }),
    ...(ids !== undefined && { networkInterfaceId: ids }),
  };
  const { startedAt, items } = await client.list('DescribeNetworkInterfaces', input, context);
  return { startedAt, interfaces: detachedAmong(items.filter(isDetached).map(tryRead), scope) };
}

function isDetached(shown: ShownNetworkInterface): boolean {
  return holderOf(shown) === undefined && shown.status === 'Available';
}
