import { describe, expect, test } from '@jest/globals';
import type { MetricRegistry } from '../../../src/observability/metrics.ts';
import type { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { addPod, blockRegistry, dryPools } from '../../support/dry-pools.ts';
import { PoolWorld } from './pool-world.ts';

async function seriesOf(registry: MetricRegistry): Promise<ReadonlyMap<string, number>> {
  const lines = (await registry.scrape()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))] as const;
    }),
  );
}

async function eventsOn(world: BlockWorld, node: string): Promise<readonly unknown[]> {
  const { items } = (await world.ask('GET', '/api/v1/events')) as unknown as {
    readonly items: readonly {
      readonly reason: string;
      readonly involvedObject: { readonly kind: string; readonly name: string };
    }[];
  };
  return items
    .filter(({ involvedObject: { kind, name } }) => kind === 'Node' && name === node)
    .map(({ reason }) => reason);
}

describe.each(dryPools)('the metrics of %s', (_, open) => {
  test('count a node that waits for a block, its pods, why, and since when', async () => {
    const { world, registry, reason } = await open();
    await addPod(world, 'c');
    await addPod(world, 'a');
    await world.clock.advance(600_000);

    const series = await seriesOf(registry);

    expect(Object.fromEntries(series)).toMatchObject({
      'headwater_nodes{state="total"}': 3,
      'headwater_nodes{state="satisfied"}': 2,
      'headwater_nodes{state="in_deficit"}': 1,
      'headwater_nodes{state="blocked"}': 0,
      [`headwater_blocked{resource="node",reason="${reason}"}`]: 1,
      headwater_pending_pods: 1,
      'headwater_cidr_waiting_nodes{pool="default",family="ipv4"}': 1,
      'headwater_oldest_deficit_seconds{priority="high"}': 0,
      'cilium_operator_ipam_nodes{category="in-deficit"}': 1,
      headwater_allocation_latency_seconds_count: 2,
    });
    expect(series.get('headwater_oldest_deficit_seconds{priority="critical"}')).toBeGreaterThan(590);
    expect(world.bugs).toEqual([]);
  });

  test('show that it waits no longer once it has one, as an Event does', async () => {
    const { world, registry, relieve, event } = await open();
    await world.clock.advance(60_000);

    await relieve();
    await world.clock.advance(120_000);

    const series = await seriesOf(registry);
    expect(series.get('headwater_nodes{state="in_deficit"}')).toBe(0);
    expect([...series.keys()].filter((name) => name.startsWith('headwater_blocked'))).toEqual([]);
    expect(series.get('headwater_cidr_waiting_nodes{pool="default",family="ipv4"}')).toBe(0);
    expect(series.get('headwater_oldest_deficit_seconds{priority="high"}')).toBe(0);
    expect(series.get('headwater_allocation_latency_seconds_count')).toBe(3);
    expect(new Set(await eventsOn(world, 'c'))).toEqual(new Set([event, 'Resolved']));
    expect(world.bugs).toEqual([]);
  });

  test('do not say 0 of what nodes do not get', async () => {
    const { registry } = await open();

    const names = [...(await seriesOf(registry)).keys()];

    expect(names.filter((name) => /interfaces|addresses|resync/.test(name))).toEqual([]);
  });
});

describe('the metrics of run --ipam=multi-pool', () => {
  test('count a node that waits for a pool that is not there', async () => {
    const registry = blockRegistry();
    const world = new PoolWorld({}, { registry });
    world.startReplica();
    await world.node('a', { blue: 1 });
    await world.clock.advance(60_000);

    expect(Object.fromEntries(await seriesOf(registry))).toMatchObject({
      'headwater_cidr_waiting_nodes{pool="unknown",family="ipv4"}': 1,
      'headwater_nodes{state="in_deficit"}': 1,
      'headwater_blocked{resource="node",reason="PoolMissing"}': 1,
    });
  });
});
