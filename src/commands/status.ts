// The commands that ask: status shows how a controller is, or the agent of a node; explain why one node has what it has.
import type { RawFlags } from '../config/raw-option.ts';
import { sanitizedText } from '../network/untrusted-text.ts';
import { toldAgent } from './status/agent-lines.ts';
import { lastOf } from './flag-values.ts';
import { agentOf, ask, controller } from './status/asking.ts';
import { explainLines, isProblem } from './status/explain-lines.ts';
import type { Served, ShownReport } from './status/served-report.ts';
import { problemsOf, statusLines } from './status/status-lines.ts';
import type { Told } from './status/watch.ts';

export function status(given: RawFlags): Promise<number> {
  const node = lastOf(given, 'node');
  if (node !== undefined) return ask('status', given, agentOf(node), (agent) => toldAgent(node, agent));
  return ask('status', given, controller({}), (served) => ({
    json: served.json,
    lines: (width) => statusLines(served, width),
    isProblem: problemsOf(served).length > 0,
    unanswered: standbyProblem(served.report),
  }));
}

export function explain(given: RawFlags): Promise<number> {
  const name = lastOf(given, 'node') ?? '';
  return ask('explain', given, controller({ node: name }), (served) => told(name, served));
}

function told(name: string, served: Served): Told {
  const { json = '', report: node = { known: false, state: '' } as const } = served.node ?? {};
  if (node.known)
    return {
      json,
      lines: (width) => explainLines(node, served, width),
      isProblem: isProblem(node),
    };
  const which = `no node ${JSON.stringify(sanitizedText(name, 253))}`;
  const meant = 'nearest' in node && node.nearest !== undefined ? `; did you mean ${node.nearest}?` : '';
  return {
    json,
    lines: () => [],
    isProblem: true,
    unanswered: standbyProblem(node) ?? `${which} is known to ${served.report.identity}${meant}`,
  };
}

/** Undefined for a process that may know the nodes. */
function standbyProblem({ state, leader }: Pick<ShownReport, 'state' | 'leader'>): string | undefined {
  return state === 'standby' && leader !== undefined
    ? `only the leader knows the nodes: ask ${leader}`
    : undefined;
}
