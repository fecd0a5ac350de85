// The answer of /status?node=NAME: everything known about one node, healthy or not, with the chain from its need to the
// remedy.
import { unservedNext } from '../../node/conditions/next-try.ts';
import type { SubnetSelection } from '../../node/conditions/subnet-verdicts.ts';
import type { Watermarks } from '../../node/demand/statistics.ts';
import type { NodeCapacity, NodeExplanation } from '../../node/reconcile/node-explanation.ts';
import type { RecentCall } from '../../node/reconcile/recent-calls.ts';
import type { NodeSummary } from '../../node/reconcile/node-summary.ts';
import type { NodeDryRunReport } from './dry-run-report.ts';
import { type NodeStanding, standingOf } from './fleet-metrics.ts';
import {
  type NextReport,
  type SelfFacts,
  type UnknownNode,
  unknownNode,
  type Unserved,
  unservedNode,
} from './process-status-report.ts';
import {
  type ExclusionReport,
  exclusionReports,
  type NodeReport,
  nodeReport,
  type WarningReport,
  warningReports,
} from './status-report.ts';

export type NodeStatusReport = UnknownNode | (KnownNodeReport & ChainReport);

interface KnownNodeReport extends NodeReport {
  readonly known: true;
  readonly standing: NodeStanding | Unserved['standing'];
  readonly needed?: number;
  readonly excess?: number;
  readonly releasing?: number;
  readonly interfaces: readonly InterfaceReport[];
  readonly warnings: readonly WarningReport[];
  readonly excluded: readonly ExclusionReport[];
  /** Only in a dry run. */
  readonly dryRun?: NodeDryRunReport;
}

/** The chain from its need to the remedy. */
interface ChainReport {
  /** Absent while the node is not served, like the two below. */
  readonly watermarks?: Watermarks;
  readonly capacity?: NodeCapacity;
  /** Which subnets it may take addresses from, and why not from the others. */
  readonly selection?: SubnetSelection;
  /** The last calls for the node, newest first. */
  readonly calls: readonly CallReport[];
  readonly next: NextReport;
}

export interface CallReport extends Pick<RecentCall, 'operation' | 'resource' | 'outcome'> {
  readonly secondsAgo: number;
  /** The refused call and the answer, in the words of the cloud. */
  readonly action?: string;
  readonly code?: string;
  readonly message?: string;
  readonly requestId?: string;
}

interface InterfaceReport {
  readonly id: string;
  readonly subnet: string;
  readonly deviceIndex?: number;
  readonly addresses: number;
  readonly prefixes: number;
  /** How many of the addresses others made, or use from outside the cluster. */
  readonly ofOthers?: number;
  readonly ipv6Prefixes?: number;
}

/** Maximum entries shown per list. */
const maxListed = 100;

export function nodeStatusReport(
  name: string,
  summaries: readonly NodeSummary[],
  facts: Pick<SelfFacts, 'state' | 'leader'> & {
    readonly now: number;
    /** Undefined for a node that is not served. */
    readonly explanation?: NodeExplanation | undefined;
    /** Why a node that no summary tells of gets nothing; undefined if the cluster shows none of that name. */
    readonly unserved?: Unserved | undefined;
    /** Undefined unless a dry run is on. */
    readonly dryRun?: NodeDryRunReport | undefined;
  },
): NodeStatusReport {
  const { now, explanation, unserved, dryRun } = facts;
  const entry = summaries.find((each) => each.name === name);
  if (entry === undefined && unserved !== undefined)
    return { ...unservedNode(name, unserved), interfaces: [], warnings: [], excluded: [], calls: [] };
  if (entry === undefined)
    return unknownNode(
      name,
      facts,
      summaries.map((each) => each.name),
    );
  return {
    ...reportOf(entry, now),
    ...(dryRun !== undefined && { dryRun }),
    ...chainReport(explanation ?? notReconciled, now),
  };
}

const notReconciled: NodeExplanation = {
  marks: undefined,
  capacity: undefined,
  selection: undefined,
  calls: [],
  next: unservedNext,
};

function chainReport({ marks, capacity, selection, calls, next }: NodeExplanation, now: number): ChainReport {
  const { at, what, sooner } = next;
  return {
    ...(marks !== undefined && { watermarks: marks }),
    ...(capacity !== undefined && { capacity }),
    ...(selection !== undefined && {
      selection: { ...selection, subnets: selection.subnets.slice(0, maxListed) },
    }),
    calls: calls.map((call) => callReport(call, now)).toReversed(),
    next: {
      ...(at !== undefined && { inSeconds: Math.max(0, Math.round((at - now) / 1000)) }),
      what,
      sooner,
    },
  };
}

function callReport({ endedAt, failure, ...call }: RecentCall, now: number): CallReport {
  const secondsAgo = Math.round((now - endedAt) / 1000);
  if (failure === undefined) return { secondsAgo, ...call };
  const { action, code, message, requestId } = failure;
  return {
    secondsAgo,
    ...call,
    action,
    code,
    message,
    ...(requestId !== undefined && { requestId }),
  };
}

function reportOf(entry: NodeSummary, now: number): KnownNodeReport {
  const figures = entry.kind === 'reconciled' ? entry.figures : undefined;
  const assessment = figures?.assessment;
  return {
    known: true,
    standing: standingOf(entry),
    ...nodeReport(entry, now),
    ...(assessment?.kind === 'served' && { needed: assessment.needed, excess: assessment.excess }),
    ...(figures !== undefined && { releasing: figures.releasing }),
    interfaces: (figures?.view?.interfaces ?? []).slice(0, maxListed).map((item) => ({
      id: item.id,
      subnet: item.subnetId,
      ...(item.attachment !== undefined && { deviceIndex: item.attachment.deviceIndex }),
      addresses: item.addresses.length,
      prefixes: item.prefixes.length,
      ...(item.ofOthers !== undefined && { ofOthers: item.ofOthers.length }),
      ...(item.ipv6Prefixes !== undefined && { ipv6Prefixes: item.ipv6Prefixes.length }),
    })),
    warnings: warningReports(entry).slice(0, maxListed),
    excluded: exclusionReports(entry).slice(0, maxListed),
  };
}
