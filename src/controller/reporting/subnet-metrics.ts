// Subnet gauges: free addresses, and the nodes that depend on each subnet.
import type { NodeSummary } from '../../node/reconcile/node-summary.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { prefixSize } from '../../providers/contract/network-interface.ts';
import type { SubnetFigures } from './subnet-figures.ts';

interface SubnetUse {
  /** Nodes with an interface in the subnet. */
  readonly nodes: number;
  /** Pod addresses on these interfaces. */
  readonly assigned: number;
}

/** For every subnet that contains an interface of a node with a reconciler. */
export function subnetUse(summaries: readonly NodeSummary[]): ReadonlyMap<string, SubnetUse> {
  const use = new Map<string, SubnetUse>();
  for (const entry of summaries) {
    const interfaces = entry.kind === 'reconciled' ? (entry.figures.view?.interfaces ?? []) : [];
    const met = new Set<string>();
    for (const { subnetId, addresses, prefixes } of interfaces) {
      const { nodes = 0, assigned = 0 } = use.get(subnetId) ?? {};
      use.set(subnetId, {
        nodes: met.has(subnetId) ? nodes : nodes + 1,
        assigned: assigned + addresses.length + prefixes.length * prefixSize,
      });
      met.add(subnetId);
    }
  }
  return use;
}

/** Sets every gauge about subnets; an unknown subnet has no series. */
export function showSubnets(
  metrics: Metrics,
  subnets: readonly SubnetFigures[],
  summaries: readonly NodeSummary[],
): void {
  const use = subnetUse(summaries);
  const series = (valueOf: (subnet: SubnetFigures) => number | undefined) =>
    subnets.flatMap((subnet) => {
      const value = valueOf(subnet);
      const labels = { subnet_id: subnet.id, availability_zone: subnet.zone };
      return value === undefined ? [] : [[labels, value] as const];
    });
  // Before the cloud reports a count, 0 would mean that the subnet is full.
  const free = series((subnet) => (subnet.counted ? subnet.free : undefined));
  metrics.headwater_subnet_free_addresses.replaceAll(free);
  metrics.cilium_operator_ipam_available_ips_per_subnet.replaceAll(free);
  metrics.headwater_subnet_size_addresses.replaceAll(series(({ size }) => size));
  metrics.headwater_subnet_reserved_addresses.replaceAll(series(({ reserved }) => reserved));
  metrics.headwater_subnet_free_blocks.replaceAll(series(({ freeBlocks }) => freeBlocks));
  metrics.headwater_subnet_fragmentation_ratio.replaceAll(series(fragmentation));
  metrics.headwater_subnet_assigned_addresses.replaceAll(series(({ id }) => use.get(id)?.assigned ?? 0));
  metrics.headwater_subnet_nodes.replaceAll(series(({ id }) => use.get(id)?.nodes ?? 0));
}

/** 0 if all free addresses are in whole blocks, 1 if none is. */
function fragmentation({ free, freeBlocks }: SubnetFigures): number | undefined {
  if (freeBlocks === undefined) return undefined;
  return free === 0 ? 0 : 1 - (freeBlocks * prefixSize) / free;
}
