// Defines the metrics of the command nodeipam under the names of kube-controller-manager, so that existing dashboards and
// alerts go on; a misspelt name is theirs.
import { counter, gauge, histogram } from './metric-definition.ts';

const labels = { clusterCIDR: 'network that blocks come from, as configured' } as const;

export const nodeIpamMetrics = {
  node_ipam_controller_cidrset_cidrs_allocations_total: counter('Blocks given out.', labels),
  node_ipam_controller_cidrset_cidrs_releases_total: counter('Blocks whose Node is gone.', labels),
  node_ipam_controller_cirdset_max_cidrs: gauge('Blocks that the network has.', labels),
  node_ipam_controller_cidrset_usage_cidrs: gauge(
    'Part of the blocks that is held: 0 for none, 1 for all.',
    labels,
  ),
  node_ipam_controller_cidrset_allocation_tries_per_request: histogram(
    'Taken blocks that were passed over to find a free one.',
    labels,
    [1, 5, 25, 125, 625],
  ),
};
