// Decides which orphaned interface a node may adopt. The interface was created for this instance, so it has
// the security groups the node asked for then. Its subnet must still be eligible for the node.
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import { type NetworkInterface, prefixSize } from '../../providers/contract/network-interface.ts';
import { exclusionByTags, type NodeRequirements } from './node-requirements.ts';

/** Whether the node may adopt the interface, by the current state of its subnet and tags. */
export function adoptableFor(
  item: NetworkInterface,
  requirements: NodeRequirements,
  infrastructure: Infrastructure,
): boolean {
  const { networkId, zone } = requirements;
  const subnet = infrastructure.subnets.get(item.subnetId);
  const isThere = subnet?.eligible === true && subnet.networkId === networkId && subnet.zone === zone;
  return isThere && exclusionByTags(item, requirements) === undefined;
}

export function podAddressCount(
  { addresses, prefixes }: NetworkInterface,
  { usePrimaryAddress }: Pick<NodeRequirements, 'usePrimaryAddress'>,
): number {
  return addresses.length + prefixes.length * prefixSize + (usePrimaryAddress ? 1 : 0);
}
