// Which deficits of the fleet another read of the network may resolve.
import type { Lacking } from '../../manager/resync.ts';
import type { ConditionReason } from '../../node/conditions/node-condition.ts';
import type { NodeFigures, NodeSummary } from '../../node/reconcile/node-summary.ts';

/** Whether the node lacks addresses. */
export function isShort({ assessment }: NodeFigures): boolean {
  return assessment.kind === 'served' && assessment.wanted > 0;
}

/** Reasons that a user can fix in the network. Only a resync shows the fix. */
const mendable: ReadonlySet<ConditionReason | undefined> = new Set([
  'SubnetsExhausted',
  'NoSubnetMatches',
  'NoSecurityGroupMatches',
  'NetworkUnreadable',
] as const);

export function lackingOf(summaries: readonly NodeSummary[]): Lacking {
  const short = summaries.flatMap((entry) =>
    entry.kind === 'managed' && isShort(entry.figures) ? [entry.figures] : [],
  );
  if (short.some((figures) => mendable.has(figures.condition?.reason))) return 'infrastructure';
  return short.length > 0 ? 'addresses' : 'nothing';
}
