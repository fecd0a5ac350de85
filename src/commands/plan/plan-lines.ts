// Lines of the command plan. Pure.
import { laidOut, type Line, type Part, table, title, told } from '../status/text-table.ts';
import { ageInWords, counted, nameInWords } from '../status/words.ts';
import { familyNames } from '../../blocks/set/cidr.ts';
import type { BlockPlan } from './block-plan.ts';
import type { Plan, PlannedKind, PlanProblem } from './plan.ts';

/** `notes`: of what the plan leaves out. `width`: as for `laidOut`. */
export function planLines(plan: Plan, notes: readonly string[], width: number | undefined): readonly Line[] {
  const { kinds } = plan;
  const sections = [
    [title(headInWords(plan)), ...kinds.flatMap((kind) => kindParts(kind, kinds))],
    sumParts(plan),
    problemParts(plan),
    [subnetTable(plan)],
    noteParts(notes),
  ];
  return laidOut(sections, width);
}

/** The same of blocks. */
export function blockPlanLines(
  plan: BlockPlan,
  notes: readonly string[],
  width: number | undefined,
): readonly Line[] {
  const { nodes, fit, each, blocks, pools } = plan;
  const gets = each.map(
    ({ blocks: count, maskSize, family, addresses }) =>
      `${counted(count, `${familyNames[family]} block`)} of /${maskSize} with ${counted(addresses, 'address', 'es')}`,
  );
  const head = [
    title(`${counted(nodes, 'node')}: ${fitInWords(nodes, fit)}`),
    told('each', `gets ${gets.join(' and ')}`),
    told('total', counted(blocks, 'block')),
  ];
  const poolTable = table(pools, {
    columns: [
      ['POOL', ({ pool }) => pool],
      ['CIDR', ({ cidr }) => cidr, 1],
      ['MASK', ({ maskSize }) => `/${maskSize}`, 2],
      ...supplyColumns,
    ],
    style: ({ left }) => (left > 0 ? undefined : 'bad'),
  });
  return laidOut([head, problemParts(plan), [poolTable], noteParts(notes)], width);
}

function problemParts(plan: Pick<Plan, 'nodes' | 'problems'>): readonly Part[] {
  return plan.problems.map((problem) => told('problem', problemInWords(problem, plan), 'bad'));
}

function noteParts(notes: readonly string[]): readonly Part[] {
  return notes.map((note) => told('note', note, 'doubtful'));
}

type Supply = Pick<Plan['subnets'][number], 'free' | 'taken' | 'left' | 'runsOutAfter'>;

const supplyColumns = [
  ['FREE', ({ free }: Supply) => free],
  ['TAKEN', ({ taken }: Supply) => taken],
  ['LEFT', ({ left }: Supply) => left],
  [
    'FULL',
    ({ runsOutAfter: after }: Supply) => (after === undefined ? '' : `after ${counted(after, 'node')}`),
  ],
] as const;

function headInWords({ nodes, fit, kinds }: Plan): string {
  const type = isOfOneType(kinds) ? (kinds[0]?.type ?? '') : '';
  const what = `${counted(nodes, 'node')}${type === '' ? '' : ` of ${type}`}`;
  return `${what}: ${fitInWords(nodes, fit)}`;
}

function fitInWords(nodes: number, fit: number): string {
  if (fit === nodes) return 'all fit';
  return fit === 1 ? '1 fits' : `${fit} fit`;
}

function isOfOneType(kinds: readonly PlannedKind[]): boolean {
  return new Set(kinds.map(({ type }) => type)).size === 1;
}

function kindParts(kind: PlannedKind, kinds: readonly PlannedKind[]): readonly Part[] {
  const { zone, type, nodes, pods, like, interfaces, addresses, prefixes } = kind;
  const held = [
    counted(interfaces, 'interface'),
    counted(addresses, 'pod address', 'es'),
    ...(prefixes > 0 ? [`${counted(prefixes, 'prefix', 'es')} among them`] : []),
  ];
  const place = zone === '' ? '' : ` in ${zone}`;
  const count = kinds.length > 1 ? counted(nodes, 'node') : 'all';
  const ofType = isOfOneType(kinds) || type === '' ? '' : ` of ${type}`;
  const others = like.nodes === 1 ? '' : ` and ${like.nodes - 1} more`;
  return [
    told('like', `${count}${ofType}${place} like ${like.example}${others}, in ${like.subnet}`),
    told('each', `${counted(pods, 'pod')}; gets ${held.join(', ')}`),
  ];
}

function sumParts({ total, calls, seconds, limit }: Plan): readonly Part[] {
  const { newInterfaces, addresses, prefixes } = total;
  const sums = [
    ...(newInterfaces > 0 ? [counted(newInterfaces, 'new interface')] : []),
    counted(addresses, 'pod address', 'es'),
    ...(prefixes > 0 ? [`${counted(prefixes, 'prefix', 'es')} among them`] : []),
  ];
  const sent = Object.entries(calls).map(([operation, count]) => `${count} ${nameInWords(operation)}`);
  const { start, pods, all } = seconds;
  const by = limit === undefined ? 'no rate limit holds them back' : `held back by ${limit}`;
  return [
    told('total', sums.join(', ')),
    told('calls', sent.length === 0 ? 'none' : sent.join(', ')),
    told(
      'time',
      `${ageInWords(start)} until agents start, ${ageInWords(pods)} until pods have addresses, ${ageInWords(all)} for all calls: ${by}`,
    ),
  ];
}

function problemInWords(
  { reason, why, firstNode, nodes, pods }: PlanProblem,
  plan: Pick<Plan, 'nodes'>,
): string {
  const some = nodes === 1 ? `node ${firstNode}` : `${counted(nodes, 'node')}, first on node ${firstNode}`;
  const which = nodes === plan.nodes && nodes > 1 ? 'every node' : some;
  const waiting = pods === 0 ? '' : `, ${counted(pods, 'pod')} without an address`;
  return `${reason} on ${which}${waiting}: ${why}`;
}

function subnetTable({ subnets }: Plan): Part {
  return table(subnets, {
    columns: [
      ['SUBNET', ({ id }) => id],
      ['NAME', ({ name = '' }) => name, 2],
      ['ZONE', ({ zone }) => zone, 1],
      ...supplyColumns,
    ],
    style: ({ runsOutAfter }) => (runsOutAfter === undefined ? undefined : 'bad'),
  });
}
