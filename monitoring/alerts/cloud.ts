// Alerts about the cloud: what it refuses, what it was slow to show, and what was left behind in it.
import { type AlertGroup, atCluster, grown, ofCluster } from '../alert.ts';

const throttled = 'headwater_cloud_calls_total{outcome="throttled"}';
const paused = `${ofCluster('headwater_mutations_paused')} > 0`;

export const cloudAlerts: AlertGroup = {
  name: 'headwater-cloud',
  alerts: [
    {
      name: 'HeadwaterCloudThrottled',
      // If there are only a few calls in 10 minutes, one throttled call would be a large share.
      expr: `sum by (cluster) (rate(${throttled}[10m]))
/ sum by (cluster) (rate(headwater_cloud_calls_total[10m])) > 0.05
and sum by (cluster) (increase(${throttled}[10m])) >= 5`,
      for: '10m',
      severity: 'warning',
      summary: `the cloud throttles calls${atCluster}`,
      description:
        '{{ $value | humanizePercentage }} of the calls of the last 10 minutes were throttled. Nodes get their addresses later.',
    },
    {
      name: 'HeadwaterPermissionMissing',
      expr: `sum by (cluster, action) ${grown('headwater_cloud_calls_total{outcome="notAuthorized"}', '15m')} > 0
or sum by (cluster, verb, resource) ${grown('headwater_kubernetes_requests_total{code="403"}', '15m')} > 0`,
      for: '5m',
      severity: 'warning',
      summary: `permission is missing: {{ $labels.action }}{{ with $labels.verb }}{{ . }} {{ end }}{{ $labels.resource }}${atCluster}`,
      description:
        'About {{ $value | humanize }} requests were refused in 15 minutes, for lack of a permission or of valid credentials. Operations that need it do not happen.',
    },
    {
      name: 'HeadwaterResyncFailing',
      expr: `sum by (cluster) (increase(headwater_resync_duration_seconds_count{outcome="failed"}[30m])) >= 3
or ${ofCluster('headwater_inventory_age_seconds')} > 3 * ${ofCluster('headwater_resync_interval_seconds')}`,
      for: '5m',
      severity: 'warning',
      summary: `the cloud is not read completely${atCluster}`,
      description:
        'Full listings fail, or the last one is older than three intervals. Headwater does not see external changes in the cloud.',
    },
    {
      name: 'HeadwaterReleaseStuck',
      expr: `(
  max by (cluster) (min_over_time(headwater_addresses{state="releasing"}[30m])) > 0
  unless on (cluster) sum by (cluster) ${grown('cilium_operator_ipam_ip_release_ops', '30m')} > 0
  unless on (cluster) ${paused}
)
or sum by (cluster) ${grown('cilium_operator_ipam_release_duration_seconds_count{status="failed"}', '30m')} >= 5`,
      for: '30m',
      severity: 'warning',
      summary: `addresses are not released${atCluster}`,
      description:
        '{{ $value | humanize }} addresses or calls: addresses that nodes no longer need stay assigned, and their subnets fill up.',
    },
    {
      name: 'HeadwaterOrphansNotDeleted',
      expr: `max by (cluster) (min_over_time(headwater_orphaned_interfaces[1h])) > 0
unless on (cluster) sum by (cluster) (increase(headwater_orphan_deletions_total{result="deleted"}[1h])) > 0`,
      for: '15m',
      severity: 'warning',
      summary: `orphaned interfaces are not deleted${atCluster}`,
      description:
        '{{ $value | humanize }} interfaces have been detached for an hour. They hold addresses of their subnets.',
    },
  ],
};
