// Decides which orphaned interface a node may adopt. The interface was created for this instance, so it has
// the security groups the node asked for then. Its subnet must still be eligible for the node.
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import { carries } from '../../providers/contract/network-interface.ts';
import type { NodeRequirements } from './node-requirements.ts';

/** Whether the node may adopt the interface, by the current state of its subnet and tags. */
export function adoptableFor(
  item: NetworkInterface,
  requirements: NodeRequirements,
  infrastructure: Infrastructure,
): boolean {
  const { networkId, zone, excludeInterfaceTags } = requirements;
  const subnet = infrastructure.subnets.get(item.subnetId);
  const excluded = Object.keys(excludeInterfaceTags).length > 0 && carries(item.tags, excludeInterfaceTags);
  return subnet?.eligible === true && subnet.networkId === networkId && subnet.zone === zone && !excluded;
}

/** Pod addresses that the interface brings. */
export function podAddressCount(
  { addresses, prefixes }: NetworkInterface,
  { usePrimaryAddress }: Pick<NodeRequirements, 'usePrimaryAddress'>,
): number {
  return addresses.length + prefixes.length * 16 + (usePrimaryAddress ? 1 : 0);
}
