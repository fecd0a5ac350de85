// The panels of the dashboard that cilium ships for its operator (install/kubernetes/cilium/files/cilium-operator/dashboards
// in its repository), and what each shows of Headwater. docs/dashboards.md has the same table.

export interface CiliumPanel {
  readonly title: string;
  readonly queries: readonly string[];
  /** What it shows; `nothing` and why not. */
  readonly shows: string;
  readonly works: boolean;
}

const app = 'io_cilium_app="operator"';
const callsOf = (histogram: string): string => `rate(${histogram}_sum[1m])/rate(${histogram}_count[1m])`;

export const ciliumPanels: readonly CiliumPanel[] = [
  {
    title: 'CPU Usage per node',
    queries: ['min', 'avg', 'max'].map(
      (of) => `${of}(irate(cilium_operator_process_cpu_seconds_total{${app}}[1m])) by (pod) * 100`,
    ),
    shows: 'nothing: the process is another one. Its metrics are `process_cpu_seconds_total` and so on',
    works: false,
  },
  {
    title: 'Resident memory status',
    queries: ['avg', 'max', 'min'].map(
      (of) => `${of}(cilium_operator_process_resident_memory_bytes{${app}})`,
    ),
    shows: 'nothing, for the same reason',
    works: false,
  },
  {
    title: 'Used IP Addresses',
    queries: ['avg(cilium_operator_ipam_used_ips) by (type)'],
    shows: 'addresses in use on a node, on average; nothing above `--node-metrics-limit` nodes',
    works: true,
  },
  {
    title: 'EC2 API Interactions',
    queries: [callsOf('cilium_operator_ec2_api_duration_seconds')],
    shows: 'how long calls took, by action and answer',
    works: true,
  },
  {
    title: 'Number of nodes',
    queries: ['cilium_operator_ipam_nodes'],
    shows: 'all nodes, those in deficit, those at capacity',
    works: true,
  },
  {
    title: '# interfaces with addresses available',
    queries: ['cilium_operator_ipam_available'],
    shows:
      'nothing, as with newer operators: they do not have that name either. `cilium_operator_ipam_interface_candidates` has the figure',
    works: false,
  },
  {
    title: 'Metadata Resync Operations',
    queries: ['rate(cilium_operator_ipam_resync_total[1m])'],
    shows: 'full listings of the cloud a second',
    works: true,
  },
  {
    title: 'EC2 client side rate limiting',
    queries: [callsOf('cilium_operator_ec2_api_rate_limit_duration_seconds')],
    shows: 'how long calls waited for their turn, of those that had to',
    works: true,
  },
  {
    title: 'Interface Creation',
    queries: ['avg(rate(cilium_operator_ipam_interface_creation_ops[1m])) by (subnetId, status)'],
    shows:
      'interfaces created a second, on average over subnets: newer operators do not have the labels that it asks for either',
    works: true,
  },
];
