// What the command status prints of a report, and what it calls a problem. Pure.
import type { Served, ShownReport } from './served-report.ts';
import { type Column, paragraph, tableLines } from './text-table.ts';

export interface Line {
  readonly text: string;
  readonly style?: 'title' | 'good' | 'bad' | 'doubtful';
}

type Facts = Pick<Served, 'report' | 'unready'>;

/** What someone has to act on, in a few words each; empty if all is well. A dry run is no problem. */
export function problemsOf({ report, unready }: Facts): readonly string[] {
  const { state, paused } = report;
  return [
    ...(state === 'leading' ? [] : [`it does not lead: ${state}`]),
    ...(state === 'leading' && unready !== undefined ? ['it is not ready'] : []),
    ...fleetProblems(report),
    ...paused.filter(({ reason }) => reason !== 'dryRun').map(({ reason }) => `paused: ${reason}`),
  ];
}

function fleetProblems(report: ShownReport): readonly string[] {
  const { reasons = [], pendingPods = 0, waiting = [], denied = [], warnings = [] } = report;
  const blocked = reasons.reduce((sum, [, count]) => sum + count, 0);
  const problems = [
    [blocked, `${counted(blocked, 'node')} with a reason`],
    [pendingPods, `pods that wait: ${pendingPods}`],
    [blocked > 0 ? 0 : waiting.length, `nodes that wait for a block: ${waiting.length}`],
    [denied.length, `${counted(denied.length, 'permission')} denied`],
    [warnings.length, counted(warnings.length, 'warning')],
  ] as const;
  return problems.filter(([count]) => count > 0).map(([, problem]) => problem);
}

/** `width`: of the terminal; undefined without one: every line is whole then, and nothing is left out. */
export function statusLines(facts: Facts, width: number | undefined): readonly Line[] {
  const { report } = facts;
  const sections = [
    headLines(facts, width),
    countLines(report, width),
    reasonLines(report, width),
    supplyLines(report, width),
    limitLines(report, width),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : [{ text: '' }, ...lines]))
    .map((line) => ({ ...line, text: cut(line.text, width) }));
}

function headLines(facts: Facts, width: number | undefined): readonly Line[] {
  const { report, unready } = facts;
  const { identity, state, leader, version } = report;
  const problems = problemsOf(facts);
  return [
    { text: `${identity}: ${state}${version === undefined ? '' : `, version ${version}`}`, style: 'title' },
    ...(leader === undefined ? [] : told('leader', leader, width)),
    ...(unready === undefined ? told('ready', 'yes', width) : told('ready', `no: ${unready}`, width, 'bad')),
    ...(problems.length === 0
      ? told('problems', 'none', width, 'good')
      : told('problems', problems.join('; '), width, 'bad')),
    ...report.paused.flatMap((pause) => told('paused', pauseInWords(pause), width, 'doubtful')),
    ...heldLines(report, width),
    ...(report.denied ?? []).flatMap(({ permission, remedy }) =>
      told('denied', `${permission}${remedy === '' ? '' : `: ${remedy}`}`, width, 'bad'),
    ),
  ];
}

function pauseInWords(pause: ShownReport['paused'][number]): string {
  const { reason, activities, node, manager, quietInSeconds } = pause;
  const writer =
    node === undefined ? '' : `; last write to ${node}${manager === undefined ? '' : ` by ${manager}`}`;
  const end = quietInSeconds === undefined ? '' : `; ends after ${quietInSeconds} s without another`;
  return `${reason}: ${activities.join(', ')}${writer}${end}`;
}

function heldLines({ withdrawalsHeld, unverified }: ShownReport, width: number | undefined): readonly Line[] {
  const held = withdrawalsHeld;
  const approval = held?.token === undefined ? '' : `; to approve: --allow-withdrawals=${held.token}`;
  const proof = unverified?.problem === undefined ? '' : `: ${unverified.problem}`;
  return [
    ...(held === undefined
      ? []
      : told('held', `withdrawals on ${counted(held.nodes, 'node')}: ${held.why}${approval}`, width, 'bad')),
    ...(unverified === undefined
      ? []
      : told('unverified', `${counted(unverified.count, 'CiliumNode')}${proof}`, width, 'doubtful')),
  ];
}

function countLines(report: ShownReport, width: number | undefined): readonly Line[] {
  const { nodes, addresses, pendingPods } = report;
  const pods = pendingPods === undefined ? undefined : ([['waiting', pendingPods]] as const);
  return (
    [
      ['nodes', nodes],
      ['addresses', addresses],
      ['pods', pods],
    ] as const
  ).flatMap(([label, counts]) => (counts === undefined ? [] : told(label, countsInWords(counts), width)));
}

/** States without a member are left out, but not the first one. */
function countsInWords(counts: readonly (readonly [string, number])[]): string {
  return counts
    .filter(([, count], index) => index === 0 || count > 0)
    .map(([name, count]) => `${count} ${nameInWords(name)}`)
    .join(', ');
}

/** `in_deficit`, `leftAlone` */
function nameInWords(name: string): string {
  return name.replaceAll('_', ' ').replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

type Entry = NonNullable<ShownReport['warnings']>[number];

/** Different texts of one reason, and nodes of one text. */
const maxShown = { texts: 3, nodes: 5 };

function reasonLines(report: ShownReport, width: number | undefined): readonly Line[] {
  const { reasons = [], inDeficit = [], waiting = [], warnings = [] } = report;
  const entries = [...inDeficit, ...waiting, ...warnings];
  const ofWarnings = [...new Set(warnings.map(({ reason }) => reason ?? ''))]
    .filter((reason) => !reasons.some(([name]) => name === reason))
    .map((reason) => [reason, warnings.filter((entry) => entry.reason === reason).length] as const);
  return [...reasons, ...ofWarnings].flatMap(([reason, count], index) => [
    {
      text: `${reason}  ${counted(count, 'node')}`,
      style: index < reasons.length ? 'bad' : 'doubtful',
    } as const,
    ...whyLines(
      entries.filter((entry) => entry.reason === reason),
      width,
    ),
  ]);
}

function whyLines(entries: readonly Entry[], width: number | undefined): readonly Line[] {
  const byText = Map.groupBy(entries, ({ why = '' }) => why);
  const max = width === undefined ? { texts: Infinity, nodes: Infinity } : maxShown;
  const texts = [...byText].slice(0, max.texts).flatMap(([why, of]) => {
    const names = of.map(({ name, node }) => name ?? node ?? '');
    const more = names.length - max.nodes;
    const nodes = `${names.slice(0, max.nodes).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    return [...told('', why, width), ...told('', `on ${nodes}`, width)];
  });
  const left = byText.size - max.texts;
  return left > 0 ? [...texts, ...told('', `and ${left} more texts`, width)] : texts;
}

function supplyLines({ subnets = [], pools = [] }: ShownReport, width: number | undefined): readonly Line[] {
  // What runs out first stands first.
  const fullest = subnets.toSorted((a, b) => shareOf(a.free, a.size) - shareOf(b.free, b.size));
  const ofSubnets = styledTable(subnetColumns(fullest), width, (row) => {
    const subnet = fullest[row];
    return subnet?.exhausted ? 'bad' : subnet?.fragmented ? 'doubtful' : undefined;
  });
  const ofPools = styledTable(poolColumns(pools), width, (row) =>
    pools[row]?.free === 0 ? 'bad' : undefined,
  );
  return [...ofSubnets, ...ofPools];
}

function shareOf(free: number, size: number): number {
  return size === 0 ? 0 : free / size;
}

function subnetColumns(subnets: NonNullable<ShownReport['subnets']>): readonly Column[] {
  return [
    { title: 'SUBNET', cells: subnets.map(({ id }) => id) },
    { title: 'ZONE', cells: subnets.map(({ zone }) => zone), drop: 2 },
    { title: 'CIDR', cells: subnets.map(({ cidr }) => cidr), drop: 1 },
    numbers(
      'SIZE',
      subnets.map(({ size }) => size),
    ),
    // Free addresses of a subnet that was never listed are unknown.
    numbers(
      'FREE',
      subnets.map(({ counted: isCounted, free }) => (isCounted ? free : '?')),
    ),
    {
      ...numbers(
        'RESERVED',
        subnets.map(({ reserved }) => reserved),
      ),
      drop: 3,
    },
    { title: 'STATE', cells: subnets.map(stateOf) },
  ];
}

function stateOf({ exhausted, fragmented }: NonNullable<ShownReport['subnets']>[number]): string {
  return [exhausted ? 'exhausted' : '', fragmented ? 'fragmented' : '']
    .filter((word) => word !== '')
    .join(' ');
}

function poolColumns(pools: NonNullable<ShownReport['pools']>): readonly Column[] {
  return [
    { title: 'POOL', cells: pools.map(({ pool }) => pool) },
    { title: 'CIDR', cells: pools.map(({ cidr }) => cidr) },
    {
      ...numbers(
        'MASK',
        pools.map(({ maskSize }) => `/${maskSize}`),
      ),
      drop: 3,
    },
    numbers(
      'BLOCKS',
      pools.map(({ capacity }) => capacity),
    ),
    {
      ...numbers(
        'HELD',
        pools.map(({ held }) => held),
      ),
      drop: 2,
    },
    numbers(
      'FREE',
      pools.map(({ free }) => free),
    ),
    numbers(
      'WAITING',
      pools.map(({ waiting }) => waiting),
    ),
    {
      ...numbers(
        'DAYS LEFT',
        pools.map(({ daysLeft }) => (daysLeft === undefined ? '' : tenths(daysLeft))),
      ),
      drop: 1,
    },
  ];
}

/** Buckets that are full, and of which no call waits, are only counted: there are many. */
function limitLines({ buckets = [] }: ShownReport, width: number | undefined): readonly Line[] {
  const waitingIn = ({ waiting }: (typeof buckets)[number]): number =>
    Object.values(waiting).reduce((sum, count) => sum + count, 0);
  const busy = buckets.filter(
    (bucket) => bucket.tokens < bucket.capacity || waitingIn(bucket) > 0 || bucket.learnedRatio < 1,
  );
  const columns: readonly Column[] = [
    { title: 'RATE LIMIT', cells: busy.map(({ action }) => action) },
    numbers(
      'TOKENS',
      busy.map(({ tokens }) => tenths(tokens)),
    ),
    numbers(
      'OF',
      busy.map(({ capacity }) => tenths(capacity)),
    ),
    {
      ...numbers(
        'PER SECOND',
        busy.map(({ refillPerSecond }) => tenths(refillPerSecond)),
      ),
      drop: 3,
    },
    numbers('WAITING', busy.map(waitingIn)),
    {
      ...numbers(
        'THROTTLED',
        busy.map(({ throttled }) => throttled),
      ),
      drop: 2,
    },
    {
      ...numbers(
        'LEARNED',
        busy.map(({ learnedRatio }) => `${Math.round(100 * learnedRatio)} %`),
      ),
      drop: 1,
    },
  ];
  const full = buckets.length - busy.length;
  const style = (row: number): Line['style'] =>
    waitingIn(busy[row] ?? noBucket) > 0 ? 'doubtful' : undefined;
  return [
    ...styledTable(columns, width, style),
    ...(full > 0 ? told('rate limits', `${full} with all of their tokens`, width) : []),
  ];
}

const noBucket = { waiting: {} } as NonNullable<ShownReport['buckets']>[number];

/** No lines without rows. `styleOf`: of a row, from 0. */
function styledTable(
  columns: readonly Column[],
  width: number | undefined,
  styleOf: (row: number) => Line['style'],
): readonly Line[] {
  if (columns[0]?.cells.length === 0) return [];
  return tableLines(columns, width).map((text, index) => {
    const style = index === 0 ? 'title' : styleOf(index - 1);
    return { text, ...(style !== undefined && { style }) };
  });
}

function numbers(title: string, cells: readonly (number | string)[]): Column {
  return { title, cells: cells.map(String), right: true };
}

function tenths(number: number): string {
  return String(Math.round(number * 10) / 10);
}

function told(
  label: string,
  text: string,
  width: number | undefined,
  style?: Line['style'],
): readonly Line[] {
  return paragraph(label, text, width).map((line) => ({ text: line, ...(style !== undefined && { style }) }));
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function cut(text: string, width: number | undefined): string {
  return width === undefined || text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
