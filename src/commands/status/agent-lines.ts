// The lines that `headwater status --node` prints of an agent. Pure.
import { sanitizedText } from '../../network/untrusted-text.ts';
import type { ServedAgent, ShownAgent } from './served-report.ts';
import { laidOut, type Line, type Part, table, title, told } from './text-table.ts';
import type { Told } from './watch.ts';
import { counted } from './words.ts';

/** The answer of an agent to a question about a node. */
export function toldAgent(asked: string, { json, report: agent }: ServedAgent): Told {
  const { node, waitingFor, problem } = agent;
  return {
    json,
    lines: (width) => agentLines(agent, width),
    isProblem: waitingFor !== undefined || problem !== undefined,
    unanswered:
      node === asked ? undefined : `the agent of ${node} answers, not that of ${sanitizedText(asked, 253)}`,
  };
}

/** `width`: of the terminal; undefined without one: every line is whole then. */
export function agentLines(agent: ShownAgent, width: number | undefined): readonly Line[] {
  const { node, mode, version, waitingFor, problem, attachments, pools } = agent;
  const head = [
    title(`${node}: agent, ${mode}${version === undefined ? '' : `, version ${version}`}`),
    told('waits for', waitingFor, 'bad'),
    told('problem', problem, 'bad'),
    told('pods', `${counted(attachments, 'interface')} with addresses`),
  ];
  return laidOut([head, [poolTable(pools)]], width);
}

function poolTable(pools: ShownAgent['pools']): Part {
  return table(pools, {
    columns: [
      ['POOL', ({ pool }) => pool],
      ['FAMILY', ({ family }) => family],
      ['SIZE', ({ capacity }) => capacity, 1],
      ['USED', ({ used }) => used],
      ['FREE', ({ available }) => available],
      ['NEEDED', ({ needed }) => needed, 2],
      ['FROM', ({ cidrs }) => cidrs.join(', '), 3],
    ],
    style: ({ available }) => (available === 0 ? 'bad' : undefined),
  });
}
