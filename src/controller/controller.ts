// The controller: everything that runs, put together by hand around three ports (Kubernetes, the cloud, time), so that
// the same code serves a real cluster, and a whole cluster in one process in virtual time.
import type { Options } from '../config/option-table.ts';
import { LiveOptions } from '../config/live-options.ts';
import type { LiveReading } from '../config/read-live-options.ts';
import { CiliumNodeWriter } from '../kubernetes/cilium-node-writer.ts';
import { EventRecorder } from '../kubernetes/events.ts';
import { LeaderElection } from '../kubernetes/leader-election.ts';
import type { ServedSchema } from '../kubernetes/served-schema.ts';
import type { KubernetesTransport } from '../kubernetes/transport.ts';
import type { Diagnosis } from '../node/diagnosis.ts';
import type { NodeReference } from '../manager/fleet.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metrics.ts';
import { MutationPermission, noStops, stoppedBy, stopReasons } from '../providers/mutation-permission.ts';
import { type Clock, sleep } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import { warnOfMissingAccess } from './access-warnings.ts';
import type { Cloud, CloudDeps } from './aws-cloud.ts';
import { ClusterCache } from './cluster-cache.ts';
import type { ControllerState } from './controller-state.ts';
import { fence } from './fencing.ts';
import { schemaAtStart } from './schema-at-start.ts';
import { statusReport, type StatusReport } from './status-report.ts';
import { Term } from './term.ts';

export interface ControllerDeps {
  readonly options: Options;
  readonly kubernetes: KubernetesTransport;
  /** For the Lease alone, so that load elsewhere never loses it. */
  readonly leaseTransport: KubernetesTransport;
  readonly composeCloud: (deps: CloudDeps) => Cloud;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  /** Tells one process from another: the holder's name in the Lease. */
  readonly identity: string;
  /** Reads the options that may change meanwhile anew; undefined where none can. */
  readonly readLiveOptions: (() => LiveReading) | undefined;
  readonly onBug: (error: unknown) => void;
}

/** How long who has the Lease may read CiliumNodes before it begins, in ms. */
const mostCatchUp = 60_000;
/** How long begun work may go on when the process is told to end, in ms. */
const drainTime = 20_000;

export class Controller {
  readonly #deps: ControllerDeps;
  readonly #cache: ClusterCache;
  readonly #cloud: Cloud;
  readonly #election: LeaderElection | undefined;
  readonly #events: EventRecorder;
  readonly #permission: MutationPermission;
  readonly #liveOptions: LiveOptions | undefined;
  readonly #leading = Promise.withResolvers<'leading'>();
  /** At this very moment: a process that was frozen for longer than its lease goes on where it stood. */
  readonly #leads = (): boolean => this.#election === undefined || this.#election.leaseEnd() !== undefined;
  #state: ControllerState = 'starting';
  #term: Term | undefined;
  #leadingSince: number | undefined;
  /** Why it may not have the Lease. */
  #leaseProblem: string | undefined;

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
    const { options, clock, random, log, registry, kubernetes, onBug } = deps;
    this.#election = options.leaderElection ? this.#createElection() : undefined;
    const mayTakeAway = fence({
      clock,
      leadingSince: () => this.#leadingSince,
      leaseEnd: () => (this.#election === undefined ? 'unlimited' : this.#election.leaseEnd()),
    });
    this.#permission = new MutationPermission({ ...noStops, dryRun: options.dryRun, pause: options.pause });
    this.#liveOptions = this.#createLiveOptions();
    this.#cloud = deps.composeCloud({
      options,
      clock,
      log,
      metrics: registry.metrics,
      leads: this.#leads,
      mayTakeAway,
      permission: this.#permission,
    });
    this.#cache = new ClusterCache({
      transport: kubernetes,
      clock,
      random: random.fork('cache'),
      log,
      onBug,
      onNode: (name, watched) => this.#term?.apply(name, watched),
      onWaitingPods: (name) => this.#term?.waitingPodsChanged(name),
    });
    this.#events = new EventRecorder({
      transport: kubernetes,
      clock,
      random: random.fork('events'),
      author: { component: 'headwater', instance: deps.identity },
      mayWrite: () => this.#permission.refusal('tell') === undefined,
      onProblem: (problem) => log.warn('cannot write Events', { problem: problem.message }),
      onBug,
    });
    registry.beforeScrape(() => this.#show());
  }

  /**
   * Runs until `signal` is aborted or leadership is lost; resolves once what was begun has ended, 20 s later at most.
   * To be called once.
   */
  async run(signal: AbortSignal): Promise<'stopped' | 'lost'> {
    const ending = new AbortController();
    const background = [
      ...[this.#cache, this.#events].map((each) => each.run(ending.signal)),
      ...(this.#liveOptions === undefined ? [] : [this.#liveOptions.run(ending.signal)]),
      warnOfMissingAccess(
        this.#deps,
        (problem) => {
          this.#leaseProblem = problem;
        },
        ending.signal,
      ),
    ];
    const ended = this.#lead(signal);
    const outcome = await ended.finally(() => ending.abort());
    await Promise.all(background);
    this.#state = 'stopped';
    return outcome;
  }

  get state(): ControllerState {
    return this.#state;
  }

  /** Undefined when all is well; else what keeps the process from making progress. */
  problem(): string | undefined {
    return this.#cache.problem();
  }

  /** Undefined when the process is ready to do its part; else what it waits for. */
  unreadiness(): string | undefined {
    switch (this.#state) {
      case 'starting':
        return `it reads the cluster: ${this.#cache.waitingFor()}`;
      case 'standby':
        return this.#candidacyProblem();
      case 'catchingUp':
        return `it has the Lease and reads CiliumNodes: ${this.#cache.waitingFor()}`;
      case 'leading':
        return this.#readingProblem();
      case 'draining':
      case 'stopped':
        return 'it is ending';
    }
  }

  #readingProblem(): string | undefined {
    if (this.#term?.hasRead === true) return undefined;
    const problem = this.#term?.readProblem;
    return problem === undefined ? 'it reads the cloud' : `it cannot read the cloud: ${problem}`;
  }

  /** Whoever lets the others end because this one is ready would have no leader. */
  #candidacyProblem(): string | undefined {
    const problem = this.#election?.problem?.message ?? this.#leaseProblem;
    return problem === undefined ? undefined : `it cannot become the leader: ${problem}`;
  }

  status(): StatusReport {
    return statusReport({
      state: this.#state,
      identity: this.#deps.identity,
      term: this.#term,
      buckets: this.#cloud.buckets(),
      denied: this.#cloud.denied(),
      stops: this.#permission.stops,
      now: this.#deps.clock.monotonic(),
    });
  }

  async #lead(signal: AbortSignal): Promise<'stopped' | 'lost'> {
    const stopped = aborted(signal);
    if ((await Promise.race([this.#cache.synced, stopped])) === 'stopped') return 'stopped';
    const schema = await Promise.race([schemaAtStart(this.#deps, signal), stopped]);
    if (schema === 'stopped') return schema;
    this.#state = 'standby';
    const giveBack = new AbortController();
    const lease = this.#election?.run(giveBack.signal);
    if (this.#election === undefined) this.#leading.resolve('leading');
    const over = [stopped, ...(lease === undefined ? [] : [lease])];
    const first = await Promise.race([this.#readyToLead(giveBack.signal), ...over]);
    if (first === 'leading') {
      this.#begin(schema);
      let isOver = true;
      try {
        isOver = (await Promise.race(over)) === 'lost';
      } finally {
        await this.#drain(isOver);
      }
    }
    giveBack.abort();
    const outcome = (await lease) ?? 'stopped';
    return first === 'behind' ? 'lost' : outcome;
  }

  /**
   * Whoever led before wrote until a moment ago, and the watch of a standby may be late: what it does not know of, it would
   * strike, or offer on a second node. Who cannot find out in time leaves the Lease to others.
   */
  async #readyToLead(signal: AbortSignal): Promise<'leading' | 'behind'> {
    const leading = await this.#leading.promise;
    if (this.#election === undefined) return leading;
    const { clock, log } = this.#deps;
    this.#state = 'catchingUp';
    const known = new AbortController();
    const tooLate = sleep(clock, mostCatchUp, AbortSignal.any([signal, known.signal])).then(
      () => 'behind' as const,
      () => leading,
    );
    const first = await Promise.race([this.#cache.caughtUp().then(() => leading), tooLate]);
    known.abort();
    if (first === 'behind') {
      const problem = this.#cache.waitingFor();
      log.error('cannot read CiliumNodes: leaving the Lease to others, to be started anew', { problem });
    }
    return this.#leads() ? first : 'behind';
  }

  #begin(schema: ServedSchema): void {
    const { clock, random, log, registry, kubernetes, options, onBug } = this.#deps;
    this.#leadingSince = clock.monotonic();
    this.#state = 'leading';
    log.info('leading', { identity: this.#deps.identity, nodes: this.#cache.nodes.size });
    this.#term = new Term({
      options,
      cloud: this.#cloud,
      writer: new CiliumNodeWriter(kubernetes, this.#leads),
      leads: this.#leads,
      knownVersion: () => this.#cache.nodesVersion,
      permission: this.#permission,
      schema,
      observe: (raw) => this.#cache.observe(raw),
      waitingPods: (name) => this.#cache.waitingPods(name),
      tell: (node, diagnosis) => this.#tell(node, diagnosis),
      clock,
      random: random.fork('term'),
      log,
      registry,
      onBug,
    });
    this.#term.begin(this.#cache.nodes.values());
  }

  /** Ends what was begun: when leadership is lost at once, else within the time that a shutdown has. */
  async #drain(atOnce: boolean): Promise<void> {
    const { clock, log } = this.#deps;
    this.#state = 'draining';
    log.info('ending what was begun');
    const deadline = new AbortController();
    const cancel = clock.schedule(atOnce ? 0 : drainTime, () => deadline.abort());
    await this.#term?.stop(deadline.signal);
    cancel();
    this.#leadingSince = undefined;
  }

  #createElection(): LeaderElection {
    const { options, leaseTransport, clock, random, identity, log, registry, onBug } = this.#deps;
    return new LeaderElection({
      transport: leaseTransport,
      clock,
      random: random.fork('election'),
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
        if (state.kind === 'leading') this.#leading.resolve('leading');
        if (state.kind === 'lost')
          log.error('leadership is lost: ending, to be started anew', { why: state.reason });
        if (state.kind === 'standby' && state.holder !== undefined) {
          log.info('standing by: another process leads', { holder: state.holder });
        }
      },
      onProblem: (problem) => log.warn('cannot get or renew the Lease', { problem: problem.message }),
      onBug,
    });
  }

  #createLiveOptions(): LiveOptions | undefined {
    const { options, readLiveOptions, clock, log } = this.#deps;
    if (readLiveOptions === undefined) return undefined;
    const { dryRun, pause } = options;
    return new LiveOptions({
      values: { dryRun, pause },
      read: readLiveOptions,
      clock,
      onChange: (values) => {
        log.info('options changed while running', { ...values });
        this.#permission.change(values);
      },
      onProblem: (problem) => log.warn('an option cannot be changed: its value stays', { problem }),
    });
  }

  #tell(node: NodeReference, { reason, text: message }: Diagnosis): void {
    const report = { type: 'Warning', reason, message } as const;
    this.#events.record({ kind: 'CiliumNode', name: node.name, uid: node.uid }, report);
    this.#events.record({ kind: 'Node', name: node.name, uid: node.nodeUid }, report);
  }

  #show(): void {
    const { metrics } = this.#deps.registry;
    this.#cache.show(metrics);
    for (const reason of stopReasons) {
      const isStopped = stoppedBy(reason, this.#permission.stops).length > 0;
      metrics.headwater_mutations_stopped.set({ reason }, isStopped ? 1 : 0);
    }
    this.#term?.show();
  }
}

function aborted(signal: AbortSignal): Promise<'stopped'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('stopped');
    signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  });
}
