// Which interface that was left over a node may take. It was made for this very instance, so that its security groups are
// what the node asked for then; its place must still be one where the node may have interfaces.
import type { Infrastructure } from '../providers/infrastructure.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';
import { carries } from '../providers/network-interface.ts';
import type { NodeRequirements } from './node-requirements.ts';

/** Whether the node may have the interface as one of its own, as its subnet and its tags are now. */
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
export function podAddressesOf(
  { addresses, prefixes }: NetworkInterface,
  { usePrimaryAddress }: Pick<NodeRequirements, 'usePrimaryAddress'>,
): number {
  return addresses.length + prefixes.length * 16 + (usePrimaryAddress ? 1 : 0);
}
