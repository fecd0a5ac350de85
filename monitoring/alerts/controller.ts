// Alerts about Headwater itself: who leads, who else writes, and whether the process keeps up.
import { type AlertGroup, atCluster, byCluster, ofCluster, ofHeadwater } from '../alert.ts';

/** Replicas that lead. Two jobs that scrape one of them see one. */
const leaders = `sum ${byCluster} (max by (cluster, instance) (headwater_leader))`;
/** Writes that did not take effect and that trying again does not mend at once. */
const failed = 'headwater_ciliumnode_writes_total{outcome=~"denied|invalid|unavailable"}';

export const controllerAlerts: AlertGroup = {
  name: 'headwater-controller',
  alerts: [
    {
      name: 'HeadwaterNoLeader',
      // Where one Prometheus has several clusters, the others go on showing the metric.
      expr: `${leaders} == 0
or 0 * (count ${byCluster} (last_over_time(headwater_leader[1h])) unless count ${byCluster} (headwater_leader))
or absent_over_time(headwater_leader[1h])`,
      for: '3m',
      severity: 'critical',
      summary: `no replica leads${atCluster}`,
      description: 'No node gets addresses. New pods use addresses that their nodes still have, then wait.',
    },
    {
      name: 'HeadwaterTwoLeaders',
      expr: `${leaders} > 1`,
      for: '1m',
      severity: 'critical',
      summary: `{{ $value | humanize }} replicas lead at once${atCluster}`,
      description: 'Each may undo what the other does. An address could be offered on two nodes.',
    },
    {
      name: 'HeadwaterConflictingWriter',
      // One edit by hand stops releases only, and must not wake anybody.
      expr: `${ofCluster('headwater_conflicting_writer{stops="fleet"}')} > 0`,
      for: '1m',
      severity: 'critical',
      summary: `another program writes CiliumNodes, and no node gets addresses${atCluster}`,
      description:
        'Most likely a cilium-operator still manages IPAM. Headwater changes nothing until there has been no such write for 5 minutes.',
    },
    {
      name: 'HeadwaterCiliumNodeEdited',
      expr: `${ofCluster('headwater_mutations_paused{reason="conflictingWriter"}')} > 0
or sum ${byCluster} (increase(headwater_conflicting_writes_total[10m])) > 0`,
      for: '1m',
      severity: 'warning',
      summary: `another program or a person wrote a CiliumNode${atCluster}`,
      description:
        'Headwater releases nothing on any node until there has been no such write for 5 minutes. A node that is written twice gets no addresses meanwhile.',
    },
    {
      name: 'HeadwaterWithdrawalsHeld',
      expr: `${ofCluster('headwater_withdrawals_held')} > 0`,
      for: '15m',
      severity: 'warning',
      summary: `withdrawals are held, an operator has to check them${atCluster}`,
      description:
        'Implausibly much of {{ $value | humanize }} nodes is missing in the cloud at once. Headwater releases nothing on any node until that is resolved.',
    },
    {
      name: 'HeadwaterWritesFailing',
      expr: `sum ${byCluster} (increase(${failed}[10m])) >= 5
and sum ${byCluster} (rate(${failed}[10m])) / sum ${byCluster} (rate(headwater_ciliumnode_writes_total[10m])) > 0.1`,
      for: '5m',
      severity: 'warning',
      summary: `writes of CiliumNodes fail${atCluster}`,
      description:
        'About {{ $value | humanize }} writes failed in 10 minutes. Agents do not see the addresses that their nodes were assigned.',
    },
    {
      name: 'HeadwaterRestarting',
      // While the process is down neither metric is there.
      expr: `max by (cluster, instance) (
  changes(process_start_time_seconds[30m]) and on (cluster, job, instance) last_over_time(headwater_leader[30m])
) >= 3`,
      for: '1m',
      severity: 'warning',
      summary: `{{ $labels.instance }} restarts repeatedly${atCluster}`,
      description:
        'It restarted {{ $value | humanize }} times in 30 minutes. Each time a leader ends, no node gets addresses until another one leads.',
    },
    {
      name: 'HeadwaterEventLoopBlocked',
      expr: ofHeadwater('nodejs_eventloop_lag_p99_seconds > 0.5'),
      for: '10m',
      severity: 'warning',
      summary: `the event loop of {{ $labels.instance }} is blocked${atCluster}`,
      description:
        'One turn in a hundred takes {{ $value | humanizeDuration }} or more. Everything is late, and the Lease may be lost.',
    },
    {
      name: 'HeadwaterMemoryHigh',
      expr: 'nodejs_heap_size_used_bytes / on (cluster, job, instance) headwater_heap_limit_bytes > 0.85',
      for: '10m',
      severity: 'warning',
      summary: `{{ $labels.instance }} is about to run out of memory${atCluster}`,
      description:
        '{{ $value | humanizePercentage }} of the heap limit of Node.js is used. At 100 % the process ends and another one takes over.',
    },
  ],
};
