// The state of the fleet as gauges, computed when somebody asks for them.
import type { SeatFigures } from '../manager/fleet.ts';
import { nodeCapacity } from '../node/capacity.ts';
import { interfaceRoom, type NodeFigures } from '../node/node-figures.ts';
import { urgencyOf } from '../node/urgency.ts';
import type { MetricRegistry, Metrics } from '../observability/metrics.ts';
import type { Urgency } from '../providers/urgency.ts';

export interface FleetTotals {
  readonly nodes: Record<'total' | 'supplied' | 'short' | 'at_capacity' | 'set_aside' | 'unread', number>;
  readonly addresses: Record<'available' | 'used' | 'needed' | 'waiting', number>;
  readonly interfaceCandidates: number;
  readonly emptySlots: number;
  /** Since when the node lacks addresses that has lacked them longest, in monotonic ms, by how badly it needs them. */
  readonly oldestShortage: Readonly<Partial<Record<Urgency, number>>>;
}

export function totalsOf(seats: Iterable<SeatFigures>): FleetTotals {
  const totals = {
    nodes: { total: 0, supplied: 0, short: 0, at_capacity: 0, set_aside: 0, unread: 0 },
    addresses: { available: 0, used: 0, needed: 0, waiting: 0 },
    interfaceCandidates: 0,
    emptySlots: 0,
    oldestShortage: {},
  };
  for (const seat of seats) {
    totals.nodes.total++;
    totals.nodes[seat.kind === 'managed' ? standingOf(seat.figures) : 'set_aside']++;
    if (seat.kind === 'managed') addNode(totals, seat.figures);
  }
  return totals;
}

function addNode(totals: { -readonly [K in keyof FleetTotals]: FleetTotals[K] }, figures: NodeFigures): void {
  const { assessment, shortSince } = figures;
  if (assessment.kind !== 'served') return;
  const { addresses } = totals;
  addresses.available += assessment.usage.available;
  addresses.used += assessment.usage.used;
  addresses.waiting += assessment.usage.waitingPods;
  addresses.needed += assessment.needed;
  const room = interfaceRoom(figures);
  totals.interfaceCandidates += room.candidates;
  totals.emptySlots += room.emptySlots;
  if (isAtCapacity(figures)) totals.nodes.at_capacity++;
  if (shortSince === undefined) return;
  const urgency = urgencyOf(assessment.usage);
  const oldest = Math.min(totals.oldestShortage[urgency] ?? Infinity, shortSince);
  totals.oldestShortage = { ...totals.oldestShortage, [urgency]: oldest };
}

/** Sets every gauge about the fleet and its nodes. `now` is monotonic. */
export function showFleet(
  { metrics, forgetNode }: Pick<MetricRegistry, 'metrics' | 'forgetNode'>,
  seats: readonly SeatFigures[],
  now: number,
): void {
  const totals = totalsOf(seats);
  for (const [state, count] of entries(totals.nodes)) metrics.headwater_nodes.set({ state }, count);
  for (const [state, count] of entries(totals.addresses)) metrics.headwater_addresses.set({ state }, count);
  for (const urgency of ['starving', 'waiting', 'toppingUp'] as const) {
    const since = totals.oldestShortage[urgency] ?? now;
    metrics.headwater_oldest_shortage_seconds.set({ urgency }, (now - since) / 1000);
  }
  showAsOperator(metrics, totals);
  for (const seat of seats) {
    // What was true of a node that is not served any more says nothing now.
    if (seat.kind !== 'managed' || seat.figures.assessment.kind !== 'served') forgetNode(seat.name);
    else showNode(metrics, seat.name, seat.figures);
  }
}

function showAsOperator(
  metrics: Metrics,
  { nodes, addresses, interfaceCandidates, emptySlots }: FleetTotals,
): void {
  metrics.cilium_operator_ipam_nodes.set({ category: 'total' }, nodes.total);
  metrics.cilium_operator_ipam_nodes.set({ category: 'in-deficit' }, nodes.short);
  metrics.cilium_operator_ipam_nodes.set({ category: 'at-capacity' }, nodes.at_capacity);
  for (const type of ['available', 'used', 'needed'] as const) {
    metrics.cilium_operator_ipam_ips.set({ type }, addresses[type]);
  }
  metrics.cilium_operator_ipam_interface_candidates.set(interfaceCandidates);
  metrics.cilium_operator_ipam_empty_interface_slots.set(emptySlots);
  metrics.cilium_operator_ipam_available_interfaces.set(interfaceCandidates + emptySlots);
}

function showNode(metrics: Metrics, name: string, { assessment, view }: NodeFigures): void {
  if (assessment.kind !== 'served' || view === undefined) return;
  const { limits, requirements, usage, needed } = assessment;
  const node = { target_node: name };
  metrics.cilium_operator_ipam_available_ips.set(node, nodeCapacity(limits, view, requirements));
  metrics.cilium_operator_ipam_used_ips.set(node, usage.used);
  metrics.cilium_operator_ipam_needed_ips.set(node, needed);
}

function standingOf({ assessment }: NodeFigures): 'supplied' | 'short' | 'set_aside' | 'unread' {
  if (assessment.kind === 'unread') return 'unread';
  if (assessment.kind !== 'served') return 'set_aside';
  return assessment.wanted > 0 ? 'short' : 'supplied';
}

/** It has no free address, and there is no room for one. */
function isAtCapacity(figures: NodeFigures): boolean {
  if (figures.assessment.kind !== 'served') return false;
  const { available, used } = figures.assessment.usage;
  const { candidates, emptySlots } = interfaceRoom(figures);
  return available - used <= 0 && candidates + emptySlots === 0;
}

function entries<K extends string>(record: Record<K, number>): [K, number][] {
  return Object.entries(record) as [K, number][];
}
