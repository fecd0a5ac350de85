// Decides when an agent may start: one of the CRD allocator with enough addresses in the pool and a routable network, one of the
// multi-pool protocol also with the public address that it asks for.
import type { AddressPool } from './address-pool.ts';
import type { InterfaceStatus } from './interface-status.ts';
import { type JsonObject, numberAt, objectAt, textAt } from './json.ts';

/** How often a waiting agent checks again, in ms. */
export const gatePollInterval = 5_000;

/**
 * Addresses that the pool must hold: `min-allocate`, else `pre-allocate`, else one for the router and another
 * for health checking.
 */
export function requiredAddresses(node: JsonObject, healthChecking: boolean): number {
  const minimum = numberAt(node, 'spec', 'ipam', 'min-allocate');
  if (minimum !== 0) return minimum;
  const buffer = numberAt(node, 'spec', 'ipam', 'pre-allocate');
  if (buffer !== 0) return buffer;
  return healthChecking ? 2 : 1;
}

/** Whether the node asks for a public address and has none: a multi-pool agent waits for it without end. */
export function awaitsStaticAddress(node: JsonObject | undefined): boolean {
  const isAsked = Object.keys(objectAt(node, 'spec', 'ipam', 'static-ip-tags')).length > 0;
  return isAsked && textAt(node, 'status', 'ipam', 'assigned-static-ip') === '';
}

/** Addresses in the release handshake and in use count like any other. */
export function isGateOpen(
  pool: AddressPool | undefined,
  interfaces: readonly InterfaceStatus[],
  required: number,
): boolean {
  if (pool === undefined || pool.size < required) return false;
  return interfaces.some(({ cidrs }) => cidrs.length > 0);
}
