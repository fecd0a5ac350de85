// Reconciles one node, from the appearance of its CiliumNode until it is gone or becomes another node.
// Combines the agent's demand with the cloud's state and drives allocation and publishing.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import type { Begin } from '../../providers/rate-limit/concurrency-limiter.ts';
import { rankOf, type Priority } from '../../providers/contract/priority.ts';
import { leastOf, type Requeue, RequeueTimer } from '../../runtime/requeue.ts';
import { TaskGroup } from '../../runtime/task-group.ts';
import { Trigger } from '../../runtime/trigger.ts';
import { PoolMaintainer } from '../allocate/pool-maintainer.ts';
import { type Assessment, isOursToWrite } from '../conditions/assessment.ts';
import { claimCondition } from '../conditions/claim-condition.ts';
import { DeleteOnTermination } from '../housekeeping/delete-on-termination.ts';
import { StaticAddress } from '../housekeeping/static-address.ts';
import { IdleInterfaces } from '../release/idle-interfaces.ts';
import { Releaser } from '../release/releaser.ts';
import { DesiredState } from './desired-state.ts';
import { asksTheSame, protocolOf, saysTheSameOfPools } from '../demand/demand.ts';
import { InstanceRefresh } from './instance-refresh.ts';
import { NodeState } from './node-state.ts';
import { ConditionReport } from './condition-report.ts';
import { Deficit } from './deficit.ts';
import type { NodeContext } from './node-context.ts';
import { explainNode, type NodeExplanation } from './node-explanation.ts';
import type { NodeFigures } from './node-summary.ts';
import { type Desired, nextWrite } from '../publish/next-write.ts';
import { NodePublisher, type PublishResult } from '../publish/node-publisher.ts';
import { formerReleases, givenUpAndHidden, pendingReleaseIn, shownSince } from '../publish/restored-state.ts';
import { awaitsFirstAddress } from '../publish/write-moment.ts';
import { Warnings } from './warnings.ts';
import { DryRunLog } from './dry-run-log.ts';

/**
 * Minimum time between two decisions and between two publications, in ms. Events that arrive together share
 * one run.
 */
const minInterval = 10;
/** The same while pods wait. */
const pressingInterval = 2;
/** When a run that a bug ended is repeated, although nothing happens, in ms. */
const retryAfterBug = 30_000;

/**
 * The fate of an address that a CiliumNode shows and should not. `leaving`: the next write removes it; `stuck`: the
 * API server did not accept the last write; `none`: nothing, the CiliumNode is not ours to write.
 */
export type RemovalProgress = 'none' | 'leaving' | 'stuck';

export class NodeReconciler {
  readonly name: string;
  readonly uid: string;
  readonly instanceId: string;
  readonly #context: NodeContext;
  readonly #state: NodeState;
  /** Runs `#reconcile`: decides, and starts what follows. */
  readonly #maintenance: Trigger;
  /** Writes the CiliumNode. */
  readonly #publication: Trigger;
  readonly #tasks: TaskGroup;
  readonly #releaser: Releaser;
  /** Undefined where every interface is kept. */
  readonly #idle: IdleInterfaces | undefined;
  readonly #maintainer: PoolMaintainer;
  readonly #deleteOnTermination: DeleteOnTermination;
  readonly #staticAddress: StaticAddress;
  readonly #refresh: InstanceRefresh;
  readonly #publisher: NodePublisher;
  readonly #warnings: Warnings;
  readonly #report: ConditionReport;
  readonly #deficit: Deficit;
  readonly #desired: DesiredState;
  readonly #timer: RequeueTimer;
  /** Set only in a dry run: another one logs everything again. */
  #dryRunLog: DryRunLog | undefined;
  /** A publication is running or queued. */
  #isPublishing = false;
  /** Publication priority at the last decision. */
  #priorityDecided: Priority = 'housekeeping';
  /** A state arrived that the running publication may not have seen. */
  #hasUnseenState = false;

  /** `restored`: interfaces that the object already shows; undefined if it shows another instance. */
  constructor(
    node: CiliumNode,
    instanceId: string,
    context: NodeContext,
    restored: readonly NetworkInterface[] | undefined,
  ) {
    this.name = node.name;
    this.uid = node.uid;
    this.instanceId = instanceId;
    this.#context = context;
    this.#state = new NodeState(node, instanceId, context);
    const { cloud, runtime, settings, writer } = context;
    const { clock, meters } = runtime;
    const state = this.#state;
    // A node may come back and must not reuse client tokens from its earlier lifetime.
    const random = runtime.random.fork(`${instanceId} ${runtime.random.hex(16)}`);
    const runs = {
      clock,
      minInterval,
      pressingInterval,
      onBug: (error: unknown) => this.#runFailed(error),
      isPressing: () => this.#state.pendingPods > 0,
    };
    this.#timer = new RequeueTimer(clock, () => this.wake());
    this.#maintenance = new Trigger({ ...runs, meter: meters.maintenance, run: () => this.#reconcile() });
    this.#publication = new Trigger({
      ...runs,
      meter: meters.publication,
      // The write is computed once its slot is granted: by then it may cover more at the same cost.
      admit: (start) => this.#enqueue(start),
      run: (signal) => this.#publish(signal),
    });
    this.#tasks = new TaskGroup({ ...runtime, onEnd: () => this.wake() });
    // Each of them knows of the others only which interfaces they are working on. Whenever a task ends, all take their next step.
    const parts = { clock, random, tasks: this.#tasks };
    const { supply, inventory, implementation } = cloud;
    this.#releaser = new Releaser(state, parts, settings);
    const { idleDelay } = settings.release;
    this.#idle = idleDelay === undefined ? undefined : new IdleInterfaces(state, parts, idleDelay);
    this.#maintainer = new PoolMaintainer({ node: state, supply, inventory, settings, runtime: parts });
    this.#deleteOnTermination = new DeleteOnTermination(state, parts, settings.timing);
    this.#staticAddress = new StaticAddress(state, parts, supply.publicAddresses);
    this.#refresh = new InstanceRefresh(context, state, this.#tasks);
    this.#warnings = new Warnings(implementation, context);
    this.#report = new ConditionReport(context, state);
    this.#deficit = new Deficit(context, state);
    this.#desired = new DesiredState(context, state, restored === undefined);
    this.#publisher = new NodePublisher(state, parts, writer);
    const former = formerReleases(node, settings, implementation.traits);
    inventory.track(instanceId, restored, clock.monotonic(), former);
    inventory.agentGaveUp(instanceId, givenUpAndHidden(node));
    this.wake();
  }

  /** Applies a newer state of the object; it must be of the same node. */
  update(node: CiliumNode): void {
    const previous = this.#state.node;
    this.#state.node = node;
    const { cloud, writer } = this.#context;
    const isOwnWrite = writer.own.isAnswer(node);
    if (!isOwnWrite && !saysTheSameOfPools(previous, node)) this.#state.agentWroteAt = this.#now;
    if (!isOwnWrite && writer.others.mayBePreviousLeaders(node)) this.#restore(previous, node);
    cloud.inventory.agentGaveUp(this.instanceId, givenUpAndHidden(node));
    if (isOursToWrite(this.#state.assessed)) writer.others.check(previous, node);
    // A publication in flight reads the newest state after its write. Our own writes need no decision, unless
    // something is leaving: that proceeds once its removal is confirmed.
    if (!this.#isPublishing || this.#state.isReleasing || !asksTheSame(previous, node)) this.wake();
    else if (!isOwnWrite) this.#hasUnseenState = true;
  }

  /** Restores what a previous leader showed, even if this session started from an older state. */
  #restore(previous: CiliumNode, node: CiliumNode): void {
    const { inventory, implementation } = this.#context.cloud;
    const interfaces = shownSince(previous, node, this.instanceId, implementation.section);
    inventory.restoreAlso(this.instanceId, { interfaces, pendingRelease: pendingReleaseIn(node) }, this.#now);
  }

  get #now(): number {
    return this.#context.runtime.clock.monotonic();
  }

  get removal(): RemovalProgress {
    // Before the cloud answers, removals wait; they are written then.
    if (this.#state.assessed.kind !== 'unread' && !isOursToWrite(this.#state.assessed)) return 'none';
    return this.#isPublishing || this.#publisher.isStuck ? 'stuck' : 'leaving';
  }

  get priority(): Priority {
    return this.#state.priority;
  }

  /** Undefined while the instance is not tracked. */
  get view(): InstanceView | undefined {
    return this.#state.view;
  }

  get pendingPods(): number {
    return this.#state.pendingPods;
  }

  set pendingPods(count: number) {
    if (this.#state.pendingPods === count) return;
    if (count < this.#state.pendingPods) this.#warnings.waitEnded(this.#now);
    this.#state.pendingPods = count;
    this.wake();
  }

  /** Decides again soon: something that the node depends on changed. */
  wake(): void {
    this.#maintenance.fire();
  }

  /** Starts nothing more; resolves once work in flight has ended, at `deadline` at the latest. */
  async stop(deadline: AbortSignal): Promise<void> {
    await Promise.all([this.#maintenance.stop(), this.#publication.stop(), this.#stopParts(deadline)]);
    // A part that has just ended may have set more timers.
    this.#timer.cancel();
    this.#context.cloud.inventory.untrack(this.instanceId, this.#now);
  }

  async #stopParts(deadline: AbortSignal): Promise<void> {
    this.#maintainer.close();
    await this.#tasks.stop(deadline);
    this.#staticAddress.close();
  }

  figures(): NodeFigures {
    return {
      isVerified: this.#context.fleet.identities.isVerified(this.name, this.instanceId),
      protocol: protocolOf(this.#state.node),
      assessment: this.#state.assessed,
      pendingPods: this.pendingPods,
      isPublished: !this.#publisher.isBehind,
      condition: this.#report.condition,
      warnings: this.#warnings.list,
      view: this.#state.view,
      releasing: this.#state.releases.outgoing.size,
      toRelease: this.#state.releases.pending,
      leavingInterfaces: this.#state.idle.leaving.size,
      planned: this.#state.planned,
      inDeficitSince: this.#deficit.since,
    };
  }

  explain(): NodeExplanation {
    const { backoff } = this.#maintainer;
    return explainNode(this.#context, this.#state, { backoff, report: this.#report });
  }

  #reconcile(): Promise<void> {
    const now = this.#now;
    const { view } = this.#state;
    const refresh = this.#refresh.step(view, now);
    // Before the plan: keeping an address that is needed after all costs no call.
    const release = this.#releaser.step(now);
    this.#state.assessed = this.#state.assess();
    const removal = this.#idle?.step(now) ?? {};
    const pool = this.#maintainer.step(now);
    const address = this.#staticAddress.step(now);
    const terminating = this.#setDeleteOnTermination(view);
    this.#deficit.notice(this.#state.assessed, this.#state.pendingPods);
    const warnings = this.#warn(now);
    // Demand now counts as gone what the step above lets go: what is needed after all comes back before the write.
    const onward = this.#releaser.step(now);
    // Nothing else may happen that would publish what the last step of the releases decides.
    this.#claim(this.#state.assessed);
    const { contested } = this.#desired;
    const condition = {
      assessment: this.#state.assessed,
      plan: pool.plan,
      trouble: this.#maintainer.backoff.trouble,
      refusedWrite: this.#publisher.refusal,
      staticIp: this.#staticAddress.problem.condition,
      contested: contested && claimCondition(contested),
    };
    const report = this.#report.step(condition, now);
    this.#state.planned = pool.plan?.steps ?? [];
    const isDryRun = this.#state.refusal('allocate') === 'dryRun';
    this.#dryRunLog = isDryRun ? (this.#dryRunLog ?? new DryRunLog(this.#context, this.#state)) : undefined;
    this.#dryRunLog?.showPlanned(this.#state.planned, address.missing, terminating);
    const publication = this.#publishDifference();
    this.#raiseQueuedPriority();
    this.#timer.cancel();
    const parts = [refresh, release, onward, removal, pool, address, report, warnings, publication];
    this.#timer.set(leastOf(parts), now);
    return Promise.resolve();
  }

  /** Nobody else would repeat what a bug left undone. */
  #runFailed(error: unknown): void {
    this.#context.runtime.onBug(error);
    this.#timer.set({ requeueAfter: retryAfterBug }, this.#now);
  }

  /** Claims what the node is about to offer. Returns whether what others offer of it has changed. */
  #claim(assessment: Assessment): boolean {
    const isNews = this.#desired.claim(assessment);
    const { contested: claimed } = this.#desired;
    if (isNews && claimed !== undefined)
      this.#context.emit({ kind: 'contested', instanceId: this.instanceId, claimed });
    return isNews;
  }

  /**
   * Most decisions change nothing that is shown. A publication in flight reads again after each write, or
   * retries after the API server was unreachable.
   */
  #publishDifference(): Requeue {
    if (this.#isPublishing) return {};
    const desired = this.#toPublish(this.#state.assessed);
    const write = desired && nextWrite(this.#state.node, desired);
    if (write !== undefined) {
      const requeueAfter = this.#publisher.waitBefore(write);
      if (requeueAfter > 0) return { requeueAfter };
      this.#publication.fire();
    } else if (desired !== undefined) {
      this.#publisher.settle();
      this.#onPublished(this.#state.node);
    }
    return {};
  }

  /** Undefined while unknown, and while the first addresses of the node are on their way. */
  #toPublish(assessment: Assessment): Desired | undefined {
    const desired = this.#desired.now(assessment, this.#report.condition?.message ?? '');
    const { node, view, growth } = this.#state;
    const isComing = growth.isComing || (view !== undefined && view.awaited.size > 0);
    return desired && awaitsFirstAddress(node, desired, isComing) ? undefined : desired;
  }

  /** A queued publication follows the current priority. */
  #raiseQueuedPriority(): void {
    const before = this.#priorityDecided;
    this.#priorityDecided = this.#publisher.priority;
    const hasRisen = rankOf(this.#priorityDecided) < rankOf(before);
    if (this.#isPublishing && hasRisen) this.#context.writer.publications.reconsider();
  }

  /** Returns the interfaces that need a call and for which none may start. */
  #setDeleteOnTermination(view: InstanceView | undefined): readonly string[] {
    const assessment = this.#state.assessed;
    if (assessment.kind !== 'served' || !assessment.requirements.deleteOnTermination) return [];
    return view === undefined || !this.#state.mayBeOurs()
      ? []
      : this.#deleteOnTermination.step(view.interfaces);
  }

  #warn(now: number): Requeue {
    const { view, node, assessed: assessment, podUse } = this.#state;
    const staticIp = this.#staticAddress.problem.warning;
    const unlisted = this.#context.cloud.instances.failures.unlistedBecause(this.#state.instanceId);
    const { infrastructure } = this.#context.cloud.network;
    const admittedPods = this.#context.fleet.kubelets.admittedPods(node.name);
    const facts = { view, assessment, infrastructure, staticIp, podUse, unlisted, admittedPods };
    return this.#warnings.step(node, { ...facts, changes: this.#report }, now);
  }

  #enqueue(start: Begin): () => void {
    this.#isPublishing = true;
    return this.#context.writer.publications.enter({ caller: this.#publisher }, start);
  }

  async #publish(signal: AbortSignal): Promise<void> {
    // The run's first read sees everything that arrived while it was queued.
    this.#hasUnseenState = false;
    await this.#writeDifferences(signal).finally(() => {
      this.#isPublishing = false;
      if (this.#hasUnseenState) this.wake();
    });
  }

  /** Before each write, decides again what leaves and what is offered: the write must follow from the newest state. */
  async #writeDifferences(signal: AbortSignal): Promise<void> {
    this.#publisher.beginRun();
    // The node may have stopped during a write. Nothing would release addresses claimed after that.
    while (!signal.aborted) {
      const now = this.#now;
      this.#timer.set(this.#releaser.step(now), now);
      const assessment = this.#state.assess();
      if (this.#claim(assessment)) this.wake();
      const { node } = this.#state;
      const result = await this.#publisher.step(this.#toPublish(assessment), signal);
      this.#learnFromResult(result, node);
      if (result.kind !== 'goesOn') return;
    }
  }

  /** `compared`: the state of the object that the result is about. */
  #learnFromResult(result: PublishResult, compared: CiliumNode): void {
    if (result.trouble !== undefined) {
      this.#context.emit({ kind: 'writeTrouble', node: this.#state.node, problem: result.trouble });
      this.wake();
    }
    if (result.kind === 'published') {
      this.#onPublished(compared);
      // Our own writes need no decision, and from now on the agent is shown what its pods wait for.
      const now = this.#now;
      this.#timer.set(this.#warn(now), now);
    } else if (result.kind === 'deferred') {
      // The agent is shown everything: it does not read the pool.
      if (result.write.isOnlyPool === true) this.#deficit.published(this.#state.assessed);
      this.#timer.set(result, this.#now);
    } else if (result.kind === 'paused') this.#timer.set(result, this.#now);
    else if (result.kind === 'held')
      this.#dryRunLog?.show(
        'write',
        result.writes.map((write) => ({ kind: 'write', write })),
      );
  }

  #onPublished(node: CiliumNode): void {
    this.#desired.published(node);
    if (this.#report.published(this.#state.assessed)) this.wake();
    this.#deficit.published(this.#state.assessed);
  }
}
