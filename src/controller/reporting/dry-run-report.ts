// Sums up a dry run of a cloud: what Headwater would do now, where the program that does it meanwhile decided otherwise, which
// nodes would not be served, and whether to go live. Pure.
import { conditionOf, type NodeFigures, type NodeSummary } from '../../node/reconcile/node-summary.ts';
import { secondaryAddressesOf, type PlannedStep } from '../../node/allocate/planned-step.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import { prefixSize } from '../../providers/contract/network-interface.ts';
import {
  counted,
  accessInWords,
  type DryRunFindings,
  type DryRunVerdict,
  type MissingAccess,
  verdictOn,
} from './dry-run-verdict.ts';
import {
  type DryRunOutcome,
  looksAt,
  type OtherDecision,
  type OtherDecisionsReport,
} from './other-decisions.ts';
import { countsByReason } from './process-status-report.ts';

export interface DryRunReport extends DryRunVerdict, OtherDecisionsReport {
  readonly would: NodeChange & Readonly<Record<'deleteCiliumNodes', number>>;
  /** Addresses that would be assigned, by subnet. */
  readonly subnets: Readonly<Record<string, number>>;
}

export interface Change {
  readonly createInterfaces: number;
  readonly assign: number;
}

type NodeChange = Change & Readonly<Record<'deleteInterfaces' | 'release', number>>;

/** The part of a dry run that concerns one node. */
export interface NodeDryRunReport {
  readonly would: NodeChange;
  /** Addresses that would be assigned, by subnet. */
  readonly subnets: Readonly<Record<string, number>>;
  /** Absent if another program did the same, or nothing is known of any. */
  readonly decidedOtherwise?: Omit<OtherDecision, 'node'>;
}

/** Holdings of an instance, without primary addresses. */
export interface Holding {
  readonly interfaces: number;
  readonly addresses: number;
}

/** The track of a node since another program last changed its instance. */
export interface DryRunTrack {
  readonly instanceId: string;
  readonly base: Holding;
  /** The change that Headwater would have made; undefined while it would do nothing. */
  readonly would: Change | undefined;
  /** How many looks found the same. */
  readonly looks: number;
  /** Whether addresses were to be released. */
  readonly isReleasing: boolean;
}

/** How many looks a decision may take that another program carries out as well. */
const maxLooks = 3;

export interface Compared {
  readonly track: DryRunTrack | undefined;
  readonly outcome?: DryRunOutcome;
}

/** Compares what an instance has now with what it had, and with what Headwater would have done. `begun`: since the last look. */
export function comparedTo(
  track: DryRunTrack | undefined,
  figures: NodeFigures,
  begun: Change | undefined,
): Compared {
  const { view } = figures;
  if (view === undefined) return { track: undefined };
  const has = holdingOf(view);
  const settled = { instanceId: view.id, ...settledOn(figures, has) };
  if (track?.instanceId !== view.id) return { track: settled };
  const gained = {
    createInterfaces: has.interfaces - track.base.interfaces,
    assign: has.addresses - track.base.addresses,
  };
  const would = track.would ?? begun;
  if (would !== undefined) return withPlan({ ...track, would }, gained, settled);
  const isExpected = mayHaveNeeded(figures, gained.assign) || (gained.assign < 0 && track.isReleasing);
  if (isNothing(gained) || isExpected) return { track: settled };
  return { track: settled, outcome: otherwise(undefined, gained) };
}

/** The track of an instance that has what it has. */
function settledOn(
  { planned = [], toRelease = 0 }: NodeFigures,
  base: Holding,
): Omit<DryRunTrack, 'instanceId'> {
  return { base, would: changeOf(planned), looks: 0, isReleasing: toRelease > 0 };
}

function withPlan(
  track: DryRunTrack & { readonly would: Change },
  gained: Change,
  settled: DryRunTrack,
): Compared {
  const { would, looks } = track;
  if (settled.would === undefined) {
    // A change that is needed no longer, and that nobody made, says nothing.
    return isNothing(gained) ? { track: settled } : { track: settled, outcome: outcomeOf(would, gained) };
  }
  if (looks < maxLooks) return { track: { ...track, looks: looks + 1 } };
  // It lasts until the need is met: later looks compare with the same.
  return { track, outcome: outcomeOf(would, gained) };
}

function outcomeOf(would: Change, gained: Change): DryRunOutcome {
  const isSame = would.assign === gained.assign && would.createInterfaces === gained.createInterfaces;
  return isSame ? { kind: 'same' } : otherwise(would, gained);
}

function isNothing({ createInterfaces, assign }: Change): boolean {
  return createInterfaces === 0 && assign === 0;
}

/** Whether the node needed what it got before Headwater looked. */
function mayHaveNeeded({ assessment }: NodeFigures, gained: number): boolean {
  if (assessment.kind !== 'served' || gained <= 0) return false;
  return assessment.excess < gained;
}

function otherwise(would: Change | undefined, did: Change): DryRunOutcome {
  return { kind: 'otherwise', would: inWords(would), did: inWords(did) };
}

function inWords(change: Change | undefined): string {
  if (change === undefined || isNothing(change)) return 'nothing';
  const { createInterfaces, assign } = change;
  const parts = [
    [createInterfaces, 'attach', 'detach', 'interface'],
    [assign, 'assign', 'release', 'address'],
  ] as const;
  return parts
    .filter(([count]) => count !== 0)
    .map(([count, more, less, noun]) => {
      const many = noun === 'address' ? 'addresses' : `${noun}s`;
      const size = Math.abs(count);
      return `${count > 0 ? more : less} ${size} ${size === 1 ? noun : many}`;
    })
    .join(' and ');
}

/** Undefined if the steps change nothing that is counted. */
export function changeOf(steps: readonly PlannedStep[]): Change | undefined {
  const assign = steps.reduce((sum, step) => sum + secondaryAddressesOf(step), 0);
  const createInterfaces = steps.filter(
    ({ kind }) => kind === 'createInterface' || kind === 'adoptInterface',
  );
  return assign === 0 && createInterfaces.length === 0
    ? undefined
    : { createInterfaces: createInterfaces.length, assign };
}

function holdingOf({ interfaces }: Pick<InstanceView, 'interfaces'>): Holding {
  const addresses = interfaces.reduce(
    (sum, item) => sum + item.addresses.length + item.prefixes.length * prefixSize,
    0,
  );
  return { interfaces: interfaces.length, addresses };
}

/** Findings beside its nodes on which a verdict on the fleet of a cloud rests. */
export interface FleetFindings {
  readonly access: MissingAccess;
  /** Why Nodes cannot be read, and the last read of the cloud failed; undefined if not. */
  readonly identityProblem: string | undefined;
  readonly readProblem: string | undefined;
  /** Nodes without a CiliumNode. */
  readonly unannounced: number;
  /** Whether the cloud says, without a change, whether it permits changes. */
  readonly isAskable: boolean;
}

export function dryRunReport(
  summaries: readonly NodeSummary[],
  {
    decided,
    deleteCiliumNodes,
    ...findings
  }: FleetFindings & { readonly decided: OtherDecisionsReport; readonly deleteCiliumNodes: number },
): DryRunReport {
  const figures = summaries.flatMap((entry) => (entry.kind === 'reconciled' ? [entry.figures] : []));
  const nodes = {
    total: summaries.length,
    read: figures.filter(({ view }) => view !== undefined).length,
  };
  const notServed = countsByReason(summaries.map(conditionOf));
  return {
    ...verdictOn(
      { nodes, notServed },
      { ...findingsOn(findings, summaries), looks: looksAt(decided.otherwise) },
    ),
    would: { ...wouldOn(figures), deleteCiliumNodes },
    subnets: bySubnet(figures),
    ...decided,
  };
}

/** Undefined of a node that is not served. `decided`: of it. */
export function nodeDryRunReport(
  entry: NodeSummary | undefined,
  decided: Omit<OtherDecision, 'node'> | undefined,
): NodeDryRunReport | undefined {
  if (entry?.kind !== 'reconciled') return undefined;
  const figures = [entry.figures];
  return {
    would: wouldOn(figures),
    subnets: bySubnet(figures),
    ...(decided !== undefined && { decidedOtherwise: decided }),
  };
}

function wouldOn(figures: readonly NodeFigures[]): NodeChange {
  const { createInterfaces = 0, assign = 0 } = changeOf(figures.flatMap(({ planned = [] }) => planned)) ?? {};
  return {
    createInterfaces,
    assign,
    release: figures.reduce((sum, { toRelease = 0 }) => sum + toRelease, 0),
    deleteInterfaces: figures.reduce((sum, { leavingInterfaces = 0 }) => sum + leavingInterfaces, 0),
  };
}

function findingsOn(
  { access, identityProblem, readProblem, unannounced, isAskable }: FleetFindings,
  summaries: readonly NodeSummary[],
): Omit<DryRunFindings, 'looks'> {
  const unverified = summaries.filter(
    (entry) => entry.kind === 'reconciled' && !entry.figures.isVerified,
  ).length;
  const verb = unannounced === 1 ? 'has' : 'have';
  const agents = unannounced === 1 ? 'its agent has' : 'their agents have';
  return {
    obstacles: [
      ...(identityProblem === undefined
        ? []
        : [`Nodes cannot be read (${counted(unverified, 'CiliumNode')} unverified)`]),
      ...(readProblem === undefined ? [] : ['the last read of the cloud failed']),
      ...accessInWords(access),
    ],
    notes:
      unannounced === 0
        ? []
        : [`${counted(unannounced, 'Node')} ${verb} no CiliumNode yet: ${agents} not started`],
    caveats: [
      `permissions to change were not asked: ${isAskable ? 'headwater check asks what it can' : 'the cloud tells them only by a change'}`,
    ],
  };
}

function bySubnet(figures: readonly NodeFigures[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const step of figures.flatMap(({ planned = [] }) => planned))
    counts.set(step.subnetId, (counts.get(step.subnetId) ?? 0) + secondaryAddressesOf(step));
  return Object.fromEntries([...counts].filter(([, count]) => count > 0));
}
