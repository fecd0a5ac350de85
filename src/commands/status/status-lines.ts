// The lines that the command status prints of a report, and what it calls a problem. Pure.
import type { Served, ShownReport } from './served-report.ts';
import { laidOut, type Line, type Part, table, title, told } from './text-table.ts';
import { ageInWords, counted, nameInWords } from './words.ts';

type Facts = Pick<Served, 'report' | 'unready'>;

const nothing: Part = () => [];

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
    headParts(facts),
    countParts(report),
    reasonParts(report),
    supplyParts(report),
    limitParts(report),
  ];
  return laidOut(sections, width);
}

/** The process, and whether it is well, in whole lines. */
export function headLines(facts: Facts): readonly Line[] {
  return laidOut([headParts(facts)], undefined);
}

function headParts(facts: Facts): readonly Part[] {
  const { report } = facts;
  const { identity, state, leader, leaderAddress, version, denied = [] } = report;
  const problems = problemsOf(facts);
  const place = leaderAddress === undefined ? '' : ` at ${leaderAddress}`;
  return [
    title(`${identity}: ${state}${version === undefined ? '' : `, version ${version}`}`),
    told('leader', leader && `${leader}${place}`),
    readyPart(facts),
    clusterPart(report),
    ...selectorParts(report),
    cloudPart(report),
    told('restart needed', report.restartNeeded?.join(', '), 'doubtful'),
    told('problems', problems.join('; ') || 'none', problems.length === 0 ? 'good' : 'bad'),
    ...pausedParts(report),
    ...dryRunParts(report),
    heldPart(report),
    unverifiedPart(report),
    ...denied.map(({ permission, remedy }) =>
      told('denied', `${permission}${remedy === '' ? '' : `: ${remedy}`}`, 'bad'),
    ),
  ];
}

function readyPart({ report, unready }: Facts): Part {
  const { readyForSeconds: ready, notReadyForSeconds: not } = report;
  if (unready === undefined)
    return told('ready', ready === undefined ? 'yes' : `yes, for at least ${ageInWords(ready)}`);
  const long = not === undefined ? '' : ` for at least ${ageInWords(not)}`;
  return told('ready', `no${long}: ${unready}`, 'bad');
}

function clusterPart({ cluster }: ShownReport): Part {
  if (cluster === undefined) return nothing;
  const { name, tag, instances, doubt } = cluster;
  const found = `${name}, by the tag ${tag} of ${counted(instances, 'instance')}`;
  if (doubt === undefined) return told('cluster', found);
  return told('cluster', `${found}; deletes nothing by it: ${doubt}`, 'doubtful');
}

function selectorParts({ nodeSelector, leftToOthers = 0, overlaps = [] }: ShownReport): readonly Part[] {
  if (nodeSelector === undefined) return [];
  const [first] = overlaps;
  const overlap = first && `${counted(overlaps.length, 'node')}, such as ${first.node}: ${first.why}`;
  return [
    told('selector', `${nodeSelector}; ${counted(leftToOthers, 'node')} left to others`),
    told('overlap', overlap, 'bad'),
  ];
}

function cloudPart({ cloudRead }: ShownReport): Part {
  if (cloudRead === undefined) return nothing;
  const { ageSeconds: age, problem } = cloudRead;
  const read = age === undefined ? 'not read yet' : `read ${ageInWords(age)} ago`;
  if (problem === undefined) return told('cloud', read);
  return told('cloud', `${read}; the last try failed: ${problem}`, 'doubtful');
}

export function pausedParts({ paused }: ShownReport): readonly Part[] {
  return paused.map((pause) => told('paused', pauseInWords(pause), 'doubtful'));
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

function dryRunParts({ dryRun }: ShownReport): readonly Part[] {
  if (dryRun === undefined) return [];
  const { same = 0, otherwise = 0, decidedOtherwise = [] } = dryRun;
  const compared = `another program decided the same on ${counted(same, 'node')}, otherwise on ${otherwise}`;
  const shown = decidedOtherwise.slice(0, maxDecisions);
  const more = otherwise - shown.length;
  return [
    told('dry run', dryRun.sentence),
    told('dry run', wouldInWords(dryRun.would)),
    told('dry run', same + otherwise === 0 ? undefined : compared),
    ...shown.map(({ node, ...decision }) => told('otherwise', `${node}: ${otherwiseInWords(decision)}`)),
    told('otherwise', more > 0 ? `${more} more: headwater explain NODE shows each` : undefined),
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

function heldPart({ withdrawalsHeld }: ShownReport): Part {
  if (withdrawalsHeld === undefined) return nothing;
  const { why, nodes, token } = withdrawalsHeld;
  const approval = token === undefined ? '' : `; to approve: --allow-withdrawals=${token}`;
  return told('held', `withdrawals on ${counted(nodes, 'node')}: ${why}${approval}`, 'bad');
}

function unverifiedPart({ unverified }: ShownReport): Part {
  if (unverified === undefined) return nothing;
  const { count, problem } = unverified;
  const why = problem === undefined ? '' : `: ${problem}`;
  return told('unverified', `${counted(count, 'CiliumNode')}${why}`, 'doubtful');
}

function countParts({ nodes, addresses, pendingPods }: ShownReport): readonly Part[] {
  return [
    told('nodes', nodes && countsInWords(nodes)),
    told('addresses', addresses && countsInWords(addresses)),
    told('pods', pendingPods === undefined ? undefined : `${pendingPods} waiting`),
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

function reasonParts(report: ShownReport): readonly Part[] {
  const { reasons = [], inDeficit = [], waiting = [], warnings = [], omitted = [] } = report;
  const entries = [...inDeficit, ...waiting, ...warnings];
  const ofWarnings = [...new Set(warnings.map(({ reason }) => reason ?? ''))]
    .filter((reason) => !reasons.some(([name]) => name === reason))
    .map((reason) => [reason, warnings.filter((entry) => entry.reason === reason).length] as const);
  const missing = omitted.map(([list, count]) => `${count} of ${nameInWords(list)}`).join(', ');
  return [
    ...[...reasons, ...ofWarnings].flatMap(([reason, count], index) => [
      () => [
        {
          text: `${reason}  ${counted(count, 'node')}`,
          style: index < reasons.length ? ('bad' as const) : ('doubtful' as const),
        },
      ],
      whyPart(entries.filter((entry) => entry.reason === reason)),
    ]),
    told('omitted', missing || undefined, 'doubtful'),
  ];
}

function whyPart(entries: readonly Entry[]): Part {
  const byText = Map.groupBy(entries, ({ why = '' }) => why);
  return (width) => {
    const max = width === undefined ? { texts: Infinity, nodes: Infinity } : maxShown;
    const texts = [...byText].slice(0, max.texts).flatMap(([why, of]) => {
      const names = of.map(({ name, node }) => name ?? node ?? '');
      const more = names.length - max.nodes;
      const nodes = `${names.slice(0, max.nodes).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
      return [told('', why), told('', `on ${nodes}`)];
    });
    const left = byText.size - max.texts;
    return [...texts, told('', left > 0 ? `and ${left} more texts` : undefined)].flatMap((part) =>
      part(width),
    );
  };
}

function supplyParts({ subnets = [], pools = [] }: ShownReport): readonly Part[] {
  // The fullest stands first.
  const fullest = subnets.toSorted((a, b) => a.free / a.size - b.free / b.size);
  return [
    table(fullest, {
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
    poolTable(pools),
  ];
}

type Pool = NonNullable<ShownReport['pools']>[number];

/** Whether its pool has no block of its family left: of several networks, one after the other fills. */
export function isExhausted({ pool, cidr }: Pool, pools: readonly Pool[]): boolean {
  const isIpv6 = (text: string): boolean => text.includes(':');
  return pools.every((each) => each.pool !== pool || isIpv6(each.cidr) !== isIpv6(cidr) || each.free === 0);
}

export function poolTable(pools: readonly Pool[]): Part {
  return table(pools, {
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
function limitParts({ buckets = [] }: ShownReport): readonly Part[] {
  const waitingIn = ({ waiting }: (typeof buckets)[number]): number =>
    Object.values(waiting).reduce((sum, count) => sum + count, 0);
  const busy = buckets.filter(
    (bucket) => bucket.tokens < bucket.capacity || waitingIn(bucket) > 0 || bucket.learnedRatio < 1,
  );
  const full = buckets.length - busy.length;
  return [
    table(busy, {
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
    told('rate limits', full > 0 ? `${full} with all of their tokens` : undefined),
  ];
}

function tenths(number: number): number {
  return Math.round(number * 10) / 10;
}
