// Reads from ECS how many interfaces and addresses instance types can hold.
import type { CallContext } from '../contract/cloud.ts';
import type { InstanceLimits, UnreadableLimits } from '../contract/facts.ts';
import { unreadable } from '../contract/cloud-failure.ts';
import { allInParts } from '../reading/in-parts.ts';
import { isInstanceType } from './ids.ts';
import { maxIndex } from './network-interface.ts';
import { isAddressLimit, isInterfaceLimit, refuseRepeated } from '../reading/plausible.ts';
import type { ShownInstanceType } from './rpc-api.ts';
import type { RpcClient } from './rpc-client.ts';

/** The most instance types in a request. */
export const maxInstanceTypes = 10;

const action = 'DescribeInstanceTypes';

export async function readLimits(
  client: RpcClient,
  instanceTypes: readonly string[],
  context: CallContext,
): Promise<ReadonlyMap<string, InstanceLimits | UnreadableLimits>> {
  const asked = instanceTypes.filter(isInstanceType);
  const read = await allInParts(asked, maxInstanceTypes, async (part) => {
    const input = { instanceTypes: part, maxResults: 100 };
    const found = new Map<string | undefined, InstanceLimits | UnreadableLimits>();
    for await (const { items } of client.pages(action, input, context)) {
      refuseRepeated(action, items, ({ instanceTypeId }) => instanceTypeId);
      for (const shown of items) found.set(shown.instanceTypeId, limitsOf(shown));
    }
    // A type without a name may be any of those that are not shown.
    if (found.has(undefined) && part.some((type) => !found.has(type)))
      throw unreadable(action, 'InstanceTypeId is missing');
    return part.flatMap((type) => {
      const limits = found.get(type);
      return limits === undefined ? [] : [[type, limits] as const];
    });
  });
  return new Map(read.flat());
}

function limitsOf(shown: ShownInstanceType): InstanceLimits | UnreadableLimits {
  const { eniQuantity: interfaces, eniPrivateIpAddressQuantity: addressesPerInterface } = shown;
  if (!isInterfaceLimit(interfaces)) return { problem: `EniQuantity is ${String(interfaces)}` };
  if (!isAddressLimit(addressesPerInterface))
    return { problem: `EniPrivateIpAddressQuantity is ${String(addressesPerInterface)}` };
  // No agent on Alibaba Cloud understands prefixes, or an interface beyond the last index; the primary one has 0.
  return { interfaces: Math.min(interfaces, maxIndex + 1), addressesPerInterface, prefixes: false };
}
