// The one form in which nodes join with whole agents.
import type { FigureContext, Settings } from '../figure.ts';
import { betweenJoins, type Joins, joins } from './joins.ts';

/** More are no news: each joins alone. */
const most = 300;

function countOf({ nodes }: Settings): number {
  return Math.min(nodes, most);
}

export function joinsInWords(settings: Settings): string {
  return (
    `${countOf(settings)} nodes with 8 addresses join, one every ${betweenJoins} ms. Their agents follow the rules of Cilium 1.20: ` +
    'the first request is a PUT of what the watch showed, up to 0.5 s after the CiliumNode, and what a conflict refuses follows a minute later.'
  );
}

export function playJoins({ scenarios, scale, ...settings }: FigureContext): Promise<Joins> {
  return scenarios.played({ cloud: 'aws', scale, nodes: countOf({ scale, ...settings }) }, joins);
}
