// The commands plan and snapshot: plans nodes that do not exist yet by what a controller knows, and saves that for later plans.
import type { RawFlags } from '../config/raw-option.ts';
import { integer, list, text, type ValueKind } from '../config/value-kinds.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import type { InstanceLimits } from '../providers/contract/facts.ts';
import { exitCode } from './exit-code.ts';
import { chooseKinds, type PlanQuestion } from './plan/chosen-kinds.ts';
import { type BlockFacts, blockFactsIn, planBlocks, waitingIn } from './plan/block-plan.ts';
import { planNodes } from './plan/plan.ts';
import { blockPlanLines, planLines } from './plan/plan-lines.ts';
import { type PlanningFacts, planningFactsIn } from './plan/planning-facts.ts';
import { loadSnapshot, type SavedStatus, saveSnapshot, snapshotText } from './plan/saved-status.ts';
import { isUnknownType, readTypeLimits } from './plan/type-limits.ts';
import { isJson, lastOf, printAnswer, readOnce, wrongFlag } from './status/asking.ts';
import type { Served } from './status/served-report.ts';
import type { Told } from './status/watch.ts';
import { counted } from './status/words.ts';

export async function plan(given: RawFlags): Promise<number> {
  const read = questionIn(given);
  const path = lastOf(given, 'snapshot');
  const wrong = 'problem' in read ? read.problem : wrongPlace(given);
  if ('problem' in read || wrong !== undefined) return printAnswer('plan', wrong ?? '', false);
  const { question } = read;
  const source = path === undefined ? await readOnce('plan', given) : await loadSnapshot(path);
  if (typeof source === 'string') return printAnswer('plan', source, false);
  const { planning } = planningFactsIn(source.json) ?? {};
  const { type } = question;
  const limits =
    planning !== undefined && isUnknownType(type, planning)
      ? await readTypeLimits(given, { type, ipam: planning.ipam })
      : undefined;
  return printAnswer('plan', toldPlan(source, question, limits), isJson(given));
}

export async function snapshot(given: RawFlags): Promise<number> {
  const path = lastOf(given, 'file');
  const served = await readOnce('snapshot', given);
  const wrong = typeof served === 'string' ? served : factsProblem(served);
  if (typeof served === 'string' || wrong !== undefined) return printAnswer('snapshot', wrong ?? '', false);
  const taken = snapshotText(served.json, clock.wall());
  if (path === undefined) {
    process.stdout.write(taken);
    return exitCode.fine;
  }
  const problem = await saveSnapshot(path, taken);
  return problem === undefined ? exitCode.fine : printAnswer('snapshot', problem, false);
}

function wrongPlace(given: RawFlags): string | undefined {
  const isTwice = given.has('snapshot') && given.has('address');
  return isTwice ? '--snapshot and --address name two sources: give one' : wrongFlag(given);
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
  'pre-allocate': integer({ min: 0, max: 10_000 }),
  pool: text('pool', /^[\w.-]{1,253}$/, 'the name of a CiliumPodIPPool'),
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
    preAllocate: read('pre-allocate', kinds['pre-allocate']),
    pool: read('pool', kinds.pool),
  };
  if (problems.length > 0) return { problem: problems.join('; ') };
  if (add === undefined) return { problem: 'say by --add how many nodes to plan, such as --add=300' };
  return { question: { ...question, add } };
}

type Source = Pick<Served, 'json' | 'report'> & Partial<SavedStatus>;

function toldPlan(source: Source, question: PlanQuestion, limits: InstanceLimits | string | undefined): Told {
  const blocks = blockFactsIn(source.json);
  const facts = planningFactsIn(source.json);
  if (blocks !== undefined) return toldBlocks(source, question, blocks);
  if (facts === undefined) return unanswered(factsProblem(source) ?? '');
  if (question.pool !== undefined)
    return unanswered('--pool is for pools of blocks, and nodes get addresses of subnets here: leave it out');
  const chosen = chooseKinds(question, facts.planning, limits);
  if ('problem' in chosen) return unanswered(chosen.problem);
  const planned = planNodes(question.add, chosen.kinds, facts);
  const notes = [...notesOf(facts), ...hindrancesOf(source), ...ageOf(source)];
  return {
    json: `${JSON.stringify({ ...planned, notes })}\n`,
    lines: (width) => planLines(planned, notes, width),
    isProblem: planned.fit < planned.nodes,
  };
}

function toldBlocks(source: Source, question: PlanQuestion, facts: BlockFacts): Told {
  const planned = planBlocks(question, facts);
  if (typeof planned === 'string') return unanswered(planned);
  const waiting = waitingIn(facts);
  const notes = [
    ...(waiting > 0 ? [`nodes that wait for blocks come first, and are not counted: ${waiting}`] : []),
    ...hindrancesOf(source),
    ...ageOf(source),
  ];
  return {
    json: `${JSON.stringify({ ...planned, notes })}\n`,
    lines: (width) => blockPlanLines(planned, notes, width),
    isProblem: planned.fit < planned.nodes,
  };
}

/** Why a report says nothing to plan with; undefined if it does. */
function factsProblem({ json, report }: Source): string | undefined {
  const isEnough = blockFactsIn(json) !== undefined || planningFactsIn(json) !== undefined;
  return isEnough ? undefined : withoutFacts(report);
}

/** Hindrances that a person ends: until then, nodes may get nothing. */
function hindrancesOf({ report: { paused, denied = [] } }: Source): readonly string[] {
  const reasons = paused.map(({ reason }) => reason).join(', ');
  const permissions = denied.map(({ permission }) => permission).join(', ');
  return [
    ...(reasons === '' ? [] : [`planned as if nothing were paused, and paused now: ${reasons}`]),
    ...(permissions === '' ? [] : [`planned as if all were permitted, and denied now: ${permissions}`]),
  ];
}

function ageOf({ takenAt }: Source): readonly string[] {
  return takenAt === undefined ? [] : [`by a snapshot of ${new Date(takenAt).toISOString()}`];
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
      ? [
          `nodes that are there lack ${counted(needed, 'address', 'es')}: such a need comes first, and is not counted`,
        ]
      : []),
    ...(subnets > 0 ? [`left out of the report, and of this plan: ${counted(subnets, 'subnet')}`] : []),
  ];
}
