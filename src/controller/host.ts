// The port between a mode and the controller: the controller leads, pauses, drains and reports; the mode decides
// which objects are read, and what runs while this process leads.
import type { Options } from '../config/option-table.ts';
import type { LiveValues } from '../config/live-options.ts';
import type { AccessScope } from '../kubernetes/access/needed-access.ts';
import type { EventSink } from '../kubernetes/events/event-object.ts';
import type { LeaderElection } from '../kubernetes/lease/leader-election.ts';
import type { KubernetesTransport } from '../kubernetes/transport/transport.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metrics.ts';
import type { MutationPermission } from '../providers/gate/mutation-permission.ts';
import type { ProcessPorts } from '../runtime/process-ports.ts';
import type { ChangeAudit } from './reporting/change-audit.ts';
import type { KubernetesAccess } from './reporting/access-warnings.ts';
import type { NodeScope } from './node-scope.ts';
import type { ReadLog } from './reporting/watch-counters.ts';
import type { SelfFacts } from './reporting/process-status-report.ts';

/** The process, for each of its parts. */
export interface Host extends ProcessPorts {
  readonly options: Options;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  /** Undefined: the option audit is not set. */
  readonly audit?: ChangeAudit | undefined;
}

/** Whether this process leads, and what it may do meanwhile. */
export interface Leadership {
  /** Whether this process leads at this moment. */
  readonly leads: () => boolean;
  /** Whether a call that takes something away and may last `ms` may be sent: see `fence`. */
  readonly isInSafeLeaseWindow: (ms: number) => boolean;
  readonly permission: MutationPermission;
  /** Undefined without leader election. */
  readonly lease: LeaderElection | undefined;
  /** Permissions in Kubernetes. */
  readonly access: Pick<KubernetesAccess, 'missing'>;
}

/** The parts of the controller that its mode gets. */
export interface ModeDeps {
  readonly host: Host;
  readonly kubernetes: KubernetesTransport;
  readonly leadership: Leadership;
  readonly events: EventSink;
  readonly reads: ReadLog;
  /** Which nodes are this release's. */
  readonly scope: NodeScope;
}

/** `Status` and `Node` are the answers of /status, without and with a node. */
export interface Mode<Status extends object, Node extends object> {
  /** The objects that it serves, in plural. */
  readonly served: 'CiliumNodes' | 'Nodes';
  /** Which permissions it needs. */
  readonly access: AccessScope;
  /** How many of them are known. */
  readonly count: number;
  /** Each runs as long as the process does. */
  readonly background: readonly { run(signal: AbortSignal): Promise<void> }[];
  /** Resolves once enough is known to stand for election. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Why the last attempt to list the served objects failed; undefined if none has, or while they are known. */
  readProblem(): string | undefined;
  /** The condition that the first list of the served objects waits for. */
  waitingFor(): string;
  /** Resolves once everything written before this call is known. May reject with the signal's reason. */
  caughtUp(signal: AbortSignal): Promise<void>;
  /** Starts to serve. Call it once, after `prepare` and `caughtUp`. */
  beginServing(): void;
  /** Starts nothing more; resolves once work in flight has ended, at `deadline` at the latest. */
  stop(deadline: AbortSignal): Promise<void>;
  /** Why a standby could not take over; undefined if it could. */
  standbyProblem(): string | undefined;
  /** Why the leader does not work properly; undefined if it does. */
  leadingProblem(): string | undefined;
  /** Which watch is silent; undefined while all are heard. The process is not ready and takes nothing away meanwhile. */
  silence(): string | undefined;
  /** Why the process makes no progress; undefined if it does. */
  problem(): string | undefined;
  /** Called when another process is known to lead. */
  onStandby(): void;
  /** Called when options changed while running. */
  onOptions(values: LiveValues): void;
  /** `withNodes`: names every node. */
  status(facts: SelfFacts, withNodes: boolean): Status;
  node(name: string, facts: SelfFacts): Node;
  /** Sets its gauges. */
  show(): void;
}

type AccessOptions = Pick<
  Options,
  | 'nodesGcInterval'
  | 'manageAgentTaint'
  | 'skipCrdCreation'
  | 'autoCreateCiliumPodIpPools'
  | 'releasePodCheck'
>;

/** Rights that a mode with CiliumNodes needs at the API server. */
export function accessScope(
  mode: Exclude<AccessScope['mode'], 'nodeipam'>,
  options: AccessOptions,
): AccessScope {
  const { nodesGcInterval, manageAgentTaint, skipCrdCreation, autoCreateCiliumPodIpPools, releasePodCheck } =
    options;
  const duties = { gc: nodesGcInterval > 0, managesTaint: manageAgentTaint };
  if (mode === 'eni') return { mode, ...duties };
  return {
    mode,
    ...duties,
    createsDefinition: !skipCrdCreation,
    createsPools: mode === 'multi-pool' && autoCreateCiliumPodIpPools.size > 0,
    looksAtPods: releasePodCheck,
  };
}
