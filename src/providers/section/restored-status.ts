// Reads published statuses of clouds back: the state known before a restart. What they do not say is empty; a read of the
// instance shows it again, as it does whatever is left out because agents could not have used it.
import type { RestoredState } from '../contract/cilium-node-section.ts';
import type { Network, Subnet } from '../contract/infrastructure.ts';
import { parseBlock } from '../contract/ipv4.ts';
import type { NetworkInterface } from '../contract/network-interface.ts';
import { member } from './published-json.ts';
import { byId } from './published-status.ts';

/** How to read an interface of a map by id, and where it is. Undefined for what is left out. */
interface Restoring {
  readonly interface: (id: string, eni: unknown) => NetworkInterface | undefined;
  readonly subnet: (eni: unknown) => Subnet | undefined;
  readonly network: (eni: unknown) => Network | undefined;
}

/** Reads `status.<key>.enis`, a map by id. */
export function restoreById(status: unknown, restoring: Restoring): RestoredState {
  const enis = Object.entries(member(status, 'enis') ?? {});
  return {
    interfaces: enis.flatMap(([id, eni]) => restoring.interface(id, eni) ?? []),
    subnets: byId(enis.flatMap(([, eni]) => restoring.subnet(eni) ?? [])),
    networks: byId(enis.flatMap(([, eni]) => restoring.network(eni) ?? [])),
  };
}

export function restoredSubnet(
  published: Pick<Subnet, 'id' | 'cidr' | 'networkId' | 'zone'>,
): Subnet | undefined {
  const { id, cidr, networkId } = published;
  if (id === '' || networkId === '' || parseBlock(cidr) === undefined) return undefined;
  return { ...published, tags: {}, freeAddresses: 0, eligible: false };
}

export function restoredNetwork({ id, primaryCidr, cidrs }: Network): Network | undefined {
  if (id === '' || parseBlock(primaryCidr) === undefined) return undefined;
  return { id, primaryCidr, cidrs: cidrs.filter((cidr) => parseBlock(cidr) !== undefined) };
}
