// Defines metrics under the names, labels and buckets of cilium-operator, for existing dashboards and alerts. Where
// such a name misleads, headwater-metrics.ts has the accurate figure.
import { counter, gauge, histogram } from './metric-definition.ts';

/** 0, a quarter, a half and each whole second of a minute: exported since the first release, 0 included. */
const ipamSeconds = [0, 0.25, 0.5, ...Array.from({ length: 60 }, (_, index) => index + 1)];

/** Buckets of trigger metrics since Cilium 1.18, and of answers of a cloud since 1.20. */
const longSeconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

/** Default buckets of Prometheus for Go programs. */
const goSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const node = { target_node: 'name of the CiliumNode' } as const;
const subnet = { subnet_id: 'id of the subnet' } as const;
const runs = { subnet_id: 'id of the subnet, empty if none was chosen yet' } as const;
const action = { operation: "name of the cloud's action, such as CreateNetworkInterface" } as const;

/** Outcomes of an interface creation, in the words that operators' alerts match. */
const allocationStatus = [
  'success',
  'failed',
  'unableToDetermineLimits',
  'unableToFindSubnet',
  'unableToGetSecurityGroups',
  'unableToCreateENI',
  'unableToAttachENI',
  'unableToMarkENIForDeletion',
] as const;

const queued = (what: string) => counter(`Requests to ${what}.`, {});
const folds = (what: string) => gauge(`Requests folded into the last run to ${what}.`, {});
const duration = (what: string) => histogram(`Seconds that a run took to ${what}.`, {}, longSeconds);
const latency = (what: string) =>
  histogram(`Seconds from the first request to ${what} until the run.`, {}, longSeconds);

/** `codes`: what stands for the answer. */
const answered = (cloud: string, codes: string) =>
  histogram(`Seconds until ${cloud} had answered.`, { ...action, response_code: codes }, longSeconds);
const waited = histogram(
  'Seconds that a call waited for its turn; calls that did not have to wait are not in it.',
  action,
  goSeconds,
);

/** Those that are set where nodes get blocks. */
export const blockMetricsOfOperator: ReadonlySet<string> = new Set([
  'cilium_operator_ipam_nodes',
  'cilium_operator_ipam_multipool_total_blocks',
]);

export const operatorMetrics = {
  cilium_operator_ipam_available_ips: gauge(
    'Addresses that the node could hold at most: its capacity, not what is free.',
    node,
  ),
  cilium_operator_ipam_used_ips: gauge('Addresses of the node that its agent says are used.', node),
  cilium_operator_ipam_needed_ips: gauge('Addresses that the node lacks.', node),
  cilium_operator_ipam_ips: gauge('Addresses of all nodes together; removed from newer operators.', {
    type: ['available', 'used', 'needed'],
  }),
  cilium_operator_ipam_available_interfaces: gauge(
    'Attached interfaces with room and free slots, of all nodes together; removed from newer operators.',
    {},
  ),
  cilium_operator_ipam_interface_candidates: gauge(
    'Attached interfaces that can take further addresses, of all nodes together.',
    {},
  ),
  cilium_operator_ipam_empty_interface_slots: gauge(
    'Interfaces that could still be attached, of all nodes together.',
    {},
  ),
  cilium_operator_ipam_available_ips_per_subnet: gauge('Free addresses of the subnet.', {
    ...subnet,
    availability_zone: 'zone of the subnet',
  }),
  cilium_operator_ipam_nodes: gauge('Nodes: all, those that lack addresses, those that can take no more.', {
    category: ['total', 'in-deficit', 'at-capacity'],
  }),

  cilium_operator_ipam_ip_allocation_ops: counter('Addresses assigned.', subnet),
  cilium_operator_ipam_ip_release_ops: counter('Addresses released.', subnet),
  cilium_operator_ipam_interface_creation_ops: counter('Interfaces created.', subnet),
  cilium_operator_ipam_resync_total: counter('Full listings of the cloud.', {}),

  cilium_operator_ipam_allocation_duration_seconds: histogram(
    'Seconds that getting addresses for a node took.',
    { type: ['createInterfaceAndAllocateIP', 'allocateIP'], status: allocationStatus, ...runs },
    ipamSeconds,
  ),
  cilium_operator_ipam_release_duration_seconds: histogram(
    'Seconds that releasing addresses of a node took.',
    { type: ['releaseIP', 'releaseIPPrefixes'], status: ['success', 'failed'], ...runs },
    ipamSeconds,
  ),
  cilium_operator_ipam_background_sync_duration_seconds: histogram(
    'Seconds that a periodic full listing of the cloud took.',
    { status: ['success', 'failed'] },
    ipamSeconds,
  ),

  cilium_operator_ipam_deficit_resolver_queued_total: queued('serve a node that lacks addresses'),
  cilium_operator_ipam_deficit_resolver_folds: folds('serve a node that lacks addresses'),
  cilium_operator_ipam_deficit_resolver_duration_seconds: duration('serve a node that lacks addresses'),
  cilium_operator_ipam_deficit_resolver_latency_seconds: latency('serve a node that lacks addresses'),
  cilium_operator_ipam_k8s_sync_queued_total: queued('publish a node'),
  cilium_operator_ipam_k8s_sync_folds: folds('publish a node'),
  cilium_operator_ipam_k8s_sync_duration_seconds: duration('publish a node'),
  cilium_operator_ipam_k8s_sync_latency_seconds: latency('publish a node'),
  cilium_operator_ipam_resync_queued_total: queued('read the cloud again'),
  cilium_operator_ipam_resync_folds: folds('read the cloud again'),
  cilium_operator_ipam_resync_duration_seconds: duration('read the cloud again'),
  cilium_operator_ipam_resync_latency_seconds: latency('read the cloud again'),

  cilium_operator_ec2_api_duration_seconds: answered(
    'EC2',
    'HTTP status text of an error, else OK or Failed',
  ),
  cilium_operator_ec2_api_rate_limit_duration_seconds: waited,
  cilium_operator_azure_api_duration_seconds: answered('Azure', 'OK or Failed'),
  cilium_operator_azure_api_rate_limit_duration_seconds: waited,
  cilium_operator_alibabacloud_api_duration_seconds: answered(
    'Alibaba Cloud',
    'error code of Alibaba Cloud, else OK or Failed',
  ),
  cilium_operator_alibabacloud_api_rate_limit_duration_seconds: waited,

  cilium_operator_ipam_multipool_total_blocks: gauge('Blocks that a pool has in all its networks.', {
    pool: 'name of the CiliumPodIPPool',
    family: ['ipv4', 'ipv6'],
  }),
};
