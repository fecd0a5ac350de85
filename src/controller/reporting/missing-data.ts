// Which data a resync has to read again because nodes are in deficit.
import type { MissingData } from '../../manager/resync.ts';
import { isInDeficit } from '../../node/conditions/assessment.ts';
import type { ConditionReason } from '../../node/conditions/node-condition.ts';
import type { NodeFigures, NodeSummary } from '../../node/reconcile/node-summary.ts';

/** Whether the node lacks addresses, or its IPv6 prefix. */
export function inDeficit({ assessment }: NodeFigures): boolean {
  return assessment.kind === 'served' && isInDeficit(assessment);
}

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

export function missingDataOf(summaries: readonly NodeSummary[]): MissingData {
  const affected = summaries.flatMap((entry) =>
    entry.kind === 'reconciled' && inDeficit(entry.figures) ? [entry.figures] : [],
  );
  if (affected.some((figures) => mendable.has(figures.condition?.reason))) return 'infrastructure';
  return affected.length > 0 ? 'addresses' : 'nothing';
}
