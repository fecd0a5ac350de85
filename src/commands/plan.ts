// The commands plan and snapshot: plans nodes that do not exist yet by what a controller knows, and saves that for later plans.
import type { RawFlags } from '../config/raw-option.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import type { InstanceLimits } from '../providers/contract/facts.ts';
import { exitCode } from './exit-code.ts';
import { lastOf, readFlags } from './flag-values.ts';
import { planKinds } from './plan-description.ts';
import { chooseKinds, isUnknownType, type PlanQuestion } from './plan/chosen-kinds.ts';
import { type BlockFacts, blockFactsIn, planBlocks, waitingIn } from './plan/block-plan.ts';
import { planNodes } from './plan/plan.ts';
import { blockPlanLines, planLines } from './plan/plan-lines.ts';
import { type PlanningFacts, planningFactsIn } from './plan/planning-facts.ts';
import { loadSnapshot, type SavedStatus, saveSnapshot, snapshotText } from './plan/saved-status.ts';
import { readTypeLimits } from './plan/type-limits.ts';
import { isJson, printAnswer, readOnce, wrongFlag } from './status/asking.ts';
import type { Served } from './status/served-report.ts';
import type { Told } from './status/watch.ts';
import { counted } from './status/words.ts';

export async function plan(given: RawFlags): Promise<number> {
  const question = questionIn(given);
  if (typeof question === 'string') return printAnswer('plan', question, false);
  const wrong = wrongPlace(given);
  if (wrong !== undefined) return printAnswer('plan', wrong, false);
  const path = lastOf(given, 'snapshot');
  const source = path === undefined ? await readOnce('plan', given) : await loadSnapshot(path);
  if (typeof source === 'string') return printAnswer('plan', source, false);
  const { planning } = planningFactsIn(source.json) ?? {};
  const { type } = question;
  const limits =
    planning !== undefined && isUnknownType(type, planning.kinds)
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

function questionIn(given: RawFlags): PlanQuestion | string {
  const read = readFlags(given, planKinds);
  if (typeof read === 'string') return read;
  const { add, zone: zones = [], 'agent-addresses': agentAddresses = 2, 'pre-allocate': preAllocate } = read;
  if (add === undefined) return 'say by --add how many nodes to plan, such as --add=300';
  const { type, subnet, pods, pool } = read;
  return { add, type, zones, subnet, pods, agentAddresses, preAllocate, pool };
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
