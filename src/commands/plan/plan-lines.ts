// Lines of the command plan. Pure.
import { cut, type Line, table, title, told } from '../status/text-table.ts';
import { ageInWords, counted, nameInWords } from '../status/words.ts';
import { familyNames } from '../../blocks/set/cidr.ts';
import type { BlockPlan } from './block-plan.ts';
import type { Plan, PlannedKind, PlanProblem } from './plan.ts';

type Width = number | undefined;

/** `notes`: of what the plan leaves out. */
export function planLines(plan: Plan, notes: readonly string[], width: Width): readonly Line[] {
  const { kinds, problems } = plan;
  const sections = [
    [...title(headInWords(plan), width), ...kinds.flatMap((kind) => kindLines(kind, kinds, width))],
    sumLines(plan, width),
    problems.flatMap((problem) => told('problem', problemInWords(problem, plan), width, 'bad')),
    subnetLines(plan, width),
    notes.flatMap((note) => told('note', note, width, 'doubtful')),
  ];
  return joined(sections, width);
}

/** The same of blocks. */
export function blockPlanLines(plan: BlockPlan, notes: readonly string[], width: Width): readonly Line[] {
  const { nodes, fit, each, blocks, pools, problems } = plan;
  const gets = each.map(
    ({ blocks: count, maskSize, family, addresses }) =>
      `${counted(count, `${familyNames[family]} block`)} of /${maskSize} with ${counted(addresses, 'address', 'es')}`,
  );
  const sections = [
    [
      ...title(`${counted(nodes, 'node')}: ${fitInWords(nodes, fit)}`, width),
      ...told('each', `gets ${gets.join(' and ')}`, width),
      ...told('total', counted(blocks, 'block'), width),
    ],
    problems.flatMap((problem) => told('problem', problemInWords(problem, plan), width, 'bad')),
    table(pools, width, {
      columns: [
        ['POOL', ({ pool }) => pool],
        ['CIDR', ({ cidr }) => cidr, 1],
        ['MASK', ({ maskSize }) => `/${maskSize}`, 2],
        ['FREE', ({ free }) => free],
        ['TAKEN', ({ taken }) => taken],
        ['LEFT', ({ left }) => left],
        ['FULL', fullAfter],
      ],
      style: ({ left }) => (left > 0 ? undefined : 'bad'),
    }),
    notes.flatMap((note) => told('note', note, width, 'doubtful')),
  ];
  return joined(sections, width);
}

function fullAfter({ runsOutAfter: after }: { readonly runsOutAfter?: number }): string {
  return after === undefined ? '' : `after ${counted(after, 'node')}`;
}

function joined(sections: readonly (readonly Line[])[], width: Width): readonly Line[] {
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : [{ text: '' }, ...lines]))
    .map((line) => ({ ...line, text: cut(line.text, width) }));
}

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

function kindLines(kind: PlannedKind, kinds: readonly PlannedKind[], width: Width): readonly Line[] {
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
    ...told('like', `${count}${ofType}${place} like ${like.example}${others}, in ${like.subnet}`, width),
    ...told('each', `${counted(pods, 'pod')}; gets ${held.join(', ')}`, width),
  ];
}

function sumLines({ total, calls, seconds, limit }: Plan, width: Width): readonly Line[] {
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
    ...told('total', sums.join(', '), width),
    ...told('calls', sent.length === 0 ? 'none' : sent.join(', '), width),
    ...told(
      'time',
      `${ageInWords(start)} until agents start, ${ageInWords(pods)} until pods have addresses, ${ageInWords(all)} for all calls: ${by}`,
      width,
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

function subnetLines({ subnets }: Plan, width: Width): readonly Line[] {
  return table(subnets, width, {
    columns: [
      ['SUBNET', ({ id }) => id],
      ['NAME', ({ name = '' }) => name, 2],
      ['ZONE', ({ zone }) => zone, 1],
      ['FREE', ({ free }) => free],
      ['TAKEN', ({ taken }) => taken],
      ['LEFT', ({ left }) => left],
      ['FULL', fullAfter],
    ],
    style: ({ runsOutAfter }) => (runsOutAfter === undefined ? undefined : 'bad'),
  });
}
