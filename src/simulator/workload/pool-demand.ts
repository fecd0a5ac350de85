// A multi-pool agent's own part of its CiliumNode: `spec.ipam.pools`.
import { defaultPool } from './pending-allocations.ts';
import { isObject, type JsonObject, listAt, objectAt, textAt, withoutZeros } from './json.ts';

/**
 * The object with demand and CIDRs. Without any CIDR, keeps the earlier ones: an agent that has seen none yet
 * must not report that it holds none. An agent without IPv6 requests none of it.
 */
export function withPools(
  node: JsonObject,
  requested: number,
  cidrs: readonly string[],
  ipv6Requested = 0,
): JsonObject {
  const spec = objectAt(node, 'spec');
  const ipam = objectAt(spec, 'ipam');
  const needed = withoutZeros({ 'ipv4-addrs': requested, 'ipv6-addrs': ipv6Requested });
  const pools: JsonObject = {
    ...objectAt(ipam, 'pools'),
    requested: Object.keys(needed).length > 0 ? [{ pool: defaultPool, needed }] : [],
    ...(cidrs.length > 0 && { allocated: [{ pool: defaultPool, cidrs }] }),
  };
  return { ...node, spec: { ...spec, ipam: { ...ipam, pools } } };
}

/** Whether both objects agree in `spec.ipam.pools`. An empty list equals a missing one. */
export function saySameOfPools(a: JsonObject, b: JsonObject): boolean {
  return digest(a) === digest(b);
}

function digest(node: JsonObject): string {
  const pools = objectAt(node, 'spec', 'ipam', 'pools');
  const requested = listAt(pools, 'requested')
    .filter(isObject)
    .map((entry) => {
      const { 'ipv4-addrs': ipv4, 'ipv6-addrs': ipv6 } = objectAt(entry, 'needed');
      return [textAt(entry, 'pool'), ipv4, ipv6];
    });
  const allocated = listAt(pools, 'allocated')
    .filter(isObject)
    .map((entry) => [textAt(entry, 'pool'), listAt(entry, 'cidrs')]);
  return JSON.stringify([requested, allocated]);
}
