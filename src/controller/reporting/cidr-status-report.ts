// The answers of /status where blocks are given to nodes: the pools, and who waits for a block and why.
import type { Standing } from '../../cidr/allocation/allocator-entry.ts';
import type { PoolFigures } from '../../cidr/allocation/block-ledger.ts';
import { cidrText, type Family } from '../../cidr/set/cidr.ts';
import type { ControllerState } from './controller-state.ts';
import { type PauseReport, pauseReports, type ReportedWrite } from './pause-report.ts';
import type { Pauses } from '../../providers/gate/mutation-permission.ts';
import type { BucketLevel } from '../../providers/rate-limit/rate-limiter.ts';
import type { MissingPermission } from './missing-permissions.ts';

export interface CidrStatusReport extends Partial<CidrFleetReport>, Partial<CloudCallReport> {
  readonly version?: string;
  readonly state: ControllerState;
  readonly identity: string;
  /** The leader, if another process leads. Ask it about nodes and pools. */
  readonly leader?: string;
  /** Why activities are paused; empty if none is. */
  readonly paused: readonly PauseReport[];
}

/** Of a cloud that is followed. */
export interface CloudCallReport {
  /** Permissions that the cloud denies. */
  readonly denied: readonly MissingPermission[];
  /** Current state of the rate limits. */
  readonly buckets: readonly BucketLevel[];
}

/** The leader's view. */
export interface CidrFleetReport {
  /** Nodes with a condition, counted by reason, most frequent first. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly nodes: Readonly<Record<'total' | Standing['standing'], number>>;
  /** One for each network that blocks come from. */
  readonly pools: readonly PoolReport[];
  /** Nodes that wait for a block, oldest first. */
  readonly waiting: readonly CidrNodeEntry[];
  /** Nodes that have their blocks, and a condition. */
  readonly warnings: readonly CidrNodeEntry[];
  /** Entries omitted from each list because of its length. */
  readonly omitted?: Readonly<Record<string, number>>;
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

export type CidrNodeReport =
  | {
      readonly known: false;
      readonly node: string;
      readonly state: ControllerState;
      readonly leader?: string;
    }
  | (CidrNodeEntry & { readonly known: true; readonly standing: Standing['standing'] });

/** `waiting`, `daysLeft`: as in the report. */
export interface ReportedPool extends PoolFigures {
  readonly waiting: number;
  readonly daysLeft?: number;
}

/** What the session reports. */
export interface ReportedBlocks {
  readonly standings: readonly Standing[];
  readonly pools: readonly ReportedPool[];
  readonly othersWrite: ReportedWrite | undefined;
}

interface Facts {
  readonly version: string | undefined;
  readonly state: ControllerState;
  readonly identity: string;
  readonly leader: string | undefined;
  readonly pauses: Pauses;
}

/** Maximum entries shown per list. */
const maxListed = 1000;

export function cidrStatusReport(
  { version, state, identity, leader, pauses }: Facts,
  blocks: ReportedBlocks | undefined,
): CidrStatusReport {
  return {
    ...(version !== undefined && { version }),
    state,
    identity,
    ...(leader !== undefined && { leader }),
    paused: pauseReports(pauses, blocks?.othersWrite),
    ...(blocks !== undefined && fleetReport(blocks)),
  };
}

function fleetReport(blocks: ReportedBlocks): CidrFleetReport {
  const { standings } = blocks;
  const counts = { total: standings.length, served: 0, waiting: 0, leftAlone: 0 };
  for (const { standing } of standings) counts[standing]++;
  const waiting = standings
    .filter(({ standing }) => standing === 'waiting')
    .toSorted((a, b) => a.holder.createdAt - b.holder.createdAt);
  const warnings = standings.filter(
    ({ standing, condition }) => standing !== 'waiting' && condition !== undefined,
  );
  const omitted = Object.entries({ waiting, warnings })
    .map(([name, list]) => [name, list.length - maxListed] as const)
    .filter(([, count]) => count > 0);
  return {
    reasons: reasonsOf(standings),
    nodes: counts,
    pools: blocks.pools.map(poolReport),
    waiting: waiting.slice(0, maxListed).map(entryOf),
    warnings: warnings.slice(0, maxListed).map(entryOf),
    ...(omitted.length > 0 && { omitted: Object.fromEntries(omitted) }),
  };
}

function reasonsOf(standings: readonly Standing[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { condition } of standings)
    if (condition !== undefined) counts.set(condition.reason, (counts.get(condition.reason) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a));
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

/** Everything known about one node; `standing`: undefined if it is not known. */
export function cidrNodeReport(
  name: string,
  standing: Standing | undefined,
  { state, leader }: Pick<Facts, 'state' | 'leader'>,
): CidrNodeReport {
  if (standing !== undefined) return { known: true, standing: standing.standing, ...entryOf(standing) };
  return { known: false, node: name.slice(0, 253), state, ...(leader !== undefined && { leader }) };
}
