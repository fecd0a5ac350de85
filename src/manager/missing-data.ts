// Which data a resync has to read again because nodes are in deficit.
import type { ConditionReason } from '../node/conditions/node-condition.ts';
import { inDeficit, type NodeSummary } from '../node/reconcile/node-summary.ts';

export type MissingData =
  | 'nothing'
  /** Addresses: fresh free counts of the subnets help. */
  | 'addresses'
  /** Something that a user can add or tag in the network, and that blocks a node until then. */
  | 'infrastructure';

/** Reasons that a user can fix in the network. Only a resync shows the fix. */
const mendable: ReadonlySet<ConditionReason | undefined> = new Set([
  'SubnetsExhausted',
  'SubnetsRefused',
  'NoSubnetMatches',
  'NoIpv6Subnet',
  'Ipv6PrefixesExhausted',
  'NoSecurityGroupMatches',
  'NetworkUnreadable',
] as const);

export function missingDataOf(summaries: Iterable<NodeSummary>): MissingData {
  const affected = [...summaries].flatMap((entry) =>
    entry.kind === 'reconciled' && inDeficit(entry.figures) ? [entry.figures] : [],
  );
  if (affected.some((figures) => mendable.has(figures.condition?.reason))) return 'infrastructure';
  return affected.length > 0 ? 'addresses' : 'nothing';
}
