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
  /** How many of them pods use: of a node with interfaces in several subnets, in proportion to what it has in each. */
  readonly used: number;
}

/** For every subnet that contains an interface of a node with a reconciler. */
export function subnetUse(summaries: readonly NodeSummary[]): ReadonlyMap<string, SubnetUse> {
  const use = new Map<string, SubnetUse>();
  for (const entry of summaries) {
    const held = heldBySubnet(entry);
    const all = [...held.values()].reduce((sum, count) => sum + count, 0);
    const ratio = Math.min(1, usedOn(entry) / Math.max(1, all));
    for (const [subnetId, count] of held) {
      const { nodes, assigned, used } = use.get(subnetId) ?? noUse;
      use.set(subnetId, { nodes: nodes + 1, assigned: assigned + count, used: used + count * ratio });
    }
  }
  return use;
}

const noUse: SubnetUse = { nodes: 0, assigned: 0, used: 0 };

/** Pod addresses on interfaces of the node. */
function heldBySubnet(entry: NodeSummary): ReadonlyMap<string, number> {
  const interfaces = entry.kind === 'reconciled' ? (entry.figures.view?.interfaces ?? []) : [];
  const held = new Map<string, number>();
  for (const { subnetId, addresses, prefixes } of interfaces)
    held.set(subnetId, (held.get(subnetId) ?? 0) + addresses.length + prefixes.length * prefixSize);
  return held;
}

function usedOn(entry: NodeSummary): number {
  const { assessment } = entry.kind === 'reconciled' ? entry.figures : {};
  return assessment?.kind === 'served' ? assessment.usage.used : 0;
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
