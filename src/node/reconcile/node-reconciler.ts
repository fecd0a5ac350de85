// Reconciles one node, from the appearance of its CiliumNode until it is gone or becomes another node.
// Combines the agent's demand with the cloud's state and drives allocation and publishing.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { InstanceView } from '../../providers/contract/instance-view.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import type { Begin } from '../../providers/rate-limit/concurrency-limit.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import { rankOf, type Priority } from '../../providers/contract/priority.ts';
import { LazyMap } from '../../runtime/lazy-collections.ts';
import { Trigger } from '../../runtime/trigger.ts';
import type { Claimed } from '../demand/address-claims.ts';
import { awaitedOn, overdueAt } from '../demand/awaited.ts';
import type { Assessment } from '../conditions/assessment.ts';
import { NodeOperations } from './node-operations.ts';
import { DesiredState } from './desired-state.ts';
import { protocolOf } from '../demand/demand.ts';
import { unseenInterfaces } from '../conditions/interface-condition.ts';
import {
  type NodeCondition,
  claimCondition,
  failureCondition,
  planCondition,
  mutationsPaused,
  presentable,
  refusedWrite,
  stoppedInstance,
} from '../conditions/node-condition.ts';
import { NodeState } from './node-state.ts';
import { CapacityLimit } from './capacity-limit.ts';
import { Deficit } from './deficit.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeFigures } from './node-summary.ts';
import { NodePublisher } from '../publish/publisher.ts';
import type { AllocationPlan } from '../allocate/prepare-ip-allocation.ts';
import { givenUpAndHidden, pendingReleaseIn, shownSince } from '../publish/restored-state.ts';
import { Warnings } from './warnings.ts';
import { DryRunLog } from './dry-run-log.ts';
import { priorityOf } from '../demand/priority.ts';

/**
 * Minimum time between two decisions and between two publications, in ms. Events that arrive together share
 * one run.
 */
const minInterval = 10;
/** The same while pods wait. */
const pressingInterval = 2;

/** Why a node wakes later on its own. */
type Wait = 'refresh' | 'awaited' | 'publish' | 'subnets' | 'cap' | 'warning';

/**
 * What happens to an address that a CiliumNode shows and should not. `leaving`: the next write removes it; `stuck`: the
 * API server did not accept the last write; `none`: nothing, the CiliumNode is not ours to write.
 */
export type RemovalProgress = 'none' | 'leaving' | 'stuck';

export class NodeReconciler {
  readonly name: string;
  readonly uid: string;
  readonly instanceId: string;
  readonly #context: NodeContext;
  readonly #permission: Pick<MutationPermission, 'refusal'>;
  readonly #state: NodeState;
  /** Runs `#reconcile`: decides, and starts what follows. */
  readonly #maintenance: Trigger;
  /** Writes the CiliumNode. */
  readonly #publication: Trigger;
  readonly #operations: NodeOperations;
  readonly #publisher: NodePublisher;
  readonly #warnings: Warnings;
  readonly #dryRunLog: DryRunLog;
  readonly #timers = new LazyMap<Wait, () => void>();
  readonly #cap: CapacityLimit;
  readonly #deficit: Deficit;
  readonly #desired: DesiredState;
  #assessment: Assessment = { kind: 'unread' };
  #condition: NodeCondition | undefined;
  /** A problem was reported and its end was not. */
  #isUnresolved = false;
  #isRefreshing = false;
  /** A publication is running or queued. */
  #isPublishing = false;
  /** Publication priority at the last decision. */
  #priorityDecided: Priority = 'housekeeping';
  /** A state arrived that the running publication may not have seen. */
  #changedSinceReconcile = false;

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
    this.#state = new NodeState(node, instanceId, context, () => this.#operations.releaser.outgoing);
    const { clock, onBug, emit, writer } = context;
    const permission = context.permission.of(node.name);
    this.#permission = permission;
    // A node may come back and must not reuse client tokens from its earlier lifetime.
    const random = context.random.fork(`${instanceId} ${context.random.hex(16)}`);
    const runs = {
      clock,
      minInterval,
      pressingInterval,
      onBug,
      isPressing: () => this.#state.pendingPods > 0,
    };
    this.#maintenance = new Trigger({
      ...runs,
      run: () => this.#reconcile(),
      onRun: (figures) => emit({ kind: 'maintained', figures }),
    });
    this.#publication = new Trigger({
      ...runs,
      // The write is computed once its slot is granted: by then it may cover more at the same cost.
      admit: (start) => this.#enqueue(start),
      run: (signal) => this.#publish(signal),
      onRun: (figures) => emit({ kind: 'published', figures }),
    });
    this.#operations = new NodeOperations({
      name: node.name,
      instanceId,
      context,
      permission,
      random,
      state: this.#state,
      writtenAt: () => this.#publisher.writtenAt,
      priority: () => this.priority,
      wake: () => this.wake(),
    });
    this.#warnings = new Warnings({
      emit,
      traits: context.implementation.traits,
      clock,
      words: context.implementation.section.words,
      updateIn: (ms) =>
        ms === undefined ? this.#cancel('warning') : this.#later('warning', ms, () => this.wake()),
    });
    this.#cap = new CapacityLimit(clock, (ms) => this.#later('cap', ms, () => this.wake()));
    this.#deficit = new Deficit({ clock, emit, calls: () => this.#operations.calls });
    this.#dryRunLog = new DryRunLog(permission, (decision) =>
      emit({ kind: 'dryRun', node: this.#state.node, decision }),
    );
    this.#desired = new DesiredState({
      context,
      instanceId,
      showsAnother: restored === undefined,
      node: () => this.#state.node,
      assess: () => this.#state.assess(),
      condition: () => this.#condition,
      operations: this.#operations,
      onClaimed: (claimed) => this.#onClaimed(claimed),
    });
    this.#publisher = new NodePublisher({
      writer,
      permission,
      observe: context.observe,
      clock,
      random,
      node: () => this.#state.node,
      desired: () => this.#desired.now(),
      onWrite: (part, outcome) => emit({ kind: 'write', part, outcome }),
      onTrouble: (problem) => {
        emit({ kind: 'writeTrouble', node: this.#state.node, problem });
        this.wake();
      },
      onHeld: (writes) =>
        this.#dryRunLog.show(
          'write',
          writes.map((write) => ({ kind: 'write', write })),
        ),
      onPublished: () => this.#onPublished(),
    });
    context.inventory.track(instanceId, restored, clock.monotonic(), pendingReleaseIn(node));
    context.inventory.agentGaveUp(instanceId, givenUpAndHidden(node));
    this.wake();
  }

  /** Applies a newer state of the object; it must be of the same node. */
  update(node: CiliumNode): void {
    const previous = this.#state.node;
    this.#state.node = node;
    const isOwnWrite = this.#context.writer.isAnswer(node);
    if (!isOwnWrite && this.#context.mayBePreviousLeaders(node)) this.#restore(previous, node);
    this.#context.inventory.agentGaveUp(this.instanceId, givenUpAndHidden(node));
    if (isOursToWrite(this.#assessment)) this.#context.onNewerState(previous, node);
    // A publication in flight reads the newest state after its write. Our own writes need no decision, unless
    // something is leaving: that proceeds once its removal is confirmed.
    if (!this.#isPublishing || this.#operations.isReleasing || !asksTheSame(previous, node)) this.wake();
    else if (!isOwnWrite) this.#changedSinceReconcile = true;
  }

  /** Restores what a previous leader showed, even if this session started from an older state. */
  #restore(previous: CiliumNode, node: CiliumNode): void {
    const { inventory, implementation, clock } = this.#context;
    const interfaces = shownSince(previous, node, this.instanceId, implementation.section);
    inventory.restoreAlso(
      this.instanceId,
      { interfaces, pendingRelease: pendingReleaseIn(node) },
      clock.monotonic(),
    );
  }

  get removal(): RemovalProgress {
    // Before the cloud answers, removals wait; they are written then.
    if (this.#assessment.kind !== 'unread' && !isOursToWrite(this.#assessment)) return 'none';
    return this.#publisher.isStuck ? 'stuck' : 'leaving';
  }

  get priority(): Priority {
    return this.#assessment.kind === 'served' ? priorityOf(this.#assessment.usage) : 'normal';
  }

  /** Pods wait for assigned addresses until they are published. */
  get #priorityToPublish(): Priority {
    return this.pendingPods > 0 ? 'critical' : this.priority;
  }

  get pendingPods(): number {
    return this.#state.pendingPods;
  }

  set pendingPods(count: number) {
    if (this.#state.pendingPods === count) return;
    if (count < this.#state.pendingPods) this.#warnings.waitEnded();
    this.#state.pendingPods = count;
    this.wake();
  }

  /** Decides again soon: something that the node depends on changed. */
  wake(): void {
    this.#context.emit({ kind: 'maintenanceRequested' });
    this.#maintenance.fire();
  }

  /** Starts nothing more; resolves once work in flight has ended, at `deadline` at the latest. */
  async stop(deadline: AbortSignal): Promise<void> {
    await Promise.all([this.#maintenance.stop(), this.#publication.stop(), this.#operations.stop(deadline)]);
    // What has just ended may have set more of them.
    for (const cancel of this.#timers.values()) cancel();
    this.#context.inventory.untrack(this.instanceId, this.#context.clock.monotonic());
  }

  figures(): NodeFigures {
    return {
      isVerified: this.#context.identities.isVerified(this.name, this.instanceId),
      protocol: protocolOf(this.#state.node),
      assessment: this.#assessment,
      pendingPods: this.pendingPods,
      isPublished: !this.#publisher.isBehind,
      condition: this.#condition,
      warnings: this.#warnings.list,
      view: this.#state.view,
      releasing: this.#operations.releaser.outgoing.size,
      inDeficitSince: this.#deficit.since,
    };
  }

  #reconcile(): Promise<void> {
    const { view } = this.#state;
    this.#assessment = this.#state.assess();
    if (view !== undefined) {
      this.#refreshWhereUnclear(view);
      this.#refreshAwaited(view);
    }
    // Runs before the plan: keeping an address that is needed after all costs no call.
    if (this.#operations.releaser.evaluate()) this.#assessment = this.#state.assess();
    this.#operations.idle.evaluate();
    const plan = this.#operations.maintainer.evaluate();
    this.#dryRunLog.show(
      'step',
      (plan?.steps ?? []).map((step) => ({ kind: 'step', step })),
    );
    if (plan?.obstacle?.kind === 'subnetsExhausted') this.#awaitSubnets(plan.obstacle.subnetIds);
    this.#associateStaticAddress();
    this.#setDeleteOnTermination(view);
    this.#deficit.notice(this.#assessment, this.pendingPods);
    this.#warning(view);
    this.#announce(this.#conditionOf(plan));
    this.#publishWhatLacks();
    this.#raiseQueuedPriority();
    return Promise.resolve();
  }

  /**
   * Most decisions change nothing that is shown. A publication in flight reads again after each write, or
   * retries after the API server was unreachable.
   */
  #publishWhatLacks(): void {
    if (this.#isPublishing || !this.#publisher.lacks()) return;
    this.#context.emit({ kind: 'publicationRequested' });
    this.#publication.fire();
  }

  /** A queued publication follows the current priority. */
  #raiseQueuedPriority(): void {
    const before = this.#priorityDecided;
    this.#priorityDecided = this.#priorityToPublish;
    const hasRisen = rankOf(this.#priorityDecided) < rankOf(before);
    if (this.#isPublishing && hasRisen) this.#context.publications.reconsider();
  }

  #associateStaticAddress(): void {
    const { staticAddress } = this.#operations;
    if (this.#permission.refusal('allocate') === undefined) staticAddress.evaluate();
    const { missing } = staticAddress;
    this.#dryRunLog.show('staticAddress', missing ? [{ kind: 'staticAddress', ...missing }] : []);
  }

  #setDeleteOnTermination(view: InstanceView | undefined): void {
    const assessment = this.#assessment;
    if (view === undefined || !this.#state.mayBeOurs()) return;
    if (assessment.kind !== 'served' || !assessment.requirements.deleteOnTermination) return;
    const left = this.#operations.deleteOnTermination.evaluate(view.interfaces);
    this.#dryRunLog.show(
      'deleteOnTermination',
      left.map((interfaceId) => ({ kind: 'deleteOnTermination', interfaceId })),
    );
  }

  #refreshWhereUnclear(view: InstanceView): void {
    const { clock, refresh, listingInFlight } = this.#context;
    const due = view.read ? view.refreshDue : listingInFlight(this.instanceId) ? undefined : 0;
    if (due === undefined || this.#isGrowing(view)) return;
    const wait = due - clock.monotonic();
    if (wait > 0) this.#later('refresh', wait, () => this.wake());
    // While a refresh is in flight, it is unknown what it will leave unconfirmed.
    if (wait > 0 || this.#isRefreshing) return;
    this.#isRefreshing = true;
    void refresh(this.instanceId).then(() => {
      this.#isRefreshing = false;
      this.wake();
    });
  }

  /** Whether an interface is changing by our own call, which ends with what the change brings. */
  #isGrowing({ interfaces }: InstanceView): boolean {
    const { maintainer } = this.#operations;
    return interfaces.some(({ id, condition }) => condition === 'changing' && maintainer.isGrowing(id));
  }

  /** A new interface supplies the node only once a read shows it attached. */
  #refreshAwaited({ awaited }: InstanceView): void {
    if (awaited.size === 0) {
      this.#cancel('awaited');
      return;
    }
    this.#context.refreshAwaited(this.instanceId, Math.max(...awaited.values()));
    const { nextAt } = overdueAt(awaited, this.#awaitedNow);
    if (nextAt !== undefined) this.#later('awaited', nextAt - this.#awaitedNow.now, () => this.wake());
  }

  get #awaitedNow(): { readonly now: number; readonly consistencyWindow: number } {
    const { clock, timing } = this.#context;
    return { now: clock.monotonic(), consistencyWindow: timing.consistencyWindow };
  }

  /** Retries exhausted subnets as soon as their back-off ends. */
  #awaitSubnets(subnetIds: readonly string[]): void {
    const now = this.#context.clock.monotonic();
    const blocked = this.#context.ledger.blocked(now);
    const again = Math.min(...subnetIds.map((id) => blocked.get(id) ?? Infinity));
    if (again < Infinity) this.#later('subnets', again - now, () => this.wake());
  }

  #conditionOf(plan: AllocationPlan | undefined): NodeCondition | undefined {
    const assessment = this.#assessment;
    if (assessment.kind === 'unread') return this.#context.unreadBecause(this.instanceId) ?? this.#condition;
    if (assessment.kind !== 'served') return assessment.condition;
    const { ledger, clock, implementation } = this.#context;
    const isGone = (subnetId: string): boolean => ledger.isGone(subnetId, clock.monotonic());
    const { words } = implementation.section;
    const stuck = plan === undefined ? undefined : planCondition(plan, words, isGone);
    if (stuck !== undefined) return stuck;
    const trouble = this.#troubleCondition(assessment, plan);
    const refusal = this.#publisher.refusal;
    if (trouble === undefined && refusal !== undefined) return refusedWrite(refusal);
    return trouble ?? this.#cap.conditionOf(assessment, words) ?? claimCondition(this.#desired.claimed);
  }

  #troubleCondition(
    { wanted, toAllocate }: Pick<Assessment & { kind: 'served' }, 'wanted' | 'toAllocate'>,
    plan: AllocationPlan | undefined,
  ): NodeCondition | undefined {
    const failure = toAllocate > 0 ? this.#operations.maintainer.trouble : undefined;
    if (failure?.kind === 'instanceNotRunning') return this.#stopped();
    if (failure !== undefined) return failureCondition(failure);
    const refusal = this.#permission.refusal('allocate');
    // A dry run reports what it would do instead.
    if (refusal === undefined || refusal === 'dryRun') return this.#unseenCondition(wanted);
    return plan === undefined || plan.steps.length === 0
      ? this.#unseenCondition(wanted)
      : mutationsPaused(refusal);
  }

  /** Only the missing interface could supply what the node lacks. */
  #unseenCondition(wanted: number): NodeCondition | undefined {
    const { view } = this.#state;
    if (view === undefined || view.awaited.size === 0 || wanted === 0) return undefined;
    const { overdue } = overdueAt(awaitedOn(view, this.#state.node), this.#awaitedNow);
    return overdue.length === 0 ? undefined : unseenInterfaces(overdue, this.instanceId);
  }

  #stopped(): NodeCondition {
    return stoppedInstance(this.instanceId, this.#state.view?.instance?.state);
  }

  #announce(found: NodeCondition | undefined): void {
    const condition = found && presentable(found);
    if (condition?.message === this.#condition?.message) return;
    this.#condition = condition;
    if (condition !== undefined) this.#isUnresolved = true;
    this.#context.emit({ kind: 'condition', node: this.#state.node, condition });
  }

  #warning(view: InstanceView | undefined): void {
    this.#warnings.update(this.#state.node, {
      view,
      assessment: this.#assessment,
      staticIp: this.#operations.staticAddress.warning,
    });
  }

  #enqueue(start: Begin): () => void {
    this.#isPublishing = true;
    return this.#context.publications.enter({ priority: () => this.#priorityToPublish }, start);
  }

  async #publish(signal: AbortSignal): Promise<void> {
    // The run's first read sees everything that arrived while it was queued.
    this.#changedSinceReconcile = false;
    const again = await this.#publisher.run(signal).finally(() => {
      this.#isPublishing = false;
    });
    if (this.#changedSinceReconcile) this.wake();
    if (again !== undefined) this.#later('publish', again, () => this.#publication.fire());
  }

  #onClaimed(claimed: Claimed): void {
    this.wake();
    if (claimed.excluded.size + claimed.shared.size > 0)
      this.#context.emit({ kind: 'contested', instanceId: this.instanceId, claimed });
  }

  #onPublished(): void {
    this.#desired.published();
    this.#reportResolved();
    this.#deficit.published(this.#assessment);
    // Our own writes need no decision, and from now on the agent is shown what its pods wait for.
    this.#warning(this.#state.view);
  }

  /** A problem ends only once the agent is shown what it lacked. */
  #reportResolved(): void {
    if (!this.#isUnresolved) return;
    if (this.#condition !== undefined) {
      // The API server accepted a write that it rejected before.
      if (this.#condition.reason === 'WriteRefused') this.wake();
      return;
    }
    if (this.#assessment.kind !== 'served' || this.#assessment.wanted > 0) return;
    this.#isUnresolved = false;
    this.#context.emit({ kind: 'resolved', node: this.#state.node });
  }

  #cancel(what: Wait): void {
    this.#timers.get(what)?.();
    this.#timers.delete(what);
  }

  #later(what: Wait, ms: number, action: () => void): void {
    this.#timers.get(what)?.();
    const cancel = this.#context.clock.schedule(ms, () => {
      this.#timers.delete(what);
      action();
    });
    this.#timers.set(what, cancel);
  }
}

/** Whether the agent and the user still ask for the same. */
function asksTheSame(a: CiliumNode, b: CiliumNode): boolean {
  return demandIn(a) === demandIn(b);
}

function demandIn({ ipam, section, deleting, ignored, status }: CiliumNode): string {
  const asked = { ...ipam, pool: undefined };
  return JSON.stringify([asked, section, deleting, ignored, [...status.used], [...status.releaseIps]]);
}

function isOursToWrite(assessment: Assessment): boolean {
  const { kind } = assessment;
  return kind === 'served' || (kind === 'blocked' && assessment.requirements !== undefined);
}
