// Counts blocked resources by kind and reason, for the metrics: nodes with a condition, served nodes too. Counts nodes
// with warnings by reason.
import { conditionOf, type NodeSummary } from '../../node/reconcile/node-summary.ts';
import type { SubnetFigures } from './subnet-figures.ts';

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
