import { describe, expect, test } from '@jest/globals';
import { showFleet } from '../../../../src/controller/reporting/fleet-metrics.ts';
import type { NodeSummary } from '../../../../src/node/reconcile/node-summary.ts';
import type { Assessment } from '../../../../src/node/conditions/assessment.ts';
import { createMetricRegistry } from '../../../../src/observability/metrics.ts';
import { eni, unreadable, view } from '../../node/allocation-facts.ts';
import { servedEntry, unservedEntry } from '../node-summaries.ts';

async function linesOf(summaries: readonly NodeSummary[], maxNodesShown = 100): Promise<readonly string[]> {
  const registry = createMetricRegistry({ measureProcess: false });
  showFleet(registry, { summaries, now: 100_000, maxNodesShown });
  return (await registry.scrape()).split('\n');
}

const condition = { reason: 'InstanceTerminated', message: '' } as const;

function withAssessment(entry: NodeSummary, assessment: Assessment): NodeSummary {
  if (entry.kind !== 'reconciled') throw new Error('it has no reconciler');
  return { ...entry, figures: { ...entry.figures, assessment } };
}

function needing(name: string, needed: number): NodeSummary {
  return servedEntry(name, { assessment: { needed, wanted: needed } });
}

describe('the gauges of the fleet', () => {
  test('count nodes by state, and addresses, pods, interfaces and prefixes over all served nodes', async () => {
    const busy = servedEntry('busy', {
      assessment: { usage: { available: 14, used: 12, pendingPods: 3 }, needed: 5, wanted: 5 },
      figures: { releasing: 2, inDeficitSince: 40_000, pendingPods: 3 },
      interfaces: [
        eni(0, 9),
        eni(1, 2, { ipv6Prefixes: ['2600:1f14:1::/80'] }),
        eni(2, 0, { prefixes: ['10.0.9.0/28'], reservedFor: 'efa' }),
      ],
    });
    const torn = servedEntry('torn', { figures: { view: view([eni(0)], [unreadable()]) } });

    const lines = await linesOf([busy, torn, unservedEntry('gone')]);

    expect(lines).toEqual(
      expect.arrayContaining([
        'headwater_nodes{state="total"} 3',
        'headwater_nodes{state="in_deficit"} 1',
        'headwater_nodes{state="satisfied"} 1',
        'headwater_nodes{state="blocked"} 1',
        'headwater_addresses{state="available"} 14',
        'headwater_addresses{state="releasing"} 2',
        'headwater_pending_pods 3',
        'headwater_interfaces{state="full"} 1',
        'headwater_interfaces{state="with_room"} 2',
        'headwater_interfaces{state="excluded"} 1',
        'headwater_interfaces{state="unreadable"} 1',
        'headwater_prefixes 1',
        'headwater_ipv6_prefixes 1',
        'headwater_oldest_deficit_seconds{priority="high"} 60',
      ]),
    );
  });

  test('count a node that is not read or cannot be served as in deficit while pods are pending there', async () => {
    const unread = servedEntry('unread', { figures: { inDeficitSince: 40_000 } });
    const blocked = servedEntry('blocked', { figures: { inDeficitSince: 10_000, pendingPods: 2 } });
    const summaries = [
      withAssessment(unread, { kind: 'unread' }),
      withAssessment(blocked, { kind: 'blocked', condition, requirements: undefined }),
    ];

    expect(await linesOf(summaries)).toEqual(
      expect.arrayContaining([
        'headwater_nodes{state="total"} 2',
        'headwater_nodes{state="unknown"} 1',
        'headwater_nodes{state="blocked"} 1',
        'headwater_pending_pods 2',
        'headwater_oldest_deficit_seconds{priority="critical"} 90',
        'headwater_oldest_deficit_seconds{priority="normal"} 60',
      ]),
    );
  });

  test('count pending pods on a node whose CiliumNode is not served as on any other', async () => {
    const wrong = unservedEntry('wrong', { pendingPods: 2, blockedSince: 10_000 });
    const idle = unservedEntry('idle', { blockedSince: 0 });

    expect(await linesOf([wrong, idle])).toEqual(
      expect.arrayContaining([
        'headwater_pending_pods 2',
        'headwater_oldest_deficit_seconds{priority="critical"} 90',
        'headwater_oldest_deficit_seconds{priority="normal"} 0',
      ]),
    );
  });

  test('do not count pods of a node that is unmanaged', async () => {
    const other = servedEntry('other', { figures: { pendingPods: 2 } });

    const lines = await linesOf([withAssessment(other, { kind: 'unmanaged', condition })]);

    expect(lines).toContain('headwater_pending_pods 0');
  });

  test('count pending pods without an address on a node whose writes fail, whatever the cloud has assigned', async () => {
    const usage = { available: 14, used: 2, pendingPods: 3 };
    const figures = { isPublished: false, inDeficitSince: 40_000, pendingPods: 3 };

    const lines = await linesOf([servedEntry('one', { assessment: { usage }, figures })]);

    expect(lines).toContain('headwater_oldest_deficit_seconds{priority="critical"} 60');
  });

  test('do not count for a node what a failed write does not show to its agent', async () => {
    const lines = await linesOf([servedEntry('one', { figures: { isPublished: false } })]);

    expect(lines).toContain('headwater_nodes{state="in_deficit"} 1');
    expect(lines).toContain('headwater_nodes{state="satisfied"} 0');
  });

  test('have series for each node up to the limit, and none for a larger fleet', async () => {
    const summaries = [needing('a', 1), needing('b', 2)];

    const [within, beyond] = [await linesOf(summaries, 2), await linesOf(summaries, 1)];

    expect(within).toContain('cilium_operator_ipam_needed_ips{target_node="b"} 2');
    expect(beyond.filter((line) => /^cilium_\w+\{target_node=/.test(line))).toEqual([]);
  });

  test('lose the series of nodes when the fleet grows past the limit', async () => {
    const registry = createMetricRegistry({ measureProcess: false });
    showFleet(registry, { summaries: [needing('a', 1)], now: 0, maxNodesShown: 1 });

    showFleet(registry, { summaries: [needing('a', 1), needing('b', 1)], now: 0, maxNodesShown: 1 });

    expect(await registry.scrape()).not.toMatch(/^cilium_\w+\{target_node=/m);
  });

  test('show the 20 nodes that lack the most addresses in a fleet of any size', async () => {
    const summaries = Array.from({ length: 30 }, (_, index) => needing(`node-${index}`, index));

    const lines = (await linesOf(summaries, 0)).filter((line) =>
      line.startsWith('headwater_node_needed_addresses{'),
    );

    expect(lines).toHaveLength(20);
    expect(lines).toContain('headwater_node_needed_addresses{target_node="node-29"} 29');
    expect(lines).toContain('headwater_node_needed_addresses{target_node="node-10"} 10');
  });
});
