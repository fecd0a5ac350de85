// Says when an option leaves no node to serve: then its value is most likely wrong.
import { type OutsideScope, presentable } from '../../node/conditions/node-condition.ts';
import type { NodeSummary } from '../../node/reconcile/node-summary.ts';

/** Maximum values shown. */
const maxNamed = 3;

/** Undefined unless there are nodes and every one of them is outside what an option restricts Headwater to. */
export function scopeProblem(summaries: readonly NodeSummary[]): string | undefined {
  const outside = summaries.map(scopeOf);
  const [first] = outside;
  if (first === undefined || outside.includes(undefined)) return undefined;
  const { option, allowed } = first;
  const named = [...new Set(outside.map((scope) => scope?.named ?? ''))].sort();
  const more = named.length > maxNamed ? ` and ${named.length - maxNamed} more` : '';
  const message = `no node is served: ${option} restricts Headwater to ${allowed}, and all nodes name ${named.slice(0, maxNamed).join(', ')}${more}`;
  return presentable({ reason: 'OutsideNetwork', message }).message;
}

function scopeOf(entry: NodeSummary): OutsideScope | undefined {
  if (entry.kind === 'blocked' || entry.figures.assessment.kind !== 'unmanaged') return undefined;
  return entry.figures.assessment.outside;
}
