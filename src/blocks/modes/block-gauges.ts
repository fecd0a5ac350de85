// Gauges of nodes that get blocks: how they are served, why not, and how long some have waited.
import type { MissingBlock } from '../allocation/allocation-policy.ts';
import type { Standing } from '../allocation/allocator-entry.ts';
import type { PoolTotal } from '../allocation/block-ledger.ts';
import type { PendingPods } from '../../kubernetes/watch/pending-pods.ts';
import type { Metrics, Series } from '../../observability/metrics.ts';

/** The label of a pool that does not exist: agents may ask for any name. */
export const unknownPool = 'unknown';

export interface ShownNodes {
  readonly standings: readonly Standing[];
  readonly pods: Pick<PendingPods, 'pendingOn'>;
  /** Monotonic ms. */
  readonly now: number;
}

export function showNodes(metrics: Metrics, { standings, pods, now }: ShownNodes): void {
  const nodes = { total: standings.length, satisfied: 0, in_deficit: 0, blocked: 0 };
  const oldest = { critical: now, high: now, normal: now };
  let pendingPods = 0;
  for (const standing of standings) {
    nodes[states[standing.standing]]++;
    const pending = standing.standing === 'waiting' ? pods.pendingOn(standing.holder.name) : 0;
    pendingPods += pending;
    const priority = priorityOf(standing, pending);
    oldest[priority] = Math.min(oldest[priority], standing.waitsSince ?? now);
  }
  for (const state of ['total', 'satisfied', 'in_deficit', 'blocked'] as const)
    metrics.headwater_nodes.set({ state }, nodes[state]);
  metrics.cilium_operator_ipam_nodes.set({ category: 'total' }, nodes.total);
  metrics.cilium_operator_ipam_nodes.set({ category: 'in-deficit' }, nodes.in_deficit);
  metrics.headwater_pending_pods.set(pendingPods);
  for (const priority of priorities)
    metrics.headwater_oldest_deficit_seconds.set({ priority }, (now - oldest[priority]) / 1000);
  metrics.headwater_blocked.replaceAll(
    [...reasonsOf(standings, (each) => each !== 'served')].map(([reason, count]) => [
      { resource: 'node', reason },
      count,
    ]),
  );
  metrics.headwater_warnings.replaceAll(
    [...reasonsOf(standings, (each) => each === 'served')].map(([reason, count]) => [{ reason }, count]),
  );
}

const states = { served: 'satisfied', waiting: 'in_deficit', leftAlone: 'blocked' } as const;

const priorities = ['critical', 'high', 'normal'] as const;

/** Words of headwater_oldest_deficit_seconds. */
function priorityOf({ holder }: Standing, pendingPods: number): (typeof priorities)[number] {
  if (pendingPods > 0) return 'critical';
  return holder.blocks.length === 0 ? 'high' : 'normal';
}

function reasonsOf(
  standings: readonly Standing[],
  counts: (standing: Standing['standing']) => boolean,
): ReadonlyMap<string, number> {
  const reasons = new Map<string, number>();
  for (const { standing, condition } of standings)
    if (condition !== undefined && counts(standing))
      reasons.set(condition.reason, (reasons.get(condition.reason) ?? 0) + 1);
  return reasons;
}

type PoolOfFamily = Pick<PoolTotal, 'pool' | 'family'>;

/** Each of `pools` has its series, 0 if nobody waits. */
export function waitingSeries(
  pools: readonly PoolOfFamily[],
  waiting: readonly MissingBlock[],
): Series<{ pool: string; family: string }>[] {
  const counts = countedByKey(waiting);
  const known = new Set(pools.map(({ pool }) => pool));
  const others = Map.groupBy(
    waiting.filter(({ pool }) => !known.has(pool)),
    ({ family }) => family,
  );
  return [
    ...pools.map(({ pool, family }) => [{ pool, family }, counts.get(keyOf({ pool, family })) ?? 0] as const),
    ...[...others].map(([family, { length }]) => [{ pool: unknownPool, family }, length] as const),
  ];
}

export function keyOf({ pool, family }: PoolOfFamily): string {
  return `${family} ${pool}`;
}

export function countedByKey(lacks: readonly MissingBlock[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const lack of lacks) counts.set(keyOf(lack), (counts.get(keyOf(lack)) ?? 0) + 1);
  return counts;
}
