// The answer of /status: the controller's state, and which nodes cannot be satisfied and why.
import { isInDeficit } from '../../node/conditions/assessment.ts';
import type { Ipv6State } from '../../node/demand/ipv6.ts';
import { conditionOf, type NodeSummary } from '../../node/reconcile/node-summary.ts';
import { exclusionsOf } from '../../node/demand/node-requirements.ts';
import type { BucketLevel } from '../../providers/rate-limit/rate-limiter.ts';
import type { BrakeState } from '../../manager/withdrawals/withdrawal-brake.ts';
import type { DryRunReport } from './dry-run-report.ts';
import type { MissingPermission } from './missing-permissions.ts';
import type { ReportedWrite } from './pause-report.ts';
import { type PlanningReport, planningReport, type PlanningSources } from './planning-report.ts';
import { standingOf, totalsOf } from './fleet-metrics.ts';
import {
  countsByReason,
  maxListed,
  type NamesByState,
  namesByState,
  omittedOf,
  type SelfFacts,
  type SelfReport,
  selfReport,
} from './process-status-report.ts';
import type { SubnetFigures } from './subnet-figures.ts';
import { subnetUse } from './subnet-metrics.ts';

export interface StatusReport extends SelfReport, CloudCallReport, Partial<FleetReport> {
  /** Nodes that cannot be satisfied, counted by reason, most frequent first. Only on the leader. */
  readonly reasons?: Readonly<Record<string, number>>;
  /** Addresses that the cloud no longer shows but that are not withdrawn yet, and why; absent if there are none. */
  readonly withdrawalsHeld?: WithdrawalReport;
  /** The name that was read at the start, or when the process began to lead; absent before, and if the option cluster-name says the name. */
  readonly cluster?: ClusterNameReport;
  /** The sum of a dry run; absent while none is on. */
  readonly dryRun?: DryRunReport;
  /** CiliumNodes that no Node verifies: nothing is taken from their instances. Undefined if all are verified. */
  readonly unverified?: UnverifiedReport;
}

/** The cluster's name, where it is read from a tag of its instances. */
export interface ClusterNameReport {
  readonly name: string;
  /** The key of the tag. */
  readonly tag: string;
  /** How many instances carried it. */
  readonly instances: number;
  /** Why the leader deletes no orphaned interface by it; absent while the instances confirm it. */
  readonly doubt?: string;
}

/** The last complete read of the cloud. */
export interface CloudReadReport {
  /** How long ago it began; absent before the first one. */
  readonly ageSeconds?: number;
  /** Why the last attempt failed, if it did. */
  readonly problem?: string;
}

/** A subnet, and what the nodes have of it. */
export interface SubnetReport extends SubnetFigures {
  /** Pod addresses on interfaces of the nodes. */
  readonly held: number;
  /** How many of them pods use: of a node with interfaces in several subnets, in proportion to what it has in each. */
  readonly used: number;
  /** Nodes with an interface in it. */
  readonly nodes: number;
}

/** The state of the calls to a cloud. */
export interface CloudCallReport {
  /** Permissions that Headwater needs and the cloud denies. */
  readonly denied: readonly MissingPermission[];
  /** Our share of the rate limit of each call. */
  readonly buckets: readonly BucketLevel[];
}

/** The leader's view of the fleet. Other processes know nothing about it and must not report zero. */
export interface FleetReport {
  readonly nodes: Readonly<Record<string, number>>;
  readonly addresses: Readonly<Record<string, number>>;
  readonly pendingPods: number;
  readonly cloudRead: CloudReadReport;
  /** Entries omitted from each list because of its length. */
  readonly omitted?: Readonly<Record<string, number>>;
  readonly nodeNames?: NamesByState;
  readonly subnets: readonly SubnetReport[];
  /** Facts that decide what another node would get. */
  readonly planning?: PlanningReport;
  /** Nodes that lack addresses or are blocked. */
  readonly inDeficit: readonly NodeReport[];
  /** Warnings about nodes that are served. */
  readonly warnings: readonly WarningReport[];
  /** Interfaces that carry no pods, or not on all of their addresses, and why. */
  readonly excluded: readonly ExclusionReport[];
}

/** Held withdrawals. */
export interface WithdrawalReport {
  readonly state: Exclude<BrakeState['kind'], 'open'>;
  readonly why: string;
  /** Nodes that keep what is missing. */
  readonly nodes: number;
  /** Some of their instances. */
  readonly instances: readonly string[];
  /** For `--allow-withdrawals`. */
  readonly token?: string;
}

export interface UnverifiedReport {
  /** Why Nodes cannot be read, if so. */
  readonly problem?: string;
  readonly count: number;
  /** The first names, up to a limit. */
  readonly nodes: readonly string[];
}

export interface WarningReport {
  readonly node: string;
  readonly reason: string;
  readonly why: string;
  /** How many addresses the warning concerns, if counted. */
  readonly addresses?: number;
}

export interface ExclusionReport {
  readonly node: string;
  readonly interface: string;
  readonly deviceIndex?: number;
  readonly why: string;
  /** How many of its addresses, where it carries pods on others. */
  readonly addresses?: number;
}

export interface NodeReport {
  readonly name: string;
  readonly instance?: string;
  readonly protocol?: string;
  readonly available?: number;
  readonly used?: number;
  readonly wanted?: number;
  /** The state of the node's IPv6 prefix; absent if the agent asks for none. */
  readonly ipv6?: Ipv6State;
  readonly pendingPods?: number;
  /** True if the CiliumNode could not be written. */
  readonly unpublished?: boolean;
  readonly inDeficitForSeconds?: number;
  readonly reason?: string;
  readonly why?: string;
}

/** `now` is monotonic. `withNodes`: names every node. */
export function statusReport(
  facts: SelfFacts &
    CloudCallReport & {
      readonly session: ReportedSession | undefined;
      readonly identityProblem: string | undefined;
      readonly naming?: Pick<StatusReport, 'cluster'>;
      readonly now: number;
    },
  withNodes?: boolean,
): StatusReport {
  const { session, denied, buckets, now, identityProblem, naming } = facts;
  const withdrawalsHeld = session?.cloud.heldWithdrawals;
  const fleet = session && {
    summaries: session.summaries(),
    leftAlone: session.leftAlone,
    subnets: session.cloud.subnets(),
    cloudRead: session.cloud.lastRead,
    planningSources: session.cloud.planningSources,
  };
  return {
    ...(fleet !== undefined && { reasons: countsByReason(fleet.summaries.map(conditionOf)) }),
    ...selfReport(facts, session?.conflictingWrite),
    ...naming,
    ...(session?.dryRun !== undefined && { dryRun: session.dryRun }),
    ...(withdrawalsHeld !== undefined && { withdrawalsHeld }),
    ...(fleet !== undefined && unverifiedReport(fleet.summaries, identityProblem)),
    denied,
    ...(fleet !== undefined && fleetReport(fleet, now, withNodes)),
    buckets,
  };
}

/** The part of a leader session that is reported. */
export interface ReportedSession {
  summaries(): readonly NodeSummary[];
  /** CiliumNodes that their owner asks to ignore, and no summary tells of. Default: none. */
  readonly leftAlone?: readonly string[];
  readonly cloud: {
    subnets(): readonly SubnetFigures[];
    readonly lastRead: CloudReadReport;
    /** Default: nothing is planned with. */
    readonly planningSources?: PlanningSources;
    /** Undefined while no withdrawals are held. */
    readonly heldWithdrawals: WithdrawalReport | undefined;
  };
  /** Undefined unless a dry run is on. */
  readonly dryRun?: DryRunReport | undefined;
  /** The last conflicting write, while it pauses anything. */
  readonly conflictingWrite: ReportedWrite | undefined;
}

interface Fleet {
  readonly summaries: readonly NodeSummary[];
  readonly leftAlone: readonly string[] | undefined;
  readonly subnets: readonly SubnetFigures[];
  readonly cloudRead: CloudReadReport;
  readonly planningSources: PlanningSources | undefined;
}

function fleetReport(fleet: Fleet, now: number, withNodes: boolean | undefined): FleetReport {
  const { summaries, leftAlone = [], subnets, cloudRead, planningSources } = fleet;
  const { nodes, addresses, pendingPods } = totalsOf(summaries);
  const lists = {
    subnets: subnetReports(subnets, summaries),
    inDeficit: summaries.filter(hasProblem).map((entry) => nodeReport(entry, now)),
    warnings: summaries.flatMap(warningReports),
    excluded: summaries.flatMap(exclusionReports),
  };
  return {
    nodes: { ...nodes, leftAlone: leftAlone.length },
    addresses,
    pendingPods,
    cloudRead,
    ...omittedOf(lists),
    ...(withNodes === true && { nodeNames: namesOf(fleet) }),
    subnets: lists.subnets.slice(0, maxListed),
    ...(planningSources !== undefined && { planning: planningReport(summaries, planningSources) }),
    inDeficit: lists.inDeficit.slice(0, maxListed),
    warnings: lists.warnings.slice(0, maxListed),
    excluded: lists.excluded.slice(0, maxListed),
  };
}

function namesOf({ summaries, leftAlone = [] }: Fleet): NamesByState {
  return namesByState([
    ...summaries.map((entry) => [standingOf(entry), entry.name] as const),
    ...leftAlone.map((name) => ['leftAlone', name] as const),
  ]);
}

function subnetReports(
  subnets: readonly SubnetFigures[],
  summaries: readonly NodeSummary[],
): readonly SubnetReport[] {
  const use = subnetUse(summaries);
  return subnets.map((subnet) => {
    const { assigned: held = 0, used = 0, nodes = 0 } = use.get(subnet.id) ?? {};
    return { ...subnet, held, used: Math.round(used), nodes };
  });
}

/** Maximum names shown. */
const maxUnverifiedShown = 20;

function unverifiedReport(
  summaries: readonly NodeSummary[],
  problem: string | undefined,
): Pick<StatusReport, 'unverified'> {
  const names = summaries.flatMap((entry) =>
    entry.kind === 'reconciled' && !entry.figures.isVerified ? [entry.name] : [],
  );
  if (names.length === 0 && problem === undefined) return {};
  const nodes = names.slice(0, maxUnverifiedShown);
  return { unverified: { ...(problem !== undefined && { problem }), count: names.length, nodes } };
}

export function warningReports(entry: NodeSummary): readonly WarningReport[] {
  if (entry.kind === 'blocked') return [];
  return entry.figures.warnings.map(({ reason, message, addresses }) => ({
    node: entry.name,
    reason,
    why: message,
    ...(addresses !== undefined && { addresses }),
  }));
}

export function exclusionReports(entry: NodeSummary): readonly ExclusionReport[] {
  if (entry.kind === 'blocked') return [];
  const { assessment, view } = entry.figures;
  if (view === undefined || assessment.kind !== 'served') return [];
  return exclusionsOf(view, assessment.requirements).map(({ interfaceId, deviceIndex, ...rest }) => ({
    node: entry.name,
    interface: interfaceId,
    ...(deviceIndex !== undefined && { deviceIndex }),
    ...rest,
  }));
}

/** Whether the node has a problem to report. */
function hasProblem(entry: NodeSummary): boolean {
  if (entry.kind === 'blocked') return true;
  const { assessment, condition, isPublished } = entry.figures;
  return assessment.kind !== 'served' || isInDeficit(assessment) || !isPublished || condition !== undefined;
}

export function nodeReport(entry: NodeSummary, now: number): NodeReport {
  if (entry.kind === 'blocked') {
    const { name, condition, pendingPods } = entry;
    return {
      name,
      ...(pendingPods > 0 && { pendingPods }),
      reason: condition.reason,
      why: condition.message,
    };
  }
  const { assessment, condition, protocol, view, inDeficitSince, isPublished, pendingPods } = entry.figures;
  return {
    name: entry.name,
    protocol,
    ...(view !== undefined && { instance: view.id }),
    ...(assessment.kind === 'served' && {
      available: assessment.usage.available,
      used: assessment.usage.used,
      wanted: assessment.wanted,
      ...(assessment.ipv6 !== 'notAsked' && { ipv6: assessment.ipv6 }),
    }),
    pendingPods,
    ...(!isPublished && { unpublished: true }),
    ...(inDeficitSince !== undefined && { inDeficitForSeconds: Math.round((now - inDeficitSince) / 1000) }),
    ...(condition !== undefined && { reason: condition.reason, why: condition.message }),
  };
}
