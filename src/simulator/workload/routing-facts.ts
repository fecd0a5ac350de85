// What an agent must know about an address before a pod gets it: its interface and the route of its packets.
// An address that cannot be resolved cannot be used.
import type { InterfaceStatus } from './interface-status.ts';
import { formatAddress, parseCidr } from './ipv4.ts';

export interface RoutingFacts {
  readonly interfaceId: string;
  readonly mac: string;
  readonly interfaceNumber: number;
  /** The first address of the subnet plus one. */
  readonly gateway: string;
  /** The primary CIDR of the VPC first. */
  readonly cidrs: readonly string[];
}

export type Resolution =
  | { readonly kind: 'resolved'; readonly facts: RoutingFacts }
  | { readonly kind: 'unresolved'; readonly reason: string };

/** Resolves the interface `id` among all `interfaces` of the status. */
export function resolveInterface(interfaces: readonly InterfaceStatus[], id: string): Resolution {
  const found = interfaces.find((candidate) => candidate.id === id);
  if (found === undefined) return unresolved(`unable to find ENI ${id}`);
  if (found.mac === '') return unresolved(`ENI ${id} has no MAC address`);

  const subnet = parseCidr(found.subnetCidr);
  if (subnet === undefined) return unresolved(`ENI ${id} has no subnet CIDR`);
  if (parseCidr(found.vpcPrimaryCidr) === undefined) return unresolved(`ENI ${id} has no primary VPC CIDR`);

  return {
    kind: 'resolved',
    facts: {
      interfaceId: id,
      mac: found.mac,
      interfaceNumber: found.number,
      gateway: formatAddress(subnet.first + 1),
      cidrs: [found.vpcPrimaryCidr, ...found.vpcCidrs],
    },
  };
}

function unresolved(reason: string): Resolution {
  return { kind: 'unresolved', reason };
}
