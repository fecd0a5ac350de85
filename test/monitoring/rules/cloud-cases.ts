// Test cases of the alerts about the cloud and its calls.
import type { RuleCase, Values } from './rule-case.ts';

const labels = { cluster: 'c' };

function calls(throttled: string, ok = '0+100x200'): Values {
  return {
    'headwater_cloud_calls_total{cluster="c",action="A",outcome="ok"}': ok,
    'headwater_cloud_calls_total{cluster="c",action="A",outcome="throttled"}': throttled,
  };
}

function refused(count: string): Values {
  return { 'headwater_cloud_calls_total{cluster="c",action="A",outcome="notAuthorized"}': count };
}

function resyncs(failed: string, age: string): Values {
  return {
    'headwater_resync_duration_seconds_count{cluster="c",outcome="failed"}': failed,
    'headwater_inventory_age_seconds{cluster="c"}': age,
    'headwater_resync_interval_seconds{cluster="c"}': '600x200',
  };
}

function releases(
  releasing: string,
  released: string,
  { failed = '0x200', paused = '0x200' }: { readonly failed?: string; readonly paused?: string } = {},
): Values {
  return {
    'headwater_addresses{cluster="c",state="releasing"}': releasing,
    'cilium_operator_ipam_ip_release_ops{cluster="c",subnet_id="s"}': released,
    'cilium_operator_ipam_release_duration_seconds_count{cluster="c",status="failed"}': failed,
    'headwater_mutations_paused{cluster="c",reason="paused"}': paused,
  };
}

function orphans(count: string, deleted: string): Values {
  return {
    'headwater_orphaned_interfaces{cluster="c",instance="leader"}': count,
    'headwater_orphaned_interfaces{cluster="c",instance="standby"}': '0x200',
    'headwater_orphan_deletions_total{cluster="c",result="deleted"}': deleted,
  };
}

export const cloudCases: readonly RuleCase[] = [
  {
    alert: 'HeadwaterCloudThrottled',
    labels,
    fires: { series: calls('0+10x200'), pending: '5m', at: '30m', shows: '9.091%' },
    quiet: { because: 'three in a hundred are throttled', series: calls('0+3x200'), at: '1h' },
    alsoQuiet: [
      {
        because: 'of a few calls a single one is a large part',
        series: calls('0+0.2x200', '0+0.2x200'),
        at: '1h',
      },
    ],
    clears: { series: calls('0+10x30 300x100'), firing: '30m', cleared: '45m' },
  },
  {
    alert: 'HeadwaterPermissionMissing',
    labels: { cluster: 'c', action: 'A' },
    fires: { series: refused('0+1x60'), pending: '3m', at: '30m', shows: '15' },
    quiet: { because: 'what was refused once is allowed by now', series: refused('3x60'), at: '30m' },
    alsoFires: [
      {
        because: 'the API server refuses a verb',
        labels: { cluster: 'c', verb: 'patch', resource: 'ciliumnodes' },
        series: {
          'headwater_kubernetes_requests_total{cluster="c",verb="patch",resource="ciliumnodes",code="403"}':
            '0+1x60',
        },
        pending: '3m',
        at: '30m',
        shows: '15',
      },
      {
        because: 'a single refusal is all that there ever was of its series',
        series: refused('_x20 1x60'),
        pending: '23m',
        at: '30m',
        shows: '1',
      },
      {
        because: 'the same of the API server',
        labels: { cluster: 'c', verb: 'create', resource: 'events' },
        series: {
          'headwater_kubernetes_requests_total{cluster="c",verb="create",resource="events",code="403"}':
            '_x20 1x60',
        },
        pending: '23m',
        at: '30m',
        shows: '1',
      },
    ],
    clears: { series: refused('0+1x30 30x60'), firing: '30m', cleared: '50m' },
  },
  {
    alert: 'HeadwaterResyncFailing',
    labels,
    fires: { series: resyncs('0x200', '0+60x200'), pending: '33m', at: '40m' },
    quiet: { because: 'a single failure is tried again', series: resyncs('0x10 1x100', '300x200'), at: '1h' },
    clears: { series: resyncs('0+1x20 20x100', '60x200'), firing: '20m', cleared: '1h' },
  },
  {
    alert: 'HeadwaterReleaseStuck',
    labels,
    fires: { series: releases('6x200', '10x200'), pending: '40m', at: '1h10m', shows: '6' },
    quiet: {
      because: 'something leaves at any time, and is released',
      series: releases('6x200', '0+1x200'),
      at: '2h',
    },
    alsoFires: [
      {
        because: 'the calls fail',
        series: releases('0x200', '0+1x200', { failed: '0+1x200' }),
        pending: '20m',
        at: '1h10m',
        shows: '30',
      },
    ],
    alsoQuiet: [
      {
        because: 'the first addresses of a subnet are released',
        series: releases('6x200', '_x35 3x40'),
        at: '1h4m',
      },
      {
        because: 'somebody paused releases',
        series: releases('6x200', '10x200', { paused: '1x200' }),
        at: '2h',
      },
    ],
    clears: { series: releases('6x70 0x200', '10x70 16x200'), firing: '1h10m', cleared: '1h20m' },
  },
  {
    alert: 'HeadwaterOrphansNotDeleted',
    labels,
    fires: { series: orphans('2x200', '4x200'), pending: '10m', at: '1h30m', shows: '2' },
    quiet: {
      because: 'there are always some, and they are deleted in time',
      series: orphans('2x200', '0+1x200'),
      at: '2h',
    },
    clears: { series: orphans('2x90 0x90', '4x90 6x90'), firing: '1h30m', cleared: '1h35m' },
  },
];
