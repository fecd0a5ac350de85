// Reads detached interfaces from ECS. Its result may be deleted, so it verifies that the server applied the filters, and
// skips what cannot be parsed.
import type { CallContext, DetachedScope, ObservedDetached } from '../contract/cloud.ts';
import type { NetworkInterface } from '../contract/network-interface.ts';
import { detachedAmong, requireTags } from '../reading/plausible.ts';
import { holderOf, requestTags, tryRead } from './network-interface.ts';
import { interfacePage } from './read.ts';
import type { ShownNetworkInterface } from './rpc-api.ts';
import { listed, type RpcClient } from './rpc-client.ts';

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
  const interfaces: NetworkInterface[] = [];
  let first: number | undefined;
  for await (const { startedAt, output } of client.pages('DescribeNetworkInterfaces', input, context)) {
    first ??= startedAt;
    const page = listed('DescribeNetworkInterfaces', output.networkInterfaceSets?.networkInterfaceSet);
    interfaces.push(...detachedAmong(page.filter(isDetached).map(tryRead), scope));
  }
  return { startedAt: first ?? 0, interfaces };
}

function isDetached(shown: ShownNetworkInterface): boolean {
  return holderOf(shown) === undefined && shown.status === 'Available';
}
