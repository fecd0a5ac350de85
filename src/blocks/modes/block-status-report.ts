// The answers of /status where blocks are given to nodes: the pools, and who waits for a block and why.
import type { Standing } from '../allocation/allocator-entry.ts';
import type { PoolFigures } from '../allocation/block-ledger.ts';
import {
  accessInWords,
  counted,
  type DryRunVerdict,
  type MissingAccess,
  onNodes,
  verdictOn,
} from '../../controller/reporting/dry-run-verdict.ts';
import { cidrOf, cidrText, contains, type Family } from '../set/cidr.ts';
import {
  looksAt,
  type OtherDecision,
  type OtherDecisions,
  type OtherDecisionsReport,
} from '../../controller/reporting/other-decisions.ts';
import { pauseReports, type ReportedWrite } from '../../controller/reporting/pause-report.ts';
import {
  countsByReason,
  maxListed,
  type NamesByState,
  namesByState,
  type NextReport,
  omittedOf,
  type SelfFacts,
  type SelfReport,
  selfReport,
  type UnknownNode,
  unknownNode,
  type Unserved,
  unservedNode,
  untilServedAgain,
} from '../../controller/reporting/process-status-report.ts';
import type { CloudCallReport } from '../../controller/reporting/status-report.ts';

/** Calls are reported of a cloud that is followed. */
export interface BlockStatusReport extends SelfReport, Partial<CidrFleetReport>, Partial<CloudCallReport> {
  /** The sum of a dry run; absent while none is on. */
  readonly dryRun?: BlockDryRunReport;
}

/** The leader's view. */
export interface CidrFleetReport {
  /** Nodes with a condition, counted by reason, most frequent first. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly nodes: Readonly<Record<'total' | Standing['standing'], number>>;
  readonly nodeNames?: NamesByState;
  /** A report for each network that blocks come from. */
  readonly pools: readonly PoolReport[];
  /** Facts that decide what another node would get. */
  readonly planning: BlockPlanning;
  /** Nodes that wait for a block, oldest first. */
  readonly waiting: readonly CidrNodeEntry[];
  /** Nodes that have their blocks, and a condition. */
  readonly warnings: readonly CidrNodeEntry[];
  /** Entries omitted from each list because of its length. */
  readonly omitted?: Readonly<Record<string, number>>;
}

export interface BlockPlanning {
  /** A node gets a block of each family, or as many of a pool as hold the addresses that its agent asks for. */
  readonly blocks: 'oneOfEachFamily' | 'asAsked';
  /** Addresses of a block that pods can have, of pools that say so themselves. */
  readonly usable?: readonly { readonly pool: string; readonly family: Family; readonly addresses: number }[];
}

/**
 * The sum of a dry run. `giveBlocks`: nodes that would get blocks. `moveBlocks`: nodes whose blocks of cluster-pool would move to
 * the default pool. `deleteCiliumNodes`: those of machines that are gone.
 */
export interface BlockDryRunReport extends DryRunVerdict, OtherDecisionsReport {
  readonly would: Readonly<Record<'deleteCiliumNodes' | 'giveBlocks' | 'moveBlocks', number>>;
}

/** The part of a dry run that concerns one node. */
export interface BlockNodeDryRun {
  /** `giveBlocks`: 1 if it would get blocks. */
  readonly would: Readonly<Record<'giveBlocks', number>>;
  /** Absent if another program did the same, or nothing is known of any. */
  readonly decidedOtherwise?: Omit<OtherDecision, 'node'>;
}

export interface PoolReport {
  readonly pool: string;
  readonly family: Family;
  readonly cidr: string;
  readonly maskSize: number;
  /** Blocks. */
  readonly capacity: number;
  readonly held: number;
  readonly free: number;
  /** Nodes that wait for a block of this family. */
  readonly waiting: number;
  /** Until no block of this family is free, at the pace of the last day; absent while fewer are held than before. */
  readonly daysLeft?: number;
}

export interface CidrNodeEntry {
  readonly name: string;
  readonly podCIDRs: readonly string[];
  readonly reason?: string;
  readonly why?: string;
}

export type BlockNodeReport =
  | UnknownNode
  | (CidrNodeEntry & {
      readonly known: true;
      readonly standing: Standing['standing'] | Unserved['standing'];
      /** The networks that blocks come from. */
      readonly pools: readonly PoolReport[];
      /** Absent while no dry run is on. */
      readonly dryRun?: BlockNodeDryRun;
      /** When something is tried next, and what brings that forward. */
      readonly next: NextReport;
    });

/** `waiting`, `daysLeft`: as in the report. */
export interface ReportedPool extends PoolFigures {
  readonly waiting: number;
  readonly daysLeft?: number;
}

/** The report of a session. */
export interface ReportedBlocks {
  /** Default: a node gets a block of each family. */
  readonly planning?: BlockPlanning | undefined;
  readonly standings: readonly Standing[];
  readonly decisions: Pick<OtherDecisions, 'on' | 'report'>;
  readonly pools: readonly ReportedPool[];
  readonly othersWrite: ReportedWrite | undefined;
  readonly access: MissingAccess;
  readonly deleteCiliumNodes: number;
  /** Nodes whose blocks would move. Default: none. */
  readonly moveBlocks?: number;
}

/** `withNodes`: names every node. */
export function blockStatusReport(
  facts: SelfFacts,
  blocks: ReportedBlocks | undefined,
  withNodes = false,
): BlockStatusReport {
  return {
    ...selfReport(facts, blocks?.othersWrite),
    ...(blocks !== undefined && facts.pauses.dryRun && { dryRun: sumOfDryRun(blocks) }),
    ...(blocks !== undefined && fleetReport(blocks, withNodes)),
  };
}

/** Reasons of nodes that are served anyway: nothing fails, and something is idle or other than asked for. */
export const harmlessReasons: ReadonlySet<string> = new Set([
  'MaskSizeIgnored',
  'PodCIDRUnused',
  'BlocksExcessive',
]);

/** The writes that Headwater would make now if this were no dry run. */
export function sumOfDryRun({
  standings,
  decisions,
  pools,
  access,
  deleteCiliumNodes,
  moveBlocks = 0,
}: Pick<ReportedBlocks, 'access' | 'decisions' | 'deleteCiliumNodes' | 'moveBlocks' | 'standings'> & {
  readonly pools: readonly PoolFigures[];
}): BlockDryRunReport {
  const { leftAlone, total } = countsOf(standings);
  const decided = decisions.report(new Set(standings.map(({ holder }) => holder.name)));
  const { looks = [], unserved = [] } = Object.groupBy(
    standings.flatMap(({ condition }) => condition ?? []),
    ({ reason }) => (harmlessReasons.has(reason) ? 'looks' : 'unserved'),
  );
  const notServed = countsByReason(unserved);
  const sizes = pools.map((pool) => ({ pool, nodes: holdersOfOtherSize(pool, standings) }));
  const changed = sizes.filter(({ nodes }) => nodes > 0);
  const nodes = { total: total - leftAlone, read: total - leftAlone };
  const findings = {
    obstacles: [
      ...changed.filter(({ pool }) => pool.held === pool.capacity).map(noneFits),
      ...accessInWords(access),
    ],
    looks: [...onNodes(countsByReason(looks)), ...changed.map(keptInWords), ...looksAt(decided.otherwise)],
    leftAlone,
  };
  const giveBlocks = standings.filter(wouldGet).length;
  return {
    ...verdictOn({ nodes, notServed }, findings),
    would: { giveBlocks, moveBlocks, deleteCiliumNodes },
    ...decided,
  };
}

function wouldGet({ standing, condition }: Standing): boolean {
  return standing === 'waiting' && condition === undefined;
}

interface OtherSize {
  readonly pool: PoolFigures;
  /** How many hold blocks of another size. */
  readonly nodes: number;
}

/** Nodes with a block of the pool that is not of its mask size, and that they did not ask for. */
function holdersOfOtherSize({ cidr, maskSize }: PoolFigures, standings: readonly Standing[]): number {
  const isOther = (block: string): boolean => {
    const held = cidrOf(block);
    return held !== undefined && contains(cidr, held) && held.length !== maskSize;
  };
  return standings.filter(
    ({ holder }) => holder.asked?.[cidr.family] === undefined && holder.blocks.some(isOther),
  ).length;
}

function noneFits({ pool: { cidr, maskSize } }: OtherSize): string {
  return `no block of /${maskSize} is free in ${cidrText(cidr)} beside blocks of another size`;
}

function keptInWords({ pool: { cidr, maskSize }, nodes }: OtherSize): string {
  return `${counted(nodes, 'node')} whose blocks in ${cidrText(cidr)} are no /${maskSize}`;
}

function countsOf(standings: readonly Standing[]): CidrFleetReport['nodes'] {
  const counts = { total: standings.length, served: 0, waiting: 0, leftAlone: 0 };
  for (const { standing } of standings) counts[standing]++;
  return counts;
}

function namesOf({ standings }: ReportedBlocks): NamesByState {
  return namesByState(standings.map(({ standing, holder }) => [standing, holder.name]));
}

function fleetReport(blocks: ReportedBlocks, withNodes: boolean): CidrFleetReport {
  const { standings } = blocks;
  const waiting = standings
    .filter(({ standing }) => standing === 'waiting')
    .toSorted((a, b) => a.holder.createdAt - b.holder.createdAt);
  const warnings = standings.filter(
    ({ standing, condition }) => standing !== 'waiting' && condition !== undefined,
  );
  return {
    reasons: countsByReason(standings.map(({ condition }) => condition)),
    nodes: countsOf(standings),
    ...(withNodes && { nodeNames: namesOf(blocks) }),
    pools: blocks.pools.map(poolReport),
    planning: blocks.planning ?? { blocks: 'oneOfEachFamily' },
    waiting: waiting.slice(0, maxListed).map(entryOf),
    warnings: warnings.slice(0, maxListed).map(entryOf),
    ...omittedOf({ waiting, warnings }),
  };
}

function poolReport({ cidr, held, capacity, waiting, daysLeft, ...pool }: ReportedPool): PoolReport {
  return {
    pool: pool.pool,
    family: cidr.family,
    cidr: cidrText(cidr),
    maskSize: pool.maskSize,
    capacity,
    held,
    free: capacity - held,
    waiting,
    ...(daysLeft !== undefined && { daysLeft }),
  };
}

function entryOf({ holder, condition }: Standing): CidrNodeEntry {
  return {
    name: holder.name,
    podCIDRs: holder.blocks,
    ...(condition !== undefined && { reason: condition.reason, why: condition.message }),
  };
}

/** Everything known about one node. `unserved`: why none of that name is served, although a Node may exist. `grows`: whether nodes ask for more blocks. */
export function blockNodeReport(
  name: string,
  blocks: Pick<ReportedBlocks, 'decisions' | 'standings' | 'pools'> | undefined,
  facts: Pick<SelfFacts, 'state' | 'leader' | 'pauses'> & {
    readonly unserved: Unserved | undefined;
    readonly grows: boolean;
  },
): BlockNodeReport {
  const { standings = [], pools = [] } = blocks ?? {};
  const standing = standings.find(({ holder }) => holder.name === name);
  if (standing === undefined && blocks !== undefined && facts.unserved !== undefined)
    return {
      ...unservedNode(name, facts.unserved),
      podCIDRs: [],
      pools: pools.map(poolReport),
    };
  if (standing === undefined)
    return unknownNode(
      name,
      facts,
      standings.map(({ holder }) => holder.name),
    );
  const isPaused = pauseReports(facts.pauses, undefined).some(({ activities }) =>
    activities.includes('allocation'),
  );
  return {
    known: true,
    standing: standing.standing,
    ...entryOf(standing),
    pools: pools.map(poolReport),
    ...(facts.pauses.dryRun && { dryRun: nodeDryRun(standing, blocks?.decisions.on(name)) }),
    next: nextOf(standing, { isPaused, grows: facts.grows }),
  };
}

function nodeDryRun(standing: Standing, decided: Omit<OtherDecision, 'node'> | undefined): BlockNodeDryRun {
  return {
    would: { giveBlocks: wouldGet(standing) ? 1 : 0 },
    ...(decided !== undefined && { decidedOtherwise: decided }),
  };
}

const exhausted: ReadonlySet<string> = new Set(['PodCIDRsExhausted', 'PoolExhausted']);

function nextOf(
  { standing, condition }: Standing,
  { isPaused, grows }: { readonly isPaused: boolean; readonly grows: boolean },
): NextReport {
  if (standing === 'leftAlone') return untilServedAgain;
  if (standing === 'served' && condition === undefined)
    return { what: grows ? 'it asks for another block' : 'it no longer has its block', sooner: [] };
  if (isPaused) return { what: 'the pause ends', sooner: [] };
  if (condition !== undefined && exhausted.has(condition.reason))
    return { what: 'a block is free', sooner: ['a Node that is deleted', 'another CIDR for its pool'] };
  if (condition !== undefined) return { what: 'what the reason names changes', sooner: [] };
  return { what: 'the write under way ends', sooner: [] };
}
