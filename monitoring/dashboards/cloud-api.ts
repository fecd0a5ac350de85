// The dashboard Cloud API: what is asked of the cloud, what it answers, and how much of the rate limits is left.
import {
  type DashboardPlan,
  inCluster,
  min,
  max,
  type PanelPlan,
  quantile,
  quantileOfAny,
  rate,
  total,
} from './dashboard-plan.ts';

const calls = 'headwater_cloud_calls_total';
/** Before the first one there is no series, which means 0. */
const throttled = `(${rate(calls, { where: ['outcome="throttled"'] })} or vector(0))`;
const assigned = rate('cilium_operator_ipam_ip_allocation_ops');
/** Calls that give nodes addresses: of EC2 and ECS, and of Azure. */
const givingCalls = [
  'CreateNetworkInterface',
  'AttachNetworkInterface',
  'AssignPrivateIpAddresses',
  'VirtualMachineScaleSetVMs.Update',
  'Interfaces.CreateOrUpdate',
];
const giving = rate(calls, { where: [`action=~"${givingCalls.join('|')}"`] });

/** The metric of each cloud's API. A process has only the one of its own cloud. */
const waits = ['ec2', 'azure', 'alibabacloud'].map(
  (api) => `cilium_operator_${api}_api_rate_limit_duration_seconds`,
);

const traffic: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Calls by action',
    description: 'Calls a second that have ended. At rest only the reads of resyncs are left.',
    queries: [{ expr: rate(calls, { by: ['action'] }), legend: '{{action}}' }],
    unit: 'reqps',
    isStacked: true,
  },
  {
    kind: 'timeseries',
    title: 'Calls by outcome',
    description:
      'ok, or the kind of the failure: subnetExhausted and prefixSpaceFragmented are about subnets, notAuthorized about the role, fenced and stopped were never sent.',
    queries: [{ expr: rate(calls, { by: ['outcome'] }), legend: '{{outcome}}' }],
    unit: 'reqps',
    isStacked: true,
  },
  {
    kind: 'timeseries',
    title: 'Throttled',
    description:
      'Part of the calls that the cloud refused because there were too many. An alert fires above 5 % for 10 minutes.',
    queries: [{ expr: `${throttled} / ${rate(calls)}`, legend: 'throttled' }],
    unit: 'percentunit',
    thresholds: [
      { value: 0.01, color: 'yellow' },
      { value: 0.05, color: 'red' },
    ],
    runbooks: ['HeadwaterCloudThrottled'],
  },
  {
    kind: 'timeseries',
    title: 'Refused for lack of permission',
    description: 'Calls a second that the role does not permit. Each is one too many.',
    queries: [
      { expr: rate(calls, { by: ['action'], where: ['outcome="notAuthorized"'] }), legend: '{{action}}' },
    ],
    unit: 'reqps',
    thresholds: [{ value: 0.0001, color: 'red' }],
    runbooks: ['HeadwaterPermissionMissing'],
  },
];

const budget: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Rate-limit tokens left',
    description:
      'Calls of each action that may be made at once. At zero calls wait for the refill; below zero a group of calls was larger than the bucket.',
    queries: [{ expr: min('headwater_cloud_rate_limit_tokens', { by: ['action'] }), legend: '{{action}}' }],
    unit: 'short',
    isSigned: true,
    thresholds: [{ value: 1, color: 'green' }],
    lowIsBad: true,
  },
  {
    kind: 'timeseries',
    title: 'Refill of the rate limits',
    description:
      'Calls a second that the rate limit sustains: our share of the quota, less what throttling has taken.',
    queries: [
      {
        expr: max('headwater_cloud_rate_limit_refill_per_second', { by: ['action'] }),
        legend: '{{action}}',
      },
    ],
    unit: 'reqps',
  },
  {
    kind: 'timeseries',
    title: 'Learned ratio of the rate limits',
    description:
      'What throttling has left of our share: 1 unless calls were refused. It recovers slowly while none is.',
    queries: [
      {
        expr: min('headwater_cloud_rate_limit_learned_ratio', { by: ['action'] }),
        legend: '{{action}}',
      },
    ],
    unit: 'percentunit',
    max: 1,
    thresholds: [
      { value: 0.5, color: 'yellow' },
      { value: 0.9, color: 'green' },
    ],
    lowIsBad: true,
    runbooks: ['HeadwaterCloudThrottled'],
  },
  {
    kind: 'timeseries',
    title: 'Calls queued',
    description:
      'Calls that wait for their turn, by priority: critical and high are for nodes with pods that wait, and go first.',
    queries: [
      {
        expr: `sum by (priority) (headwater_cloud_calls_queued{${inCluster}})`,
        legend: '{{priority}}',
      },
    ],
    unit: 'short',
    isStacked: true,
  },
];

const cost: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Call latency',
    description: 'Seconds that a call was in flight, without the wait for its turn: p99 by action.',
    queries: [
      {
        expr: quantile(0.99, 'headwater_cloud_call_duration_seconds', { by: ['action'] }),
        legend: '{{action}}',
      },
    ],
    unit: 's',
    thresholds: [
      { value: 5, color: 'yellow' },
      { value: 20, color: 'red' },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Wait for a turn',
    description: 'Seconds that calls waited for tokens, of those that had to wait: p50 and p99.',
    queries: [
      { expr: quantileOfAny(0.5, waits), legend: 'p50' },
      { expr: quantileOfAny(0.99, waits), legend: 'p99' },
    ],
    unit: 's',
  },
  {
    kind: 'timeseries',
    title: 'Calls an address',
    description:
      'Calls that create, attach and assign, or update a VM, for each address that nodes got. Prefixes bring it down to a sixteenth.',
    queries: [{ expr: `${giving} / ${assigned}`, legend: 'calls an address' }],
    unit: 'short',
  },
  {
    kind: 'timeseries',
    title: 'Calls in flight',
    description: 'Calls that are sent and not answered yet, of --parallel-alloc-workers at most.',
    queries: [{ expr: total('headwater_cloud_calls_in_flight'), legend: 'in flight' }],
    unit: 'short',
  },
];

const orphans: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Orphaned interfaces',
    description:
      "Interfaces with this cluster's tags that are attached to nothing. They are reused or deleted within minutes.",
    queries: [{ expr: total('headwater_orphaned_interfaces'), legend: 'orphaned' }],
    unit: 'short',
    thresholds: [{ value: 1, color: 'yellow' }],
    runbooks: ['HeadwaterOrphansNotDeleted'],
  },
  {
    kind: 'timeseries',
    title: 'Orphans reused and deleted',
    description: 'What became of orphaned interfaces, a second.',
    queries: [
      { expr: rate('headwater_orphan_adoptions_total', { by: ['result'] }), legend: 'reused: {{result}}' },
      { expr: rate('headwater_orphan_deletions_total', { by: ['result'] }), legend: 'deletion: {{result}}' },
    ],
    unit: 'short',
    runbooks: ['HeadwaterOrphansNotDeleted'],
  },
];

export const cloudApiDashboard: DashboardPlan = {
  uid: 'headwater-cloud-api',
  title: 'Headwater / Cloud API',
  description: 'What is asked of the cloud, what it answers, and how much of the rate limits is left.',
  variables: ['cluster'],
  rows: [
    { title: 'Traffic', panels: traffic },
    { title: 'Rate limits', panels: budget },
    { title: 'Latency and cost', panels: cost },
    { title: 'Orphaned interfaces', panels: orphans },
  ],
};
