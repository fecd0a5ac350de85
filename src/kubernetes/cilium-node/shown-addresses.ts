// Addresses that a CiliumNode shows its agent, in the pool or on an interface of the status: the one answer for all who ask.
import { addressesOn, ipv6PrefixesOn, isShownOn } from '../../providers/contract/shown-interfaces.ts';
import type { CiliumNode } from './cilium-node.ts';
import type { WatchedNode } from './cilium-node-reader.ts';

export interface ShownAddresses {
  readonly networkId: string;
  /** With IPv6 prefixes, each as a whole. */
  readonly addresses: readonly string[];
}

type Shown = Pick<CiliumNode, 'ipam' | 'status'>;

const nothingShown: ShownAddresses = { networkId: '', addresses: [] };

export function shownBy(watched: WatchedNode): ShownAddresses {
  // Its instance is unknown, so what it shows is no claim to an address.
  if (watched.kind === 'unreadable') return nothingShown;
  const { ipam, status, section } = watched.node;
  return {
    networkId: section.networkId ?? '',
    addresses: [...ipam.pool.keys(), ...addressesOn(status.interfaces), ...ipv6PrefixesOn(status.interfaces)],
  };
}

/** Whether it shows an address. What it does not show may be unassigned once its agent knows. */
export function shownTo({ ipam, status }: Shown): (address: string) => boolean {
  const isOnInterface = isShownOn(status.interfaces);
  return (address) => ipam.pool.has(address) || isOnInterface(address);
}

/** Whether it shows an interface, or names it in the pool. */
export function isInterfaceShown({ ipam, status }: Shown): (interfaceId: string) => boolean {
  const pooled = new Set([...ipam.pool.values()].map(({ resource }) => resource));
  return (interfaceId) => status.interfaces.has(interfaceId) || pooled.has(interfaceId);
}
