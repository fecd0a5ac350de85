// The facts that an agent must know about an address before a pod gets it: its interface and the route of its packets.
// An address that cannot be resolved cannot be used.
import type { InterfaceStatus } from './interface-status.ts';

export interface RoutingFacts {
  readonly interfaceId: string;
  readonly mac: string;
  readonly interfaceNumber: number;
  readonly gateway: string;
  /** The primary CIDR of the network first. */
  readonly cidrs: readonly string[];
}

export type Resolution =
  | { readonly kind: 'resolved'; readonly facts: RoutingFacts }
  | { readonly kind: 'unresolved'; readonly reason: string };

/** Resolves the interface `id` among all `interfaces` of the status. */
export function resolveInterface(interfaces: readonly InterfaceStatus[], id: string): Resolution {
  const found = interfaces.find((candidate) => candidate.id === id);
  if (found === undefined) return { kind: 'unresolved', reason: `unable to find ENI ${id}` };
  const { mac, number, gateway, cidrs, lacks } = found;
  if (lacks !== undefined) return { kind: 'unresolved', reason: `ENI ${id} has no ${lacks}` };
  return { kind: 'resolved', facts: { interfaceId: id, mac, interfaceNumber: number, gateway, cidrs } };
}
