// The dashboard Controller: whether Headwater itself is well.
import {
  type DashboardPlan,
  inCluster,
  max,
  ofHeadwater,
  type PanelPlan,
  quantile,
  rate,
  total,
} from './dashboard-plan.ts';

const perCluster = { by: ['cluster'] };

const now: readonly PanelPlan[] = [
  {
    kind: 'stat',
    title: 'Leaders',
    description: 'Replicas of each cluster that say that they lead. One is right.',
    queries: [
      {
        expr: `sum by (cluster) (${max('headwater_leader', { by: ['cluster', 'instance'] })})`,
        legend: '{{cluster}}',
      },
    ],
    unit: 'short',
    thresholds: [
      { value: 1, color: 'green' },
      { value: 2, color: 'red' },
    ],
    lowIsBad: true,
    runbooks: ['HeadwaterNoLeader', 'HeadwaterTwoLeaders'],
  },
  {
    kind: 'stat',
    title: 'Age of the last resync',
    description:
      'Since the last full listing of the cloud began, in intervals as configured. Up to 1 and a bit is right.',
    queries: [
      {
        expr: `max(${max('headwater_inventory_age_seconds', perCluster)} / ${max('headwater_resync_interval_seconds', perCluster)})`,
        legend: '',
      },
    ],
    unit: 'short',
    thresholds: [
      { value: 2, color: 'yellow' },
      { value: 3, color: 'red' },
    ],
    runbooks: ['HeadwaterResyncFailing'],
  },
  {
    kind: 'stat',
    title: 'Withdrawals held',
    description:
      'Nodes of which so much is missing in the cloud that Headwater releases nothing until most of it is found or an operator approves it.',
    queries: [{ expr: total('headwater_withdrawals_held'), legend: '' }],
    unit: 'short',
    thresholds: [{ value: 1, color: 'red' }],
    runbooks: ['HeadwaterWithdrawalsHeld'],
  },
  {
    kind: 'stat',
    title: 'Changes paused',
    description: 'Why changes are paused: a dry run, an option, a conflicting writer, or held withdrawals.',
    queries: [{ expr: `sum(${total('headwater_mutations_paused', { by: ['reason'] })})`, legend: '' }],
    unit: 'short',
    thresholds: [{ value: 1, color: 'yellow' }],
    runbooks: ['HeadwaterConflictingWriter'],
  },
];

const leadership: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Leader',
    description: 'Which replica leads: a step is a takeover.',
    queries: [{ expr: `headwater_leader{${inCluster}}`, legend: '{{instance}}' }],
    unit: 'short',
    max: 1,
    runbooks: ['HeadwaterNoLeader'],
  },
  {
    kind: 'timeseries',
    title: 'Uptime, and restarts',
    description: 'Since the process of each replica started. A line that falls to zero is a restart.',
    queries: [{ expr: `time() - (${ofHeadwater('process_start_time_seconds')})`, legend: '{{instance}}' }],
    unit: 's',
    runbooks: ['HeadwaterRestarting'],
  },
  {
    kind: 'timeseries',
    title: 'Conflicting writes',
    description:
      'Writes of another program to what only Headwater writes in CiliumNodes, in 10 minutes, and whether changes are paused for it.',
    queries: [
      {
        expr: `sum by (part) (increase(headwater_conflicting_writes_total{${inCluster}}[10m]))`,
        legend: '{{part}}',
      },
      { expr: total('headwater_mutations_paused', { by: ['reason'] }), legend: 'paused: {{reason}}' },
    ],
    unit: 'short',
    thresholds: [{ value: 1, color: 'red' }],
    runbooks: ['HeadwaterConflictingWriter', 'HeadwaterCiliumNodeEdited'],
  },
  {
    kind: 'timeseries',
    title: 'Watches',
    description: 'Watches that resumed, and lists that had to be read again in full, a second.',
    queries: [
      { expr: rate('headwater_watch_restarts_total', { by: ['resource'] }), legend: 'restart {{resource}}' },
      { expr: rate('headwater_watch_relists_total', { by: ['resource'] }), legend: 'relist {{resource}}' },
    ],
    unit: 'short',
  },
  {
    kind: 'table',
    title: 'Versions',
    description: 'The build that each replica runs.',
    queries: [{ expr: `headwater_build_info{${inCluster}}`, legend: 'version' }],
    unit: 'short',
  },
];

const work: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Resyncs',
    description: 'How long full listings take (p99), and how many failed in 30 minutes.',
    queries: [
      { expr: quantile(0.99, 'headwater_resync_duration_seconds'), legend: 'p99 seconds' },
      {
        expr: `sum(increase(headwater_resync_duration_seconds_count{${inCluster},outcome="failed"}[30m]))`,
        legend: 'failed',
      },
    ],
    unit: 'short',
    thresholds: [{ value: 60, color: 'yellow' }],
    runbooks: ['HeadwaterResyncFailing'],
  },
  {
    kind: 'timeseries',
    title: 'Queues',
    description:
      'How long nodes wait until they are reconciled and published (p99): seconds mean that the process does not keep up.',
    queries: [
      { expr: quantile(0.99, 'cilium_operator_ipam_deficit_resolver_latency_seconds'), legend: 'decide' },
      { expr: quantile(0.99, 'cilium_operator_ipam_k8s_sync_latency_seconds'), legend: 'publish' },
      { expr: quantile(0.99, 'cilium_operator_ipam_resync_latency_seconds'), legend: 'resync' },
    ],
    unit: 's',
    thresholds: [{ value: 2, color: 'yellow' }],
  },
  {
    kind: 'timeseries',
    title: 'Writes of CiliumNodes',
    description:
      'Writes a second by outcome. conflict is tried again at once; denied, invalid and unavailable keep agents from seeing their addresses.',
    queries: [
      { expr: rate('headwater_ciliumnode_writes_total', { by: ['outcome'] }), legend: '{{outcome}}' },
    ],
    unit: 'ops',
    isStacked: true,
    runbooks: ['HeadwaterWritesFailing'],
  },
  {
    kind: 'timeseries',
    title: 'Requests to Kubernetes',
    description: 'Requests a second by status code; error means that there was no answer.',
    queries: [{ expr: rate('headwater_kubernetes_requests_total', { by: ['code'] }), legend: '{{code}}' }],
    unit: 'reqps',
    isStacked: true,
    runbooks: ['HeadwaterPermissionMissing'],
  },
];

const machine: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Event loop',
    description:
      'How late the turns of the event loop are. Half a second at p99 is an alert: the Lease may be lost.',
    queries: [
      { expr: ofHeadwater('nodejs_eventloop_lag_p50_seconds'), legend: 'p50 {{instance}}' },
      { expr: ofHeadwater('nodejs_eventloop_lag_p99_seconds'), legend: 'p99 {{instance}}' },
    ],
    unit: 's',
    thresholds: [
      { value: 0.1, color: 'yellow' },
      { value: 0.5, color: 'red' },
    ],
    runbooks: ['HeadwaterEventLoopBlocked'],
  },
  {
    kind: 'timeseries',
    title: 'Heap',
    description: 'Heap that is used, of what Node.js allows. An alert fires above 85 %.',
    queries: [
      {
        expr: `nodejs_heap_size_used_bytes{${inCluster}} / on (cluster, job, instance) headwater_heap_limit_bytes`,
        legend: '{{instance}}',
      },
    ],
    unit: 'percentunit',
    max: 1,
    thresholds: [
      { value: 0.7, color: 'yellow' },
      { value: 0.85, color: 'red' },
    ],
    runbooks: ['HeadwaterMemoryHigh'],
  },
  {
    kind: 'timeseries',
    title: 'Memory',
    description: 'Resident memory of each replica, as the limit of its container counts it.',
    queries: [{ expr: ofHeadwater('process_resident_memory_bytes'), legend: '{{instance}}' }],
    unit: 'bytes',
  },
  {
    kind: 'timeseries',
    title: 'CPU',
    description: 'Cores that each replica uses. One is the most for what Headwater decides.',
    queries: [
      {
        expr: `rate(process_cpu_seconds_total{${inCluster}}[$__rate_interval]) and on (cluster, job, instance) headwater_leader`,
        legend: '{{instance}}',
      },
    ],
    unit: 'short',
    thresholds: [
      { value: 0.7, color: 'yellow' },
      { value: 0.95, color: 'red' },
    ],
  },
];

export const controllerDashboard: DashboardPlan = {
  uid: 'headwater-controller',
  title: 'Headwater / Controller',
  description: 'Whether Headwater itself is well: who leads, whether it keeps up, and what obstructs it.',
  variables: ['cluster'],
  rows: [
    { title: 'Now', panels: now },
    { title: 'Leadership', panels: leadership },
    { title: 'Work', panels: work },
    { title: 'Process', panels: machine },
  ],
};
