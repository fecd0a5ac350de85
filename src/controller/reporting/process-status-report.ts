// The part of every answer of /status about the process itself, and how its lists are kept short.
import { ignoreAnnotation } from '../../kubernetes/object-identity.ts';
import { nearest } from '../../runtime/did-you-mean.ts';
import type { Pauses } from '../../providers/gate/mutation-permission.ts';
import type { ControllerState } from './controller-state.ts';
import { type PauseReport, pauseReports, type ReportedWrite } from './pause-report.ts';

/** The controller, as it knows itself. */
export interface SelfFacts {
  readonly version: string | undefined;
  readonly state: ControllerState;
  readonly identity: string;
  /** The process that leads, if it is another one. */
  readonly leader: string | undefined;
  readonly pauses: Pauses;
  readonly readiness?: Readiness;
  /** Which nodes are ours; undefined if all are. */
  readonly scope?: ScopeReport | undefined;
  /** Options that changed since the start and count from a restart on. Default: none. */
  readonly restartNeeded?: readonly string[];
}

/** Which nodes of the cluster this release serves, where others serve the rest. */
export interface ScopeReport {
  readonly nodeSelector: string;
  /** Nodes without these labels. */
  readonly leftToOthers: number;
  /** Nodes that another release chooses, too; absent if there are none. */
  readonly overlaps?: readonly OverlapReport[];
}

export interface OverlapReport {
  readonly node: string;
  /** The Lease of the other release. */
  readonly lease: string;
  readonly reason: 'NodeSelectorsOverlap';
  readonly why: string;
}

export interface Readiness {
  /** Why it is not ready; undefined if it is. */
  readonly problem: string | undefined;
  /** How long it has been as it is, at least: since somebody asked first, such as a probe. In ms; undefined for the first. */
  readonly lasts: number | undefined;
  /** Where the process serves its state that a standby stands by for; undefined if that one does not say so. */
  readonly leaderAddress?: string | undefined;
}

export interface SelfReport extends Partial<ScopeReport> {
  readonly version?: string;
  readonly state: ControllerState;
  readonly identity: string;
  /** The leader, if another process leads. Ask it about the fleet. */
  readonly leader?: string;
  /** Where the leader serves its state, if it says so: an address on the loopback of its host names that host. */
  readonly leaderAddress?: string;
  readonly ready?: boolean;
  /** How long it has been ready, or not, at least: since somebody asked first, such as a probe. */
  readonly readyForSeconds?: number;
  readonly notReadyForSeconds?: number;
  readonly notReadyBecause?: string;
  /** Options whose file in `config-dir` differs from what it was at the start: each counts from a restart on. */
  readonly restartNeeded?: readonly string[];
  /** Why activities are paused; empty if none is. */
  readonly paused: readonly PauseReport[];
}

export function selfReport(
  { version, state, identity, leader, pauses, readiness, scope, restartNeeded = [] }: SelfFacts,
  conflictingWrite: ReportedWrite | undefined,
): SelfReport {
  return {
    ...(version !== undefined && { version }),
    state,
    identity,
    ...(leader !== undefined && { leader }),
    ...(readiness?.leaderAddress !== undefined && { leaderAddress: readiness.leaderAddress }),
    ...(readiness !== undefined && readinessReport(readiness)),
    ...(restartNeeded.length > 0 && { restartNeeded }),
    paused: pauseReports(pauses, conflictingWrite),
    ...scope,
  };
}

function readinessReport({ problem, lasts }: Readiness): Partial<SelfReport> {
  const seconds = lasts === undefined ? undefined : Math.round(lasts / 1000);
  return problem === undefined
    ? { ready: true, ...(seconds !== undefined && { readyForSeconds: seconds }) }
    : {
        ready: false,
        ...(seconds !== undefined && { notReadyForSeconds: seconds }),
        notReadyBecause: problem,
      };
}

/** When something is tried for a node next, and what brings that forward. */
export interface NextReport {
  /** Absent if no time decides. */
  readonly inSeconds?: number;
  /** The event that is awaited. */
  readonly what: string;
  readonly sooner: readonly string[];
}

/** Why a node gets nothing although nothing is wrong with it. */
export type Unserved =
  | { readonly standing: 'awaitsAgent' }
  | { readonly standing: 'leftAlone'; readonly annotated: 'CiliumNode' | 'Node' }
  | { readonly standing: 'leftToOthers' | 'settling'; readonly nodeSelector: string }
  | { readonly standing: 'contested'; readonly why: string };

export interface UnservedNode {
  readonly known: true;
  readonly name: string;
  readonly standing: Unserved['standing'];
  readonly reason?: string;
  readonly why: string;
  readonly next: NextReport;
}

const startAgent =
  'the Node has no CiliumNode, because its Cilium agent has not started there: see why the Cilium agent does not run there: it creates the CiliumNode';

export const untilServedAgain: NextReport = {
  what: 'its owner no longer asks to leave it alone',
  sooner: [],
};

export function unservedNode(name: string, unserved: Unserved): UnservedNode {
  return { known: true, name, standing: unserved.standing, ...unservedInWords(unserved) };
}

function unservedInWords(unserved: Unserved): Pick<UnservedNode, 'reason' | 'why' | 'next'> {
  switch (unserved.standing) {
    case 'awaitsAgent':
      return { why: startAgent, next: { what: 'its agent creates the CiliumNode', sooner: [] } };
    case 'leftAlone':
      return {
        why: `its ${unserved.annotated} is annotated ${ignoreAnnotation}=true`,
        next: untilServedAgain,
      };
    case 'leftToOthers':
      return {
        why: `its Node does not have the labels of node-selector ${unserved.nodeSelector}: another release serves it`,
        next: { what: 'the labels of its Node match', sooner: [] },
      };
    case 'contested':
      return {
        reason: 'NodeSelectorsOverlap',
        why: unserved.why,
        next: { what: 'only this release chooses it', sooner: [] },
      };
    case 'settling':
      return {
        why: `its Node has the labels of node-selector ${unserved.nodeSelector} since a moment ago, and what its former release began may still take effect`,
        next: { what: 'nothing of its former release can take effect', sooner: [] },
      };
  }
}

export interface UnknownNode {
  readonly known: false;
  readonly node: string;
  readonly state: ControllerState;
  /** The process that may know it. */
  readonly leader?: string;
  /** The name that may be meant. */
  readonly nearest?: string;
}

/** `names`: those of the nodes that are known. */
export function unknownNode(
  name: string,
  { state, leader }: Pick<SelfFacts, 'state' | 'leader'>,
  names: readonly string[],
): UnknownNode {
  const node = name.slice(0, 253);
  const meant = names.find((each) => each.startsWith(`${node}.`)) ?? nearest(node, names);
  return {
    known: false,
    node,
    state,
    ...(leader !== undefined && { leader }),
    ...(meant !== undefined && { nearest: meant }),
  };
}

/** How many nodes have each reason, most frequent first. */
export function countsByReason(
  conditions: readonly ({ readonly reason: string } | undefined)[],
): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const condition of conditions)
    if (condition !== undefined) counts.set(condition.reason, (counts.get(condition.reason) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a));
}

/** The names of all nodes of each state that any has. Only `/status?nodes` has them. */
export type NamesByState = Readonly<Record<string, readonly string[]>>;

export function namesByState(nodes: readonly (readonly [state: string, name: string])[]): NamesByState {
  const names: Record<string, string[]> = {};
  for (const [state, name] of nodes) (names[state] ??= []).push(name);
  return names;
}

/** Maximum entries shown per list. */
export const maxListed = 1000;

/** How many entries are left out of each list, if any are. */
export function omittedOf(lists: Readonly<Record<string, readonly unknown[]>>): {
  readonly omitted?: Readonly<Record<string, number>>;
} {
  const omitted = Object.entries(lists)
    .map(([name, list]) => [name, list.length - maxListed] as const)
    .filter(([, count]) => count > 0);
  return omitted.length > 0 ? { omitted: Object.fromEntries(omitted) } : {};
}
