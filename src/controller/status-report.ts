// What /status answers: where the controller stands, and which nodes do not get what they need, and why.
import type { SeatFigures } from '../manager/fleet.ts';
import { exclusionsOf } from '../node/exclusions.ts';
import type { BucketLevel } from '../providers/call-budget.ts';
import {
  type Activity,
  stoppedBy,
  type StopReason,
  stopReasons,
  type Stops,
} from '../providers/mutation-permission.ts';
import type { ControllerState } from './controller-state.ts';
import type { Denial } from './denials.ts';
import { totalsOf } from './fleet-metrics.ts';
import type { SubnetFigures } from './subnet-figures.ts';
import type { Term } from './term.ts';

export interface StatusReport {
  readonly state: ControllerState;
  readonly identity: string;
  /** Why things are not begun now; empty when nothing is stopped. */
  readonly stopped: readonly StopReport[];
  /** What the cloud does not permit Headwater, although it needs it. */
  readonly denied: readonly Denial[];
  readonly nodes: Readonly<Record<string, number>>;
  readonly addresses: Readonly<Record<string, number>>;
  readonly subnets: readonly SubnetFigures[];
  /** The rate limits of each call, as far as they are ours. */
  readonly buckets: readonly BucketLevel[];
  /** Nodes that lack something or are set aside. */
  readonly short: readonly NodeReport[];
  /** What is to be said of nodes that are served all the same. */
  readonly remarks: readonly RemarkReport[];
  /** Interfaces that carry no pods, and why. */
  readonly excluded: readonly ExclusionReport[];
}

export interface RemarkReport {
  readonly node: string;
  readonly reason: string;
  readonly why: string;
}

export interface ExclusionReport {
  readonly node: string;
  readonly interface: string;
  readonly deviceIndex?: number;
  readonly why: string;
}

export interface StopReport {
  readonly reason: StopReason;
  readonly stops: readonly Activity[];
  /** The CiliumNode that somebody else wrote last, which parts of it, and who. */
  readonly node?: string;
  readonly parts?: readonly string[];
  readonly manager?: string;
  /** It goes on after so long if nobody else writes until then. */
  readonly quietInSeconds?: number;
}

export interface NodeReport {
  readonly name: string;
  readonly instance?: string;
  readonly protocol?: string;
  readonly available?: number;
  readonly used?: number;
  readonly wanted?: number;
  readonly waitingPods?: number;
  readonly shortForSeconds?: number;
  readonly reason?: string;
  readonly why?: string;
}

/** `now` is monotonic. */
export function statusReport(facts: {
  readonly state: ControllerState;
  readonly identity: string;
  readonly term: Term | undefined;
  readonly buckets: readonly BucketLevel[];
  readonly denied: readonly Denial[];
  readonly stops: Stops;
  readonly now: number;
}): StatusReport {
  const seats = facts.term?.seats() ?? [];
  const totals = totalsOf(seats);
  return {
    state: facts.state,
    identity: facts.identity,
    stopped: stopReports(facts.stops, facts.term),
    denied: facts.denied,
    nodes: totals.nodes,
    addresses: totals.addresses,
    subnets: facts.term?.subnets() ?? [],
    buckets: facts.buckets,
    short: seats.flatMap((seat) => nodeReport(seat, facts.now) ?? []),
    remarks: seats.flatMap(remarkReports),
    excluded: seats.flatMap(exclusionReports),
  };
}

function remarkReports(seat: SeatFigures): readonly RemarkReport[] {
  if (seat.kind === 'setAside') return [];
  return seat.figures.remarks.map(({ reason, text }) => ({ node: seat.name, reason, why: text }));
}

function exclusionReports(seat: SeatFigures): readonly ExclusionReport[] {
  if (seat.kind === 'setAside') return [];
  const { assessment, view } = seat.figures;
  if (view === undefined || assessment.kind !== 'served') return [];
  return exclusionsOf(view, assessment.requirements).map(({ interfaceId, deviceIndex, why }) => ({
    node: seat.name,
    interface: interfaceId,
    ...(deviceIndex !== undefined && { deviceIndex }),
    why,
  }));
}

function stopReports(stops: Stops, term: Term | undefined): readonly StopReport[] {
  return stopReasons.flatMap((reason) => {
    const stopped = stoppedBy(reason, stops);
    if (stopped.length === 0) return [];
    const last = reason === 'foreignWriter' ? term?.foreignWrite : undefined;
    if (last === undefined) return [{ reason, stops: stopped }];
    const { node, parts, manager, quietIn } = last;
    const quietInSeconds = Math.round(quietIn / 1000);
    const known = { node, parts, ...(manager !== undefined && { manager }), quietInSeconds };
    return [{ reason, stops: stopped, ...known }];
  });
}

function nodeReport(seat: SeatFigures, now: number): NodeReport | undefined {
  if (seat.kind === 'setAside') {
    return { name: seat.name, reason: seat.diagnosis.reason, why: seat.diagnosis.text };
  }
  const { assessment, diagnosis, protocol, view, shortSince } = seat.figures;
  const wanted = assessment.kind === 'served' ? assessment.wanted : 0;
  if (assessment.kind === 'served' && wanted === 0 && diagnosis === undefined) return undefined;
  return {
    name: seat.name,
    protocol,
    ...(view !== undefined && { instance: view.id }),
    ...(assessment.kind === 'served' && { ...assessment.usage, wanted }),
    ...(shortSince !== undefined && { shortForSeconds: Math.round((now - shortSince) / 1000) }),
    ...(diagnosis !== undefined && { reason: diagnosis.reason, why: diagnosis.text }),
  };
}
