// The shell of every mode, built around Kubernetes and time: leadership, the list that a new leader catches up with, dry
// run and pauses, drain, status. What it leads is the mode's. The same code runs against a real cluster and against a
// whole cluster in one process in virtual time.
import { LiveOptions, type LiveReading } from '../config/live-options.ts';
import type { EventReport } from '../kubernetes/events/event-object.ts';
import { EventRecorder } from '../kubernetes/events/event-recorder.ts';
import { LeaderElection } from '../kubernetes/lease/leader-election.ts';
import type { KubernetesTransport } from '../kubernetes/transport/transport.ts';
import {
  conflictReach,
  conflictReaches,
  MutationPermission,
  noPauses,
  pausedBy,
  pauseReasons,
} from '../providers/gate/mutation-permission.ts';
import { sleep } from '../runtime/clock.ts';
import { aborted, raceAbort } from '../runtime/race-abort.ts';
import { KubernetesAccess } from './reporting/access-warnings.ts';
import { ReadLog } from './reporting/watch-counters.ts';
import { LeaderAddress } from './leader-address.ts';
import { NodeScope, settleTimeOf } from './node-scope.ts';
import { OtherReleases } from './other-releases.ts';
import type { ControllerState } from './reporting/controller-state.ts';
import { fence } from './fencing.ts';
import type { Host, Mode, ModeDeps } from './host.ts';
import type { SelfFacts } from './reporting/process-status-report.ts';
import type { NodeStatusReport } from './reporting/node-status-report.ts';
import type { StatusReport } from './reporting/status-report.ts';

export interface ControllerDeps<Status extends object, Node extends object> {
  readonly host: Host;
  readonly kubernetes: KubernetesTransport;
  /** Only for the Lease, so other load cannot cost the leadership. */
  readonly leaseTransport: KubernetesTransport;
  /** Composes what runs in this controller. */
  readonly composeMode: (deps: ModeDeps) => Mode<Status, Node>;
  /** The holder name in the Lease; unique per process. */
  readonly identity: string;
  /** Program version. */
  readonly version?: string;
  /** Reads the reloadable options again; undefined if there are none. */
  readonly readLiveOptions: (() => LiveReading) | undefined;
}

/**
 * How long a new Lease holder may read what it serves before it starts to lead, in ms. A failed read may be a trouble of
 * this process alone. A slow one would take any other process as long.
 */
const maxCatchUp = { failing: 60_000, slow: 300_000 };
/** How long work in flight may continue after the shutdown signal, in ms. */
const drainTime = 20_000;
/** How long after that deadline the process waits for work that it has aborted, in ms. */
const abortTime = 5000;

export class Controller<Status extends object = StatusReport, Node extends object = NodeStatusReport> {
  readonly #deps: ControllerDeps<Status, Node>;
  readonly #mode: Mode<Status, Node>;
  readonly #election: LeaderElection | undefined;
  readonly #events: EventRecorder;
  readonly #permission: MutationPermission;
  readonly #liveOptions: LiveOptions | undefined;
  readonly #access: KubernetesAccess;
  readonly #scope: NodeScope;
  readonly #others: OtherReleases;
  readonly leaderAddress: LeaderAddress;
  readonly #leading = Promise.withResolvers<'leading'>();
  /** Evaluated at each call: a process that was frozen for longer than its lease resumes without leadership. */
  readonly #leads = (): boolean => this.#election === undefined || this.#election.leaseEnd() !== undefined;
  #state: ControllerState = 'starting';
  /** As of the last time somebody asked. `since`: monotonic. */
  #readiness: { readonly isReady: boolean; readonly since: number } | undefined;
  #leadingSince: number | undefined;
  /** The process that holds the Lease, if known; undefined if it is this one or none. */
  #leader: string | undefined;
  /** When all work must have ended, in monotonic ms; undefined before the drain. */
  #drainedBy: number | undefined;

  constructor(deps: ControllerDeps<Status, Node>) {
    this.#deps = deps;
    const { host, kubernetes } = deps;
    const { options, clock, random, log, registry, onBug } = host;
    this.#election = options.leaderElection ? this.#createElection() : undefined;
    this.leaderAddress = new LeaderAddress(this.#election, deps.identity);
    this.#permission = new MutationPermission({ ...noPauses, dryRun: options.dryRun, pause: options.pause });
    this.#liveOptions = this.#createLiveOptions();
    this.#events = new EventRecorder({
      transport: kubernetes,
      clock,
      random: random.fork('events'),
      author: { component: 'headwater', instance: deps.identity },
      mayWrite: () => this.#permission.refusal('notify') === undefined,
      onProblem: (problem) => log.warn('cannot write Events', { problem: problem.message }),
      onBug,
    });
    const isInSafeLeaseWindow = fence({
      clock,
      leadingSince: () => this.#leadingSince,
      leaseEnd: () => (this.#election === undefined ? 'unlimited' : this.#election.leaseEnd()),
      isDeaf: () => this.#mode.silence() !== undefined,
    });
    const permission = this.#permission;
    this.#access = new KubernetesAccess({ ...host, kubernetes, permission });
    this.#scope = new NodeScope(options.nodeSelector, settleTimeOf(options), clock);
    const modeDeps: ModeDeps = {
      host,
      kubernetes,
      leadership: {
        leads: this.#leads,
        isInSafeLeaseWindow,
        permission,
        lease: this.#election,
        access: this.#access,
      },
      events: {
        record: (subject, report) => this.#events.record(subject, report),
        recordOnLease: (report) => this.#recordOnLease(report),
      },
      reads: new ReadLog(host),
      scope: this.#scope,
    };
    this.#mode = deps.composeMode(modeDeps);
    this.#others = new OtherReleases({ ...modeDeps, served: this.#mode.served });
    const { version = 'unknown' } = deps;
    registry.metrics.headwater_build_info.set({ version, node_version: process.version }, 1);
    registry.beforeScrape(() => this.#show());
  }

  /**
   * Runs until `signal` is aborted or leadership is lost. Resolves once work in flight has ended, or has not though it was
   * aborted: `abortTime` after the deadline of the drain at the latest. Call it once.
   */
  async run(signal: AbortSignal): Promise<'stopped' | 'lost'> {
    const ending = new AbortController();
    const background = [
      ...[...this.#mode.background, this.#events].map((each) => each.run(ending.signal)),
      ...(this.#liveOptions === undefined ? [] : [this.#liveOptions.run(ending.signal)]),
      this.#access.run(this.#mode.access, ending.signal),
      this.#others.run(ending.signal),
    ];
    const ended = this.#leadUntilOver(signal);
    const outcome = await ended.finally(() => ending.abort());
    this.#scope.stop();
    await this.#withinAbortTime(Promise.all(background), 'what it watches and reports');
    this.#state = 'stopped';
    return outcome;
  }

  /** Whether `work` ends in the time that aborted work gets. */
  async #withinAbortTime(work: Promise<unknown>, what: string): Promise<boolean> {
    const { clock, log } = this.#deps.host;
    const overdue = new AbortController();
    const cancel = clock.schedule(abortTime, () => overdue.abort());
    await raceAbort(work, overdue.signal).finally(cancel);
    if (overdue.signal.aborted)
      log.error('a bug, please report it: work does not end though aborted', { what });
    return !overdue.signal.aborted;
  }

  get state(): ControllerState {
    return this.#state;
  }

  /** Why the process makes no progress; undefined if it does. */
  problem(): string | undefined {
    const isOverdue = this.#drainedBy !== undefined && this.#deps.host.clock.monotonic() > this.#drainedBy;
    if (isOverdue && this.#state !== 'stopped') return 'it is shutting down, and work in flight does not end';
    return this.#mode.problem();
  }

  /** The condition that the process waits for; undefined once it is ready. */
  unreadiness(): string | undefined {
    const problem = this.#readinessProblem();
    const isReady = problem === undefined;
    if (this.#readiness?.isReady !== isReady)
      this.#readiness = { isReady, since: this.#deps.host.clock.monotonic() };
    return problem;
  }

  #readinessProblem(): string | undefined {
    switch (this.#state) {
      case 'starting':
        return `it reads the cluster: ${this.#mode.waitingFor()}`;
      case 'standby':
        return this.#candidacyProblem() ?? this.#mode.standbyProblem() ?? this.#mode.silence();
      case 'catchingUp':
        return `it has the Lease and ${this.#others.waitsFor(`reads ${this.#mode.served}: ${this.#mode.waitingFor()}`)}`;
      case 'leading':
        return this.#mode.leadingProblem() ?? this.#mode.silence();
      case 'draining':
      case 'stopped':
        return 'it is shutting down';
    }
  }

  /**
   * A process that cannot acquire the Lease is not ready: otherwise a rollout could stop all other replicas
   * and leave no leader.
   */
  #candidacyProblem(): string | undefined {
    const problem = this.#election?.problem?.message ?? this.#access.leaseProblem;
    return problem === undefined ? undefined : `it cannot become the leader: ${problem}`;
  }

  /** Who leads, in words; undefined if this process leads, or nobody. */
  get standbyNote(): string | undefined {
    return this.leaderAddress.noteOn(this.#leader);
  }

  /** Everything known about one node. */
  node(name: string): Node {
    return this.#mode.node(name, this.#facts());
  }

  status(withNodes = false): Status {
    return this.#mode.status(this.#facts(), withNodes);
  }

  #facts(): SelfFacts {
    const now = this.#deps.host.clock.monotonic();
    const isFirst = this.#readiness === undefined;
    const problem = this.unreadiness();
    const lasts = isFirst ? undefined : now - (this.#readiness?.since ?? now);
    return {
      version: this.#deps.version,
      state: this.#state,
      identity: this.#deps.identity,
      leader: this.#leader,
      pauses: this.#permission.pauses,
      scope: this.#scope.report(),
      ...(this.#liveOptions !== undefined && { restartNeeded: this.#liveOptions.restartNeeded }),
      readiness: { problem, lasts, leaderAddress: this.leaderAddress.of(this.#leader) },
    };
  }

  async #leadUntilOver(signal: AbortSignal): Promise<'stopped' | 'lost'> {
    const stopped = aborted(signal);
    if ((await Promise.race([this.#mode.prepare(signal), stopped])) === 'stopped') return 'stopped';
    this.#state = 'standby';
    const resign = new AbortController();
    const lease = this.#election?.run(resign.signal);
    if (this.#election === undefined) {
      this.#deps.host.registry.metrics.headwater_leader.set(1);
      this.#leading.resolve('leading');
    }
    const over = [stopped, this.#others.refused, ...(lease === undefined ? [] : [lease])];
    const first = await Promise.race([this.#readyToLead(resign.signal), ...over]);
    const last = first === 'leading' ? await this.#leadUntil(Promise.race(over), lease) : first;
    resign.abort();
    const outcome = (await lease) ?? 'stopped';
    return last === 'behind' || last === 'refused' ? 'lost' : outcome;
  }

  async #leadUntil<T>(over: Promise<T>, lease?: Promise<'lost' | 'stopped'>): Promise<T> {
    this.#beginLeading();
    try {
      return await over;
    } finally {
      if (!(await this.#drain(lease))) this.#election?.keepLease();
    }
  }

  /**
   * Waits for leadership, then relists what it serves. The previous leader may have written moments ago and
   * our watch may lag: acting on stale state could remove an address in use or offer it twice. A process that
   * cannot catch up in time releases the Lease.
   */
  async #readyToLead(signal: AbortSignal): Promise<'leading' | 'behind'> {
    const leading = await this.#leading.promise;
    if (this.#election === undefined) return leading;
    this.#state = 'catchingUp';
    const read = new AbortController();
    // Other releases are waited for as long as that takes: nothing is too late then.
    const caughtUp = Promise.all([
      this.#others.lookFirst(signal),
      this.#mode.caughtUp(signal).finally(() => read.abort()),
    ]).then(([refusal]) => (refusal === undefined ? leading : 'refused'));
    const tooLate = this.#tooLateToLead(AbortSignal.any([signal, read.signal])).then(
      () => 'behind' as const,
      () => (signal.aborted ? leading : caughtUp),
    );
    const first = await Promise.race([caughtUp, tooLate]);
    read.abort();
    if (first === 'behind')
      this.#deps.host.log.error(`cannot read ${this.#mode.served}: releasing the Lease, exiting`, {
        problem: this.#mode.waitingFor(),
      });
    return this.#leads() && first !== 'refused' ? first : 'behind';
  }

  /** Rejects only with the signal's reason. */
  async #tooLateToLead(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps.host;
    const end = clock.monotonic() + maxCatchUp.slow;
    await sleep(clock, maxCatchUp.failing, signal);
    while (this.#mode.readProblem() === undefined && clock.monotonic() < end) {
      await sleep(clock, 5000, signal);
    }
  }

  #beginLeading(): void {
    const { clock, log } = this.#deps.host;
    this.#leadingSince = clock.monotonic();
    this.#state = 'leading';
    log.info('leading', { identity: this.#deps.identity, nodes: this.#mode.count });
    this.#mode.beginServing();
  }

  /**
   * Ends work in flight: as soon as leadership is lost, and within the drain time. Resolves to whether it has ended.
   */
  async #drain(leadership: Promise<'lost' | 'stopped'> | undefined): Promise<boolean> {
    const { clock, log } = this.#deps.host;
    this.#state = 'draining';
    log.info('draining in-flight work');
    const deadline = new AbortController();
    const endBy = (end: number): void => {
      // Most of what is aborted ends at once.
      this.#drainedBy = end + abortTime / 2;
    };
    const abort = (): void => {
      endBy(clock.monotonic());
      deadline.abort();
    };
    endBy(clock.monotonic() + drainTime);
    const cancel = clock.schedule(drainTime, abort);
    // An election that fails keeps nothing either.
    leadership?.then((outcome) => (outcome === 'lost' ? abort() : undefined), abort);
    const stopped = this.#mode.stop(deadline.signal);
    await raceAbort(stopped, deadline.signal);
    const hasEnded = await this.#withinAbortTime(stopped, 'calls and writes in flight');
    cancel();
    this.#leadingSince = undefined;
    return hasEnded;
  }

  #createElection(): LeaderElection {
    const { host, leaseTransport, identity } = this.#deps;
    const { options, clock, random, log, registry, onBug } = host;
    const ports = { transport: leaseTransport, clock, random: random.fork('election'), onBug };
    return new LeaderElection(ports, {
      namespace: options.k8sNamespace,
      name: options.leaderElectionLeaseName,
      identity,
      timings: {
        leaseDuration: options.leaderElectionLeaseDuration,
        renewDeadline: options.leaderElectionRenewDeadline,
        retryPeriod: options.leaderElectionRetryPeriod,
      },
      onChange: (state) => {
        registry.metrics.headwater_leader.set(state.kind === 'leading' ? 1 : 0);
        this.#leader = state.kind === 'standby' ? state.holder : undefined;
        if (this.#leader !== undefined) this.#mode.onStandby();
        if (state.kind === 'leading') this.#leading.resolve('leading');
        if (state.kind === 'lost') log.error('leader election lost, exiting', { why: state.reason });
        if (state.kind === 'standby' && state.holder !== undefined) {
          log.info('standing by: another process leads', { holder: state.holder });
        }
      },
      onProblem: (problem) => log.warn('cannot get or renew the Lease', { problem: problem.message }),
    });
  }

  #createLiveOptions(): LiveOptions | undefined {
    const { host, readLiveOptions } = this.#deps;
    const { options, clock, log } = host;
    if (readLiveOptions === undefined) return undefined;
    const { dryRun, pause, allowWithdrawals } = options;
    return new LiveOptions({
      values: { dryRun, pause, allowWithdrawals },
      read: readLiveOptions,
      clock,
      onChange: (values) => {
        log.info('options changed while running', { ...values });
        this.#mode.onOptions(values);
        this.#others.setPauses({ dryRun: values.dryRun, pause: values.pause });
      },
      onProblem: (problem) => log.warn('option not changed: the previous value stays', { problem }),
    });
  }

  /** Without leader election there is no Lease to attach an Event to. */
  #recordOnLease(report: EventReport): void {
    if (this.#election === undefined) return;
    const { leaderElectionLeaseName: name, k8sNamespace: namespace } = this.#deps.host.options;
    this.#events.record({ kind: 'Lease', name, namespace, uid: this.#election.uid }, report);
  }

  #show(): void {
    const { metrics } = this.#deps.host.registry;
    for (const reason of pauseReasons) {
      const isPaused = pausedBy(reason, this.#permission.pauses).length > 0;
      metrics.headwater_mutations_paused.set({ reason }, isPaused ? 1 : 0);
    }
    const reach = conflictReach(this.#permission.pauses);
    for (const each of conflictReaches)
      metrics.headwater_conflicting_writer.set({ stops: each }, each === reach ? 1 : 0);
    this.#mode.show();
  }
}
