// Fleet gauges, computed at each scrape.
import { nodeCapacity } from '../../node/demand/capacity.ts';
import {
  conditionOf,
  interfaceRoom,
  type InterfaceRoom,
  type NodeFigures,
  type NodeSummary,
} from '../../node/reconcile/node-summary.ts';
import { isInDeficit } from '../../node/conditions/assessment.ts';
import { lacksIpv6 } from '../../node/demand/ipv6.ts';
import { priorityOf } from '../../node/demand/statistics.ts';
import type { MetricRegistry, Metrics } from '../../observability/metrics.ts';
import type { Priority } from '../../providers/contract/priority.ts';
import type { SubnetFigures } from './subnet-figures.ts';

export interface FleetTotals {
  readonly nodes: Record<
    'total' | 'satisfied' | 'in_deficit' | 'at_capacity' | 'blocked' | 'unknown',
    number
  >;
  readonly addresses: Record<'available' | 'used' | 'needed' | 'releasing', number>;
  readonly pendingPods: number;
  readonly interfaces: Record<'with_room' | 'full' | 'excluded' | 'unreadable', number>;
  readonly prefixes: number;
  readonly ipv6Prefixes: number;
  readonly emptySlots: number;
  /** Start of the longest current deficit by priority, in monotonic ms. */
  readonly oldestDeficit: Readonly<Partial<Record<Priority, number>>>;
}

/** Number of nodes with their own series in a fleet of any size: those with the largest deficit. */
export const maxNeedyNodes = 20;

export function totalsOf(summaries: Iterable<NodeSummary>): FleetTotals {
  const totals = {
    nodes: { total: 0, satisfied: 0, in_deficit: 0, at_capacity: 0, blocked: 0, unknown: 0 },
    addresses: { available: 0, used: 0, needed: 0, releasing: 0 },
    pendingPods: 0,
    interfaces: { with_room: 0, full: 0, excluded: 0, unreadable: 0 },
    prefixes: 0,
    ipv6Prefixes: 0,
    emptySlots: 0,
    oldestDeficit: {},
  };
  for (const entry of summaries) {
    totals.nodes.total++;
    totals.nodes[standingOf(entry)]++;
    if (entry.kind === 'reconciled') addNode(totals, entry.figures);
    else addBlocked(totals, entry);
  }
  return totals;
}

type Totals = { -readonly [K in keyof FleetTotals]: FleetTotals[K] };

/** The pods of a blocked node get no address either. */
function addBlocked(totals: Totals, { pendingPods, blockedSince }: NodeSummary & { kind: 'blocked' }): void {
  totals.pendingPods += pendingPods;
  if (pendingPods > 0) addOldest(totals, 'critical', blockedSince);
}

function addNode(totals: Totals, figures: NodeFigures): void {
  const { assessment } = figures;
  // Another operator serves the unmanaged ones.
  if (assessment.kind !== 'unmanaged') totals.pendingPods += figures.pendingPods;
  addDeficit(totals, figures);
  if (assessment.kind !== 'served') return;
  const { addresses } = totals;
  addresses.available += assessment.usage.available;
  addresses.used += assessment.usage.used;
  addresses.needed += assessment.needed;
  addresses.releasing += figures.releasing;
  const room = interfaceRoom(figures);
  addInterfaces(totals, figures, room);
  if (isAtCapacity(assessment.usage, room)) totals.nodes.at_capacity++;
}

/** On a node that is not served, or is not shown what it has, pending pods count as having no free address. */
function addDeficit(
  totals: Totals,
  { assessment, pendingPods, inDeficitSince, isPublished }: NodeFigures,
): void {
  const unserved = pendingPods > 0 ? 'critical' : 'normal';
  const isServed = assessment.kind === 'served' && isPublished;
  addOldest(
    totals,
    isServed ? priorityOf(assessment.usage, lacksIpv6(assessment.ipv6)) : unserved,
    inDeficitSince,
  );
}

function addOldest(totals: Totals, priority: Priority, since: number | undefined): void {
  if (since === undefined) return;
  const oldest = Math.min(totals.oldestDeficit[priority] ?? Infinity, since);
  totals.oldestDeficit = { ...totals.oldestDeficit, [priority]: oldest };
}

function addInterfaces(totals: Totals, { view }: NodeFigures, room: InterfaceRoom): void {
  const { interfaces } = totals;
  interfaces.with_room += room.candidates;
  interfaces.full += room.full;
  interfaces.excluded += room.excluded;
  interfaces.unreadable += view?.unreadable.length ?? 0;
  totals.emptySlots += room.emptySlots;
  for (const { prefixes, ipv6Prefixes = [] } of view?.interfaces ?? []) {
    totals.prefixes += prefixes.length;
    totals.ipv6Prefixes += ipv6Prefixes.length;
  }
}

export interface FleetShown {
  readonly summaries: readonly NodeSummary[];
  /** Monotonic ms. */
  readonly now: number;
  /** In a larger fleet only the nodes with the largest deficit have their own series. */
  readonly maxNodesShown: number;
}

/** Sets every gauge about the fleet and its nodes. */
export function showFleet(
  { metrics, forgetNode }: Pick<MetricRegistry, 'metrics' | 'forgetNode'>,
  { summaries, now, maxNodesShown }: FleetShown,
): void {
  const totals = totalsOf(summaries);
  for (const [state, count] of entries(totals.nodes)) metrics.headwater_nodes.set({ state }, count);
  for (const [state, count] of entries(totals.addresses)) metrics.headwater_addresses.set({ state }, count);
  for (const [state, count] of entries(totals.interfaces)) metrics.headwater_interfaces.set({ state }, count);
  metrics.headwater_pending_pods.set(totals.pendingPods);
  metrics.headwater_prefixes.set(totals.prefixes);
  metrics.headwater_ipv6_prefixes.set(totals.ipv6Prefixes);
  for (const priority of ['critical', 'high', 'normal'] as const) {
    const since = totals.oldestDeficit[priority] ?? now;
    metrics.headwater_oldest_deficit_seconds.set({ priority }, (now - since) / 1000);
  }
  metrics.headwater_node_needed_addresses.replaceAll(neediest(summaries));
  showAsOperator(metrics, totals);
  showNodes({ metrics, forgetNode }, summaries.length <= maxNodesShown ? summaries : []);
}

function showNodes(
  { metrics, forgetNode }: Pick<MetricRegistry, 'metrics' | 'forgetNode'>,
  summaries: readonly NodeSummary[],
): void {
  if (summaries.length === 0) {
    metrics.cilium_operator_ipam_available_ips.replaceAll([]);
    metrics.cilium_operator_ipam_used_ips.replaceAll([]);
    metrics.cilium_operator_ipam_needed_ips.replaceAll([]);
  }
  for (const entry of summaries) {
    // Values of a node that is no longer served are stale.
    if (entry.kind !== 'reconciled' || entry.figures.assessment.kind !== 'served') forgetNode(entry.name);
    else showNode(metrics, entry.name, entry.figures);
  }
}

function neediest(summaries: readonly NodeSummary[]): (readonly [{ target_node: string }, number])[] {
  return summaries
    .flatMap((entry) =>
      entry.kind === 'reconciled' &&
      entry.figures.assessment.kind === 'served' &&
      entry.figures.assessment.needed > 0
        ? [[{ target_node: entry.name }, entry.figures.assessment.needed] as const]
        : [],
    )
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, maxNeedyNodes);
}

function showAsOperator(metrics: Metrics, { nodes, addresses, interfaces, emptySlots }: FleetTotals): void {
  metrics.cilium_operator_ipam_nodes.set({ category: 'total' }, nodes.total);
  metrics.cilium_operator_ipam_nodes.set({ category: 'in-deficit' }, nodes.in_deficit);
  metrics.cilium_operator_ipam_nodes.set({ category: 'at-capacity' }, nodes.at_capacity);
  for (const type of ['available', 'used', 'needed'] as const) {
    metrics.cilium_operator_ipam_ips.set({ type }, addresses[type]);
  }
  metrics.cilium_operator_ipam_interface_candidates.set(interfaces.with_room);
  metrics.cilium_operator_ipam_empty_interface_slots.set(emptySlots);
  metrics.cilium_operator_ipam_available_interfaces.set(interfaces.with_room + emptySlots);
}

function showNode(metrics: Metrics, name: string, { assessment, view }: NodeFigures): void {
  if (assessment.kind !== 'served' || view === undefined) return;
  const { limits, requirements, usage, needed } = assessment;
  const node = { target_node: name };
  metrics.cilium_operator_ipam_available_ips.set(node, nodeCapacity(limits, view, requirements));
  metrics.cilium_operator_ipam_used_ips.set(node, usage.used);
  metrics.cilium_operator_ipam_needed_ips.set(node, needed);
}

export type NodeStanding = 'satisfied' | 'in_deficit' | 'blocked' | 'unknown';

/** Each node has exactly one standing. */
export function standingOf(entry: NodeSummary): NodeStanding {
  if (entry.kind === 'blocked') return 'blocked';
  const { assessment, isPublished } = entry.figures;
  if (assessment.kind === 'unread') return 'unknown';
  if (assessment.kind !== 'served') return 'blocked';
  // An address that the agent does not see does not count.
  return isInDeficit(assessment) || !isPublished ? 'in_deficit' : 'satisfied';
}

/** The node has no free address and no room for another. */
function isAtCapacity(
  { available, used }: { readonly available: number; readonly used: number },
  { candidates, emptySlots }: InterfaceRoom,
): boolean {
  return available - used <= 0 && candidates + emptySlots === 0;
}

function entries<K extends string>(record: Record<K, number>): [K, number][] {
  return Object.entries(record) as [K, number][];
}

/** Blocked resources by kind and reason: nodes with a condition, served nodes too. */
export function blockedSeries(
  summaries: readonly NodeSummary[],
  subnets: readonly SubnetFigures[],
): (readonly [{ resource: 'node' | 'interface' | 'subnet'; reason: string }, number])[] {
  const counts = new Map<string, number>();
  const add = (resource: string, reason: string): void => {
    counts.set(`${resource} ${reason}`, (counts.get(`${resource} ${reason}`) ?? 0) + 1);
  };
  for (const entry of summaries) {
    const condition = conditionOf(entry);
    if (condition !== undefined) add('node', condition.reason);
    const view = entry.kind === 'reconciled' ? entry.figures.view : undefined;
    for (const _ of view?.unreadable ?? []) add('interface', 'InterfaceUnreadable');
  }
  for (const _ of subnets.filter(({ exhausted }) => exhausted)) add('subnet', 'SubnetsExhausted');
  for (const _ of subnets.filter(({ fragmented }) => fragmented)) add('subnet', 'PrefixSpaceFragmented');
  return [...counts].map(([key, count]) => {
    const [resource, reason] = key.split(' ') as ['node' | 'interface' | 'subnet', string];
    return [{ resource, reason }, count] as const;
  });
}

/** A node with several warnings of one reason counts once. */
export function warningSeries(summaries: readonly NodeSummary[]): (readonly [{ reason: string }, number])[] {
  const counts = new Map<string, number>();
  for (const entry of summaries) {
    const warnings = entry.kind === 'reconciled' ? entry.figures.warnings : [];
    for (const reason of new Set(warnings.map((warning) => warning.reason)))
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => [{ reason }, count] as const);
}
