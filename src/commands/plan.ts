// The command plan: asks a controller for its facts, and plans nodes that do not exist yet.
import type { RawFlags } from '../config/raw-option.ts';
import { integer, list, text, type ValueKind } from '../config/value-kinds.ts';
import { exitCode } from './exit-code.ts';
import { chooseKinds, type PlanQuestion } from './plan/chosen-kinds.ts';
import { planNodes } from './plan/plan.ts';
import { planLines } from './plan/plan-lines.ts';
import { type PlanningFacts, planningFactsIn } from './plan/planning-facts.ts';
import { ask } from './status/asking.ts';
import type { Served } from './status/served-report.ts';
import type { Told } from './status/watch.ts';

export function plan(given: RawFlags): Promise<number> {
  const read = questionIn(given);
  if ('problem' in read) {
    process.stderr.write(`headwater plan: ${read.problem}\n`);
    return Promise.resolve(exitCode.unanswered);
  }
  return ask('plan', given, { question: {}, tell: (served) => toldPlan(served, read.question) });
}

const kinds = {
  add: integer({ min: 1, max: 10_000 }),
  type: text('type', /^[\w.-]{1,64}$/, 'the name of an instance type, such as m6i.xlarge'),
  zone: list(
    'zone,...',
    /^[\w-]{1,64}$/,
    'names of zones, separated by commas or spaces, or the ends of names',
  ),
  subnet: text('subnet', /^[\w./()-]{1,500}$/, 'the id of a subnet'),
  pods: integer({ min: 0, max: 10_000 }),
  'agent-addresses': integer({ min: 0, max: 100 }),
} as const satisfies Record<string, ValueKind<unknown>>;

function questionIn(given: RawFlags): { readonly question: PlanQuestion } | { readonly problem: string } {
  const problems: string[] = [];
  const read = <T>(name: keyof typeof kinds, kind: ValueKind<T>): T | undefined => {
    const values = (given.get(name) ?? []).map((value) => {
      const parsed = kind.parse(value);
      if (parsed === undefined)
        problems.push(`--${name} is ${JSON.stringify(value)}; accepted: ${kind.accepts}`);
      return parsed;
    });
    const parsed = values.filter((value) => value !== undefined);
    return kind.combine === undefined || parsed.length === 0 ? parsed.at(-1) : kind.combine(parsed);
  };
  const add = read('add', kinds.add);
  const question = {
    type: read('type', kinds.type),
    zones: read('zone', kinds.zone) ?? [],
    subnet: read('subnet', kinds.subnet),
    pods: read('pods', kinds.pods),
    agentAddresses: read('agent-addresses', kinds['agent-addresses']) ?? 2,
  };
  if (problems.length > 0) return { problem: problems.join('; ') };
  if (add === undefined) return { problem: 'say by --add how many nodes to plan, such as --add=300' };
  return { question: { ...question, add } };
}

function toldPlan({ json, report }: Served, question: PlanQuestion): Told {
  const facts = planningFactsIn(json);
  if (facts === undefined) return unanswered(withoutFacts(report));
  const chosen = chooseKinds(question, facts.planning);
  if ('problem' in chosen) return unanswered(chosen.problem);
  const planned = planNodes(question.add, chosen.kinds, facts);
  const notes = notesOf(facts);
  return {
    json: `${JSON.stringify({ ...planned, notes })}\n`,
    lines: (width) => planLines(planned, notes, width),
    isProblem: planned.fit < planned.nodes,
  };
}

function withoutFacts({ state, leader, identity, version }: Served['report']): string {
  if (state === 'standby' && leader !== undefined) return `only the leader knows the nodes: ask ${leader}`;
  const of = `${identity}${version === undefined ? '' : `, of version ${version},`}`;
  return state === 'leading' ? `${of} says nothing to plan with: update it` : `${of} does not lead: ${state}`;
}

function unanswered(problem: string): Told {
  return { json: '', lines: () => [], isProblem: true, unanswered: problem };
}

/** Facts that the plan does not count. */
function notesOf({ addresses, omitted }: PlanningFacts): readonly string[] {
  const needed = addresses?.needed ?? 0;
  const subnets = omitted?.subnets ?? 0;
  return [
    ...(needed > 0
      ? [`nodes that are there lack ${needed} addresses, which come first and are not counted`]
      : []),
    ...(subnets > 0 ? [`${subnets} subnets are left out of the report, and of this plan`] : []),
  ];
}
