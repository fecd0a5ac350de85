import { describe, expect, test } from '@jest/globals';
import {
  createMetricRegistry,
  metricTable,
  type MetricRegistry,
  type Metrics,
} from '../../../src/observability/metrics.ts';
import { triggerMeter } from '../../../src/observability/trigger-meter.ts';

type Expected = readonly [name: string, kind: string, labels: readonly string[], buckets?: readonly number[]];

const wholeSecondsOfAMinute = Array.from({ length: 60 }, (_, index) => index + 1);
const ipam = [0, 0.25, 0.5, ...wholeSecondsOfAMinute];
const long = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const go = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const call = [0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10, 20, 30, 60];
const supply = [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 120, 300, 600];
const resync = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300];

/** Dashboards and alerts, ours and those of users, rely on these. A change here breaks them. */
const expected: readonly Expected[] = [
  ['cilium_operator_ipam_available_ips', 'gauge', ['target_node']],
  ['cilium_operator_ipam_used_ips', 'gauge', ['target_node']],
  ['cilium_operator_ipam_needed_ips', 'gauge', ['target_node']],
  ['cilium_operator_ipam_ips', 'gauge', ['type']],
  ['cilium_operator_ipam_available_interfaces', 'gauge', []],
  ['cilium_operator_ipam_interface_candidates', 'gauge', []],
  ['cilium_operator_ipam_empty_interface_slots', 'gauge', []],
  ['cilium_operator_ipam_available_ips_per_subnet', 'gauge', ['availability_zone', 'subnet_id']],
  ['cilium_operator_ipam_nodes', 'gauge', ['category']],
  ['cilium_operator_ipam_ip_allocation_ops', 'counter', ['subnet_id']],
  ['cilium_operator_ipam_ip_release_ops', 'counter', ['subnet_id']],
  ['cilium_operator_ipam_interface_creation_ops', 'counter', ['subnet_id']],
  ['cilium_operator_ipam_resync_total', 'counter', []],
  ['cilium_operator_ipam_allocation_duration_seconds', 'histogram', ['status', 'subnet_id', 'type'], ipam],
  ['cilium_operator_ipam_release_duration_seconds', 'histogram', ['status', 'subnet_id', 'type'], ipam],
  ['cilium_operator_ipam_background_sync_duration_seconds', 'histogram', ['status'], ipam],
  ...['deficit_resolver', 'k8s_sync', 'resync'].flatMap((family): Expected[] => [
    [`cilium_operator_ipam_${family}_queued_total`, 'counter', []],
    [`cilium_operator_ipam_${family}_folds`, 'gauge', []],
    [`cilium_operator_ipam_${family}_duration_seconds`, 'histogram', [], long],
    [`cilium_operator_ipam_${family}_latency_seconds`, 'histogram', [], long],
  ]),
  ['cilium_operator_ec2_api_duration_seconds', 'histogram', ['operation', 'response_code'], long],
  ['cilium_operator_ec2_api_rate_limit_duration_seconds', 'histogram', ['operation'], go],
  ['cilium_operator_azure_api_duration_seconds', 'histogram', ['operation', 'response_code'], long],
  ['cilium_operator_azure_api_rate_limit_duration_seconds', 'histogram', ['operation'], go],
  ['cilium_operator_alibabacloud_api_duration_seconds', 'histogram', ['operation', 'response_code'], long],
  ['cilium_operator_alibabacloud_api_rate_limit_duration_seconds', 'histogram', ['operation'], go],
  ['cilium_operator_ipam_multipool_total_blocks', 'gauge', []],
  ['node_ipam_controller_cidrset_cidrs_allocations_total', 'counter', ['clusterCIDR']],
  ['node_ipam_controller_cidrset_cidrs_releases_total', 'counter', ['clusterCIDR']],
  ['node_ipam_controller_cirdset_max_cidrs', 'gauge', ['clusterCIDR']],
  ['node_ipam_controller_cidrset_usage_cidrs', 'gauge', ['clusterCIDR']],
  [
    'node_ipam_controller_cidrset_allocation_tries_per_request',
    'histogram',
    ['clusterCIDR'],
    [1, 5, 25, 125, 625],
  ],
  ['headwater_build_info', 'gauge', ['node_version', 'version']],
  ['headwater_addresses', 'gauge', ['state']],
  ['headwater_pending_pods', 'gauge', []],
  ['headwater_interfaces', 'gauge', ['state']],
  ['headwater_prefixes', 'gauge', []],
  ['headwater_ipv6_prefixes', 'gauge', []],
  ['headwater_nodes', 'gauge', ['state']],
  ['headwater_blocked', 'gauge', ['reason', 'resource']],
  ['headwater_warnings', 'gauge', ['reason']],
  ['headwater_node_needed_addresses', 'gauge', ['target_node']],
  ['headwater_allocation_latency_seconds', 'histogram', [], supply],
  ['headwater_oldest_deficit_seconds', 'gauge', ['priority']],
  ['headwater_allocation_calls', 'histogram', [], [0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 50]],
  ['headwater_cloud_calls_total', 'counter', ['action', 'outcome']],
  ['headwater_audit_lines_total', 'counter', ['outcome']],
  ['headwater_cloud_call_duration_seconds', 'histogram', ['action'], call],
  ['headwater_cloud_calls_queued', 'gauge', ['action', 'priority']],
  ['headwater_cloud_rate_limit_tokens', 'gauge', ['action']],
  ['headwater_cloud_rate_limit_refill_per_second', 'gauge', ['action']],
  ['headwater_cloud_rate_limit_learned_ratio', 'gauge', ['action']],
  ['headwater_cloud_calls_in_flight', 'gauge', []],
  ['headwater_subnet_free_addresses', 'gauge', ['availability_zone', 'subnet_id']],
  ['headwater_subnet_size_addresses', 'gauge', ['availability_zone', 'subnet_id']],
  ['headwater_subnet_reserved_addresses', 'gauge', ['availability_zone', 'subnet_id']],
  ['headwater_subnet_free_blocks', 'gauge', ['availability_zone', 'subnet_id']],
  ['headwater_subnet_fragmentation_ratio', 'gauge', ['availability_zone', 'subnet_id']],
  ['headwater_subnet_assigned_addresses', 'gauge', ['availability_zone', 'subnet_id']],
  ['headwater_subnet_nodes', 'gauge', ['availability_zone', 'subnet_id']],
  ['headwater_orphaned_interfaces', 'gauge', []],
  ['headwater_orphan_adoptions_total', 'counter', ['result']],
  ['headwater_orphan_deletions_total', 'counter', ['result']],
  ['headwater_inventory_age_seconds', 'gauge', []],
  ['headwater_unreadable_items', 'gauge', []],
  ['headwater_resync_interval_seconds', 'gauge', []],
  ['headwater_resync_duration_seconds', 'histogram', ['outcome'], resync],
  ['headwater_ciliumnode_writes_total', 'counter', ['outcome', 'part']],
  ['headwater_conflicting_writes_total', 'counter', ['part']],
  ['headwater_conflicting_writer', 'gauge', ['stops']],
  ['headwater_mutations_paused', 'gauge', ['reason']],
  ['headwater_withdrawals_held', 'gauge', []],
  ['headwater_cidr_blocks', 'gauge', ['family', 'pool', 'state']],
  ['headwater_cidr_waiting_nodes', 'gauge', ['family', 'pool']],
  ['headwater_ciliumnode_gc_total', 'counter', ['outcome']],
  ['headwater_heap_limit_bytes', 'gauge', []],
  ['headwater_leader', 'gauge', []],
  ['headwater_watch_restarts_total', 'counter', ['resource']],
  ['headwater_watch_relists_total', 'counter', ['resource']],
  ['headwater_kubernetes_requests_total', 'counter', ['code', 'resource', 'verb']],
];

/** Gives one series to every metric whose label values are not known in advance. */
function feed(metrics: Metrics): void {
  metrics.headwater_build_info.set({ version: '1.2.3', node_version: 'v24.0.0' }, 1);
  const network = { clusterCIDR: '10.0.0.0/16' };
  metrics.node_ipam_controller_cidrset_cidrs_allocations_total.add(network);
  metrics.node_ipam_controller_cidrset_cidrs_releases_total.add(network);
  metrics.node_ipam_controller_cirdset_max_cidrs.set(network, 256);
  metrics.node_ipam_controller_cidrset_usage_cidrs.set(network, 0.5);
  metrics.node_ipam_controller_cidrset_allocation_tries_per_request.observe(network, 3);
  const pool = { pool: 'default', family: 'ipv4' };
  metrics.headwater_cidr_blocks.set({ ...pool, state: 'held' }, 7);
  metrics.headwater_cidr_waiting_nodes.set(pool, 1);
  const target_node = 'node-1';
  const subnet = { subnet_id: 'subnet-1' };
  metrics.cilium_operator_ipam_available_ips.set({ target_node }, 12);
  metrics.cilium_operator_ipam_used_ips.set({ target_node }, 3);
  metrics.cilium_operator_ipam_needed_ips.set({ target_node }, 2);
  metrics.cilium_operator_ipam_available_ips_per_subnet.set({ ...subnet, availability_zone: 'a' }, 200);
  metrics.cilium_operator_ipam_ip_allocation_ops.add(subnet, 14);
  metrics.cilium_operator_ipam_ip_release_ops.add(subnet, 2);
  metrics.cilium_operator_ipam_interface_creation_ops.add(subnet);
  metrics.cilium_operator_ipam_allocation_duration_seconds.observe(
    { type: 'createInterfaceAndAllocateIP', status: 'unableToAttachENI', ...subnet },
    2.5,
  );
  metrics.cilium_operator_ipam_release_duration_seconds.observe(
    { type: 'releaseIP', status: 'success', ...subnet },
    0.3,
  );
  metrics.cilium_operator_ec2_api_duration_seconds.observe(
    { operation: 'CreateNetworkInterface', response_code: 'OK' },
    1.2,
  );
  metrics.cilium_operator_ec2_api_rate_limit_duration_seconds.observe(
    { operation: 'CreateNetworkInterface' },
    0.2,
  );
  metrics.cilium_operator_azure_api_duration_seconds.observe(
    { operation: 'VirtualMachineScaleSetVMs.Update', response_code: 'OK' },
    1.2,
  );
  metrics.cilium_operator_azure_api_rate_limit_duration_seconds.observe(
    { operation: 'VirtualMachineScaleSetVMs.Update' },
    0.2,
  );

  metrics.cilium_operator_alibabacloud_api_duration_seconds.observe(
    { operation: 'VirtualMachineScaleSetVMs.Update', response_code: 'OK' },
    1.2,
  );
  metrics.cilium_operator_alibabacloud_api_rate_limit_duration_seconds.observe(
    { operation: 'VirtualMachineScaleSetVMs.Update' },
    0.2,
  );
  metrics.headwater_blocked.set({ resource: 'subnet', reason: 'subnetExhausted' }, 1);
  metrics.headwater_warnings.set({ reason: 'FreeAddressesNotTaken' }, 1);
  metrics.headwater_cloud_calls_total.add({ action: 'CreateNetworkInterface', outcome: 'ok' });
  metrics.headwater_cloud_call_duration_seconds.observe({ action: 'CreateNetworkInterface' }, 1.2);
  metrics.headwater_cloud_calls_queued.set({ action: 'CreateNetworkInterface', priority: 'high' }, 4);
  metrics.headwater_cloud_rate_limit_tokens.set({ action: 'CreateNetworkInterface' }, 80);
  metrics.headwater_cloud_rate_limit_refill_per_second.set({ action: 'CreateNetworkInterface' }, 4);
  metrics.headwater_cloud_rate_limit_learned_ratio.set({ action: 'CreateNetworkInterface' }, 1);
  const inZone = { ...subnet, availability_zone: 'a' };
  metrics.headwater_subnet_free_addresses.set(inZone, 200);
  metrics.headwater_subnet_size_addresses.set(inZone, 256);
  metrics.headwater_subnet_reserved_addresses.set(inZone, 14);
  metrics.headwater_subnet_free_blocks.set(inZone, 9);
  metrics.headwater_subnet_fragmentation_ratio.set(inZone, 0.28);
  metrics.headwater_subnet_assigned_addresses.set(inZone, 40);
  metrics.headwater_subnet_nodes.set(inZone, 3);
  metrics.headwater_node_needed_addresses.set({ target_node: 'n' }, 8);
  metrics.headwater_ciliumnode_writes_total.add({ part: 'spec', outcome: 'written' });
  metrics.headwater_watch_restarts_total.add({ resource: 'ciliumnodes' });
  metrics.headwater_watch_relists_total.add({ resource: 'pods' });
  metrics.headwater_kubernetes_requests_total.add({ verb: 'patch', resource: 'ciliumnodes', code: '200' });
}

/** Name, kind, labels and buckets of each metric in a text of Prometheus. */
function families(text: string): Expected[] {
  return text
    .split(/^# HELP .*\n(?=# TYPE )/m)
    .slice(1)
    .map(familyOf);
}

function familyOf(block: string): Expected {
  const [, name = '', kind = ''] = /^# TYPE (\S+) (\S+)/.exec(block) ?? [];
  const labels = new Set([...block.matchAll(/[{,](\w+)="?/g)].map(([, label = '']) => label));
  const buckets = new Set([...block.matchAll(/le="([\d.]+)"/g)].map(([, bound]) => Number(bound)));
  const others = [...labels].filter((label) => label !== 'le').toSorted();
  return kind === 'histogram' ? [name, kind, others, [...buckets]] : [name, kind, others];
}

function registry(): MetricRegistry {
  return createMetricRegistry({ measureProcess: false });
}

describe('createMetricRegistry', () => {
  test('has metrics with names, kinds, labels and buckets', async () => {
    const { metrics, scrape } = registry();

    feed(metrics);

    expect(families(await scrape())).toEqual(expected);
  });

  test('has no label that configurations of Prometheus add to what they scrape', () => {
    const added = [
      'cluster',
      'job',
      'instance',
      'namespace',
      'pod',
      'node',
      'container',
      'service',
      'endpoint',
    ];
    const labels = Object.values(metricTable).flatMap((row) => Object.keys(row.labels));

    expect(labels.filter((label) => added.includes(label))).toEqual([]);
  });

  test('has series with known labels from the start, at zero', async () => {
    const text = await registry().scrape();

    for (const line of [
      'cilium_operator_ipam_resync_total 0',
      'cilium_operator_ipam_nodes{category="in-deficit"} 0',
      'cilium_operator_ipam_ips{type="available"} 0',
      'headwater_pending_pods 0',
      'headwater_nodes{state="blocked"} 0',
      'headwater_resync_duration_seconds_count{outcome="failed"} 0',
      'headwater_leader 0',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).not.toContain('headwater_blocked{');
  });

  test('adds up counters, keeps the last value of gauges, and counts in histograms', async () => {
    const { metrics, scrape } = registry();

    metrics.cilium_operator_ipam_resync_total.add();
    metrics.cilium_operator_ipam_resync_total.add(2);
    metrics.headwater_nodes.set({ state: 'in_deficit' }, 7);
    metrics.headwater_nodes.set({ state: 'in_deficit' }, 5);
    metrics.headwater_allocation_latency_seconds.observe(2.2);
    metrics.headwater_allocation_latency_seconds.observe(1000);

    const lines = (await scrape()).split('\n');
    for (const line of [
      'cilium_operator_ipam_resync_total 3',
      'headwater_nodes{state="in_deficit"} 5',
      'headwater_allocation_latency_seconds_bucket{le="2"} 0',
      'headwater_allocation_latency_seconds_bucket{le="3"} 1',
      'headwater_allocation_latency_seconds_bucket{le="600"} 1',
      'headwater_allocation_latency_seconds_bucket{le="+Inf"} 2',
    ]) {
      expect(lines).toContain(line);
    }
  });

  test('ends the series of one node and keeps those of others', async () => {
    const { metrics, forgetNode, scrape } = registry();
    for (const target_node of ['gone', 'stays']) {
      metrics.cilium_operator_ipam_available_ips.set({ target_node }, 1);
      metrics.cilium_operator_ipam_used_ips.set({ target_node }, 1);
      metrics.cilium_operator_ipam_needed_ips.set({ target_node }, 1);
    }

    forgetNode('gone');

    const text = await scrape();
    expect(text).not.toContain('"gone"');
    expect(text.match(/"stays"/g)).toHaveLength(3);
  });

  test('ends the series of a gauge that a replacement does not name', async () => {
    const { metrics, scrape } = registry();
    metrics.headwater_blocked.set({ resource: 'node', reason: 'limitReached' }, 2);

    metrics.headwater_blocked.replaceAll([[{ resource: 'subnet', reason: 'subnetExhausted' }, 1]]);

    const series = (await scrape()).split('\n').filter((line) => line.startsWith('headwater_blocked{'));
    expect(series).toEqual(['headwater_blocked{resource="subnet",reason="subnetExhausted"} 1']);
  });

  test('runs collectors before every scrape', async () => {
    const { metrics, beforeScrape, scrape } = registry();
    let age = 0;
    beforeScrape(() => metrics.headwater_inventory_age_seconds.set(++age));

    await scrape();

    expect(await scrape()).toContain('headwater_inventory_age_seconds 2\n');
  });

  test('shares no state with a second registry', async () => {
    const [one, other] = [registry(), registry()];

    one.metrics.headwater_leader.set(1);

    expect(await other.scrape()).toContain('headwater_leader 0\n');
  });

  test('measures process and event loop on request', async () => {
    const text = await createMetricRegistry({ measureProcess: true }).scrape();

    expect(text).toContain('# TYPE process_resident_memory_bytes gauge');
    expect(text).toContain('# TYPE nodejs_eventloop_lag_p99_seconds gauge');
  });

  test('lets no wrong label compile', () => {
    const { metrics } = registry();
    const wrong = [
      // @ts-expect-error: no such state
      () => metrics.headwater_nodes.set({ state: 'lost' }, 1),
      // @ts-expect-error: no such label
      () => metrics.headwater_nodes.set({ kind: 'short' }, 1),
      // @ts-expect-error: a label is missing
      () => metrics.headwater_ciliumnode_writes_total.add({ part: 'spec' }),
      // @ts-expect-error: there are no labels
      () => metrics.headwater_leader.set({ state: 'short' }, 1),
    ];

    expect(wrong).toHaveLength(4);
  });
});

describe('triggerMeter', () => {
  test.each(['deficit_resolver', 'k8s_sync', 'resync'] as const)(
    'converts milliseconds of %s to seconds',
    async (family) => {
      const { metrics, scrape } = registry();
      const meter = triggerMeter(metrics, family);

      meter.requested();
      meter.requested();
      meter.ran({ folds: 1, latency: 10, duration: 2500 });

      const lines = (await scrape()).split('\n');
      for (const line of [
        `cilium_operator_ipam_${family}_queued_total 2`,
        `cilium_operator_ipam_${family}_folds 1`,
        `cilium_operator_ipam_${family}_latency_seconds_sum 0.01`,
        `cilium_operator_ipam_${family}_duration_seconds_sum 2.5`,
      ]) {
        expect(lines).toContain(line);
      }
    },
  );
});
