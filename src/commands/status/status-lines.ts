// The lines that the command status prints of a report, and what it calls a problem. Pure.
import type { Served, ShownReport } from './served-report.ts';
import { cut, type Line, table, title, told } from './text-table.ts';
import { ageInWords, counted, nameInWords } from './words.ts';

type Facts = Pick<Served, 'report' | 'unready'>;

/** Problems that someone has to act on, in a few words each; empty if all is well. A dry run is no problem. */
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
  const { reasons = [], pendingPods = 0, waiting = [], denied = [], warnings = [], overlaps = [] } = report;
  const blocked = reasons.reduce((sum, [, count]) => sum + count, 0);
  const problems = [
    [blocked, `${counted(blocked, 'node')} with a reason`],
    [pendingPods, `pods that wait: ${pendingPods}`],
    [blocked > 0 ? 0 : waiting.length, `nodes that wait for a block: ${waiting.length}`],
    [denied.length, `${counted(denied.length, 'permission')} denied`],
    [warnings.length, counted(warnings.length, 'warning')],
    [overlaps.length, `${counted(overlaps.length, 'node')} of two releases`],
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

/** The process, and whether it is well. */
export function headLines(facts: Facts, width: number | undefined): readonly Line[] {
  const { report } = facts;
  const { identity, state, leader, leaderAddress, version } = report;
  const problems = problemsOf(facts);
  return [
    ...title(`${identity}: ${state}${version === undefined ? '' : `, version ${version}`}`, width),
    ...(leader === undefined
      ? []
      : told('leader', leaderAddress === undefined ? leader : `${leader} at ${leaderAddress}`, width)),
    ...readyLines(facts, width),
    ...clusterLines(report, width),
    ...selectorLines(report, width),
    ...cloudLines(report, width),
    ...(problems.length === 0
      ? told('problems', 'none', width, 'good')
      : told('problems', problems.join('; '), width, 'bad')),
    ...pausedLines(report, width),
    ...dryRunLines(report, width),
    ...heldLines(report, width),
    ...unverifiedLines(report, width),
    ...(report.denied ?? []).flatMap(({ permission, remedy }) =>
      told('denied', `${permission}${remedy === '' ? '' : `: ${remedy}`}`, width, 'bad'),
    ),
  ];
}

function readyLines({ report, unready }: Facts, width: number | undefined): readonly Line[] {
  const { readyForSeconds: ready, notReadyForSeconds: not } = report;
  if (unready === undefined)
    return told('ready', ready === undefined ? 'yes' : `yes, for at least ${ageInWords(ready)}`, width);
  return told(
    'ready',
    `no${not === undefined ? '' : ` for at least ${ageInWords(not)}`}: ${unready}`,
    width,
    'bad',
  );
}

function clusterLines({ cluster }: ShownReport, width: number | undefined): readonly Line[] {
  if (cluster === undefined) return [];
  const { name, tag, instances } = cluster;
  return told('cluster', `${name}, by the tag ${tag} of ${counted(instances, 'instance')}`, width);
}

function selectorLines(
  { nodeSelector, leftToOthers = 0, overlaps = [] }: ShownReport,
  width: number | undefined,
): readonly Line[] {
  if (nodeSelector === undefined) return [];
  const [first] = overlaps;
  return [
    ...told('selector', `${nodeSelector}; ${counted(leftToOthers, 'node')} left to others`, width),
    ...(first === undefined
      ? []
      : told(
          'overlap',
          `${counted(overlaps.length, 'node')}, such as ${first.node}: ${first.why}`,
          width,
          'bad',
        )),
  ];
}

function cloudLines({ cloudRead }: ShownReport, width: number | undefined): readonly Line[] {
  if (cloudRead === undefined) return [];
  const { ageSeconds: age, problem } = cloudRead;
  const read = age === undefined ? 'not read yet' : `read ${ageInWords(age)} ago`;
  if (problem === undefined) return told('cloud', read, width);
  return told('cloud', `${read}; the last try failed: ${problem}`, width, 'doubtful');
}

export function pausedLines({ paused }: ShownReport, width: number | undefined): readonly Line[] {
  return paused.flatMap((pause) => told('paused', pauseInWords(pause), width, 'doubtful'));
}

function pauseInWords(pause: ShownReport['paused'][number]): string {
  const { reason, activities, node, manager, quietInSeconds } = pause;
  const writer =
    node === undefined ? '' : `; last write to ${node}${manager === undefined ? '' : ` by ${manager}`}`;
  const end = quietInSeconds === undefined ? '' : `; ends after ${quietInSeconds} s without another`;
  return `${reason}: ${activities.join(', ')}${writer}${end}`;
}

/** Nodes where another program decided otherwise that are shown. */
const maxDecisions = 5;

function dryRunLines({ dryRun }: ShownReport, width: number | undefined): readonly Line[] {
  if (dryRun === undefined) return [];
  const { same = 0, otherwise = 0, decidedOtherwise = [] } = dryRun;
  const compared =
    same + otherwise === 0
      ? []
      : [`another program decided the same on ${counted(same, 'node')}, otherwise on ${otherwise}`];
  const shown = decidedOtherwise.slice(0, maxDecisions);
  const others = shown.map(({ node, ...decision }) => `${node}: ${otherwiseInWords(decision)}`);
  const more =
    otherwise > shown.length ? [`${otherwise - shown.length} more: headwater explain NODE shows each`] : [];
  return [
    ...[dryRun.sentence, wouldInWords(dryRun.would), ...compared].flatMap((text) =>
      told('dry run', text, width),
    ),
    ...[...others, ...more].flatMap((text) => told('otherwise', text, width)),
  ];
}

export function wouldInWords(would: readonly (readonly [string, number])[]): string {
  const parts = would.filter(([, count]) => count > 0);
  const steps = parts.map(([what, count]) => `${nameInWords(what)} ${count}`).join(', ');
  return `would now: ${steps || 'nothing'}`;
}

export function otherwiseInWords({ would, did }: { readonly would: string; readonly did: string }): string {
  return `would: ${would}; done: ${did}`;
}

function heldLines({ withdrawalsHeld }: ShownReport, width: number | undefined): readonly Line[] {
  if (withdrawalsHeld === undefined) return [];
  const { why, nodes, token } = withdrawalsHeld;
  const approval = token === undefined ? '' : `; to approve: --allow-withdrawals=${token}`;
  return told('held', `withdrawals on ${counted(nodes, 'node')}: ${why}${approval}`, width, 'bad');
}

function unverifiedLines({ unverified }: ShownReport, width: number | undefined): readonly Line[] {
  if (unverified === undefined) return [];
  const { count, problem } = unverified;
  const why = problem === undefined ? '' : `: ${problem}`;
  return told('unverified', `${counted(count, 'CiliumNode')}${why}`, width, 'doubtful');
}

function countLines(
  { nodes, addresses, pendingPods }: ShownReport,
  width: number | undefined,
): readonly Line[] {
  return [
    ...(nodes === undefined ? [] : told('nodes', countsInWords(nodes), width)),
    ...(addresses === undefined ? [] : told('addresses', countsInWords(addresses), width)),
    ...(pendingPods === undefined ? [] : told('pods', `${pendingPods} waiting`, width)),
  ];
}

/** States without a member are left out, but not the first one. */
function countsInWords(counts: readonly (readonly [string, number])[]): string {
  return counts
    .filter(([, count], index) => index === 0 || count > 0)
    .map(([name, count]) => `${count} ${nameInWords(name)}`)
    .join(', ');
}

type Entry = NonNullable<ShownReport['warnings']>[number];

/** On a terminal: different texts of one reason, nodes of one text, and rows of a table. */
const maxShown = { texts: 3, nodes: 5 };

function reasonLines(report: ShownReport, width: number | undefined): readonly Line[] {
  const { reasons = [], inDeficit = [], waiting = [], warnings = [], omitted = [] } = report;
  const entries = [...inDeficit, ...waiting, ...warnings];
  const ofWarnings = [...new Set(warnings.map(({ reason }) => reason ?? ''))]
    .filter((reason) => !reasons.some(([name]) => name === reason))
    .map((reason) => [reason, warnings.filter((entry) => entry.reason === reason).length] as const);
  const lines = [...reasons, ...ofWarnings].flatMap(([reason, count], index): readonly Line[] => [
    {
      text: `${reason}  ${counted(count, 'node')}`,
      style: index < reasons.length ? 'bad' : 'doubtful',
    },
    ...whyLines(
      entries.filter((entry) => entry.reason === reason),
      width,
    ),
  ]);
  const missing = omitted.map(([list, count]) => `${count} of ${nameInWords(list)}`).join(', ');
  return missing === '' ? lines : [...lines, ...told('omitted', missing, width, 'doubtful')];
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
  // The fullest stands first.
  const fullest = subnets.toSorted((a, b) => a.free / a.size - b.free / b.size);
  return [
    ...table(fullest, width, {
      columns: [
        ['SUBNET', ({ id }) => id],
        ['NAME', ({ name = '' }) => name, 4],
        ['ZONE', ({ zone }) => zone, 2],
        ['CIDR', ({ cidr }) => cidr, 6],
        ['SIZE', ({ size }) => size],
        // Free addresses of a subnet that was never listed are unknown.
        ['FREE', ({ counted: isCounted, free }) => (isCounted ? free : '?')],
        ['HELD', ({ held = '' }) => held, 3],
        ['USED', ({ used = '' }) => used, 3],
        ['RESERVED', ({ reserved }) => reserved || '', 5],
        ['DAYS LEFT', ({ daysLeft }) => (daysLeft === undefined ? '' : tenths(daysLeft)), 1],
        ['STATE', ({ exhausted, fragmented }) => (exhausted ? 'exhausted' : fragmented ? 'fragmented' : '')],
      ],
      style: ({ exhausted, fragmented }) => (exhausted ? 'bad' : fragmented ? 'doubtful' : undefined),
    }),
    ...poolLines(pools, width),
  ];
}

type Pool = NonNullable<ShownReport['pools']>[number];

/** Whether its pool has no block of its family left: of several networks, one after the other fills. */
export function isExhausted({ pool, cidr }: Pool, pools: readonly Pool[]): boolean {
  const isIpv6 = (text: string): boolean => text.includes(':');
  return pools.every((each) => each.pool !== pool || isIpv6(each.cidr) !== isIpv6(cidr) || each.free === 0);
}

export function poolLines(pools: readonly Pool[], width: number | undefined): readonly Line[] {
  return table(pools, width, {
    columns: [
      ['POOL', ({ pool }) => pool],
      ['CIDR', ({ cidr }) => cidr],
      ['MASK', ({ maskSize }) => `/${maskSize}`, 3],
      ['BLOCKS', ({ capacity }) => capacity],
      ['HELD', ({ held }) => held, 2],
      ['FREE', ({ free }) => free],
      ['WAITING', ({ waiting }) => waiting],
      ['DAYS LEFT', ({ daysLeft }) => (daysLeft === undefined ? '' : tenths(daysLeft)), 1],
    ],
    style: (pool) => (isExhausted(pool, pools) ? 'bad' : undefined),
  });
}

/** Buckets that are full, and of which no call waits, are only counted: there are many. */
function limitLines({ buckets = [] }: ShownReport, width: number | undefined): readonly Line[] {
  const waitingIn = ({ waiting }: (typeof buckets)[number]): number =>
    Object.values(waiting).reduce((sum, count) => sum + count, 0);
  const busy = buckets.filter(
    (bucket) => bucket.tokens < bucket.capacity || waitingIn(bucket) > 0 || bucket.learnedRatio < 1,
  );
  const full = buckets.length - busy.length;
  return [
    ...table(busy, width, {
      columns: [
        ['RATE LIMIT', ({ action }) => action],
        ['TOKENS', ({ tokens }) => tenths(tokens)],
        ['OF', ({ capacity }) => tenths(capacity)],
        ['PER SECOND', ({ refillPerSecond }) => tenths(refillPerSecond), 3],
        ['WAITING', waitingIn],
        ['THROTTLED', ({ throttled }) => throttled, 2],
        ['LEARNED', ({ learnedRatio }) => `${Math.round(100 * learnedRatio)} %`, 1],
      ],
      style: (bucket) => (waitingIn(bucket) > 0 ? 'doubtful' : undefined),
    }),
    ...(full > 0 ? told('rate limits', `${full} with all of their tokens`, width) : []),
  ];
}

function tenths(number: number): number {
  return Math.round(number * 10) / 10;
}
