// The dashboard Fleet: what nodes and pods need, what they get, and how long it takes.
import { chosen } from '../alerts/nodes.ts';
import { type DashboardPlan, max, type PanelPlan, quantile, total } from './dashboard-plan.ts';

function nodes(state: string): string {
  return total('headwater_nodes', { where: [`state="${state}"`] });
}

/** The nodes that are chosen. */
function perNode(metric: string): string {
  return max(metric, { by: ['cluster', 'target_node'], where: ['target_node=~"$node"'] });
}

const now: readonly PanelPlan[] = [
  {
    kind: 'stat',
    title: 'Nodes',
    description: 'CiliumNodes, or Nodes with nodeipam, whether they are served or not.',
    queries: [{ expr: nodes('total'), legend: '' }],
    unit: 'short',
  },
  {
    kind: 'stat',
    title: 'Nodes in deficit',
    description:
      'Nodes that have fewer addresses than their watermarks ask for, or wait for a block. A few for seconds is what a busy cluster looks like.',
    queries: [{ expr: nodes('in_deficit'), legend: '' }],
    unit: 'short',
    thresholds: [{ value: 1, color: 'yellow' }],
    runbooks: ['HeadwaterNodesInDeficit'],
  },
  {
    kind: 'stat',
    title: 'Nodes blocked',
    description:
      'Nodes that cannot be satisfied until an operator acts. Full instances count while pods wait there; nodes that options exclude do not.',
    queries: [
      {
        expr: `sum(${total('headwater_blocked', { by: ['reason'], where: ['resource="node"', `reason!~"${chosen}"`] })}) or 0 * ${nodes('total')}`,
        legend: '',
      },
    ],
    unit: 'short',
    thresholds: [{ value: 1, color: 'red' }],
    runbooks: ['HeadwaterNodesBlocked'],
  },
  {
    kind: 'stat',
    title: 'Pending pods',
    description: 'Pods that wait for an address now, on blocked nodes too.',
    queries: [{ expr: total('headwater_pending_pods'), legend: '' }],
    unit: 'short',
    thresholds: [{ value: 1, color: 'yellow' }],
    runbooks: ['HeadwaterPodsPending'],
  },
];

/** Panels of every mode. */
const demand: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Nodes by state',
    description:
      'satisfied, in_deficit, blocked and unknown add up to all nodes; at_capacity can take no more addresses.',
    queries: [
      {
        expr: total('headwater_nodes', { by: ['state'], where: ['state!="total"'] }),
        legend: '{{state}}',
      },
    ],
    unit: 'short',
    runbooks: ['HeadwaterNodesInDeficit', 'HeadwaterNodesUnknown'],
  },
  {
    kind: 'timeseries',
    title: 'Nodes blocked by reason',
    description:
      'The reason is that of the Event on the CiliumNode, which says what to do. Nodes with a warning are served.',
    queries: [
      {
        expr: total('headwater_blocked', { by: ['reason'], where: ['resource="node"'] }),
        legend: '{{reason}}',
      },
      { expr: total('headwater_warnings', { by: ['reason'] }), legend: 'warning: {{reason}}' },
    ],
    unit: 'short',
    isStacked: true,
    thresholds: [{ value: 1, color: 'red' }],
    runbooks: ['HeadwaterNodesBlocked', 'HeadwaterPodsPending'],
  },
  {
    kind: 'timeseries',
    title: 'Oldest deficit',
    description:
      'How long the node has waited that has waited longest, by priority: critical and high mean that pods wait for it. An alert fires above 5 minutes.',
    queries: [
      { expr: max('headwater_oldest_deficit_seconds', { by: ['priority'] }), legend: '{{priority}}' },
    ],
    unit: 's',
    thresholds: [
      { value: 60, color: 'yellow' },
      { value: 300, color: 'red' },
    ],
    runbooks: ['HeadwaterNodesInDeficit', 'HeadwaterPodsPending'],
  },
  {
    kind: 'timeseries',
    title: 'Allocation latency',
    description:
      'From noticing that a node is in deficit until Kubernetes has the addresses, or the block, that end it. No line where nothing was needed.',
    queries: [
      { expr: quantile(0.5, 'headwater_allocation_latency_seconds'), legend: 'p50' },
      { expr: quantile(0.99, 'headwater_allocation_latency_seconds'), legend: 'p99' },
    ],
    unit: 's',
    thresholds: [
      { value: 15, color: 'yellow' },
      { value: 60, color: 'red' },
    ],
  },
];

const ofPool = { by: ['pool', 'family'] };

const blocks: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Free blocks',
    description: 'Whole blocks that new nodes can get, by family. An alert fires below 10 % for 10 minutes.',
    queries: [
      {
        expr: total('headwater_cidr_blocks', { ...ofPool, where: ['state="free"'] }),
        legend: '{{pool}} {{family}}',
      },
    ],
    unit: 'short',
    lowIsBad: true,
    runbooks: ['HeadwaterBlocksNearlyGone'],
  },
  {
    kind: 'timeseries',
    title: 'Nodes that wait for a block',
    description: 'Nodes without a block of this family. Their pods do not start.',
    queries: [{ expr: total('headwater_cidr_waiting_nodes', ofPool), legend: '{{pool}} {{family}}' }],
    unit: 'short',
    thresholds: [{ value: 1, color: 'red' }],
    runbooks: ['HeadwaterNodesWaitForBlock'],
  },
];

const addresses: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Demand and supply',
    description:
      'Addresses of all nodes: available to agents, used by pods, still needed, and on their way back. Used close to available means no warm buffer.',
    queries: [{ expr: total('headwater_addresses', { by: ['state'] }), legend: '{{state}}' }],
    unit: 'short',
    runbooks: ['HeadwaterPodsPending'],
  },
  {
    kind: 'timeseries',
    title: 'Operations an allocation',
    description: 'Cloud operations that ending one deficit took. More than 2 means that interfaces fill up.',
    queries: [
      { expr: quantile(0.5, 'headwater_allocation_calls'), legend: 'p50' },
      { expr: quantile(0.99, 'headwater_allocation_calls'), legend: 'p99' },
    ],
    unit: 'short',
  },
  {
    kind: 'timeseries',
    title: 'Interfaces by state',
    description:
      'Interfaces of served nodes: with room for further addresses, full, excluded from pods, or not understood.',
    queries: [{ expr: total('headwater_interfaces', { by: ['state'] }), legend: '{{state}}' }],
    unit: 'short',
    isStacked: true,
  },
  {
    kind: 'timeseries',
    title: 'Prefixes, and slots for interfaces',
    description:
      'Prefixes (/28) and IPv6 prefixes (/80) that nodes have, and interfaces that could still be attached. Each node whose agent asks for IPv6 has one IPv6 prefix; the reasons of those that get none are among the blocked nodes.',
    queries: [
      { expr: total('headwater_prefixes'), legend: 'prefixes' },
      { expr: total('headwater_ipv6_prefixes'), legend: 'IPv6 prefixes' },
      { expr: total('cilium_operator_ipam_empty_interface_slots'), legend: 'empty slots' },
    ],
    unit: 'short',
  },
];

const single: readonly PanelPlan[] = [
  {
    kind: 'bargauge',
    title: 'Nodes that lack the most',
    description:
      'Addresses that each lacks, of the 20 nodes that lack the most. There are as many series in a fleet of any size.',
    queries: [
      {
        expr: `topk(20, ${max('headwater_node_needed_addresses', { by: ['cluster', 'target_node'] })})`,
        legend: '{{target_node}}',
      },
    ],
    unit: 'short',
    thresholds: [{ value: 1, color: 'yellow' }],
    runbooks: ['HeadwaterNodesInDeficit'],
  },
  {
    kind: 'timeseries',
    title: 'Chosen nodes',
    description:
      'Capacity, use and need of the nodes that are chosen above. A fleet of more than --node-metrics-limit nodes (2000) has no series of single nodes.',
    queries: [
      { expr: perNode('cilium_operator_ipam_available_ips'), legend: '{{target_node}} capacity' },
      { expr: perNode('cilium_operator_ipam_used_ips'), legend: '{{target_node}} used' },
      { expr: perNode('cilium_operator_ipam_needed_ips'), legend: '{{target_node}} needed' },
    ],
    unit: 'short',
  },
];

export const fleetDashboard: DashboardPlan = {
  uid: 'headwater-fleet',
  title: 'Headwater / Fleet',
  description: 'What nodes and pods need, what they get, and how long it takes.',
  variables: ['cluster', 'node'],
  rows: [
    { title: 'Now', panels: now },
    { title: 'Nodes', panels: demand },
    { title: 'Blocks: cluster-pool, multi-pool and nodeipam', panels: blocks },
    { title: 'Addresses of a cloud', panels: addresses },
    { title: 'Single nodes', panels: single },
  ],
};
