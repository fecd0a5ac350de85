// Releases the addresses above a node's watermarks, and those that pods must not have. Starts the last step once
// something has been hidden for long enough. Excess addresses are then unassigned, one call at a time for each interface;
// what pods must not have is only taken off the offer: the cloud keeps it, because a call could take addresses from their
// owner, such as another service that manages the interface. Nothing goes before its agent gives it up, and nothing
// without a live read of the CiliumNode, and a look at the pods of the node.
import { leaderQuietPeriod } from '../../kubernetes/lease/lease-timings.ts';
import type { AllocationImplementation, InstancePort } from '../../providers/contract/cloud.ts';
import type { CallTiming } from '../../providers/contract/operations.ts';
import type { PermittedNode } from '../../providers/gate/mutation-permission.ts';
import type { Caller } from '../../providers/contract/priority.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { Refusals } from '../../runtime/refusals.ts';
import { type Requeue, requeueAt } from '../../runtime/requeue.ts';
import type { TaskRuntime } from '../../runtime/task-group.ts';
import { type Holding, holdingsIn } from '../demand/holdings.ts';
import type { PodUse } from './pod-use.ts';
import { isToLeave, type ReleasableFacts, type ReleasePolicy } from './release-plan.ts';
import type { ReleaseStore } from './release-store.ts';
import type { Concern, ReleaseOutcome } from './release-state.ts';
import { type GrantedReleases, refusalPolicy, ReleaseTurns } from './release-turns.ts';
import { usageOf } from './prepare-ip-release.ts';
import { type FinishedRelease, unassign, type UnassignResult } from './unassignments.ts';

/** The node whose addresses are released. */
export interface ReleasingNode extends Omit<InstancePort, 'refresh' | 'implementation'>, PermittedNode {
  readonly implementation: Pick<AllocationImplementation, 'admit' | 'perform' | 'traits'>;
  readonly releases: ReleaseStore;
  readonly podUse: PodUse;
  /** The releases that were denied, as all nodes know them. */
  readonly grantedReleases: GrantedReleases;
  /** The facts known now; undefined while the node is not served. */
  forRelease(): ReleasableFacts | undefined;
  /** Reads the CiliumNode live; false when that fails. */
  reread(signal: AbortSignal): Promise<boolean>;
  tell(event: ReleaseEvent): void;
}

/** How all nodes release. */
export interface ReleaseSettings {
  readonly timing: CallTiming;
  readonly release: ReleasePolicy;
}

export type ReleaseEvent =
  | { readonly kind: 'release'; readonly release: FinishedRelease }
  /** These holdings left the node without a call. */
  | { readonly kind: 'retired'; readonly holdings: readonly Holding[] };

const backoffPolicy = { base: 1000, cap: 60_000 };
const caller: Caller = { priority: 'release' };
const looking = 'look at pods';
/** A dry run takes nothing, so it needs no look. */
const undecided = { keeps: () => false, isLookedAt: () => true };

export class Releaser {
  readonly #node: ReleasingNode;
  readonly #runtime: TaskRuntime;
  readonly #settings: ReleaseSettings;
  /** Holdings that the agent needs, by id. */
  readonly #refusals: Refusals<'do-not-release'>;
  readonly #turns: ReleaseTurns;
  /** After failed calls that unassign, and after failed reads before a retirement. */
  readonly #pauses: { readonly unassign: Backoff; readonly retire: Backoff };
  readonly #quietUntil: number;

  constructor(node: ReleasingNode, runtime: TaskRuntime, settings: ReleaseSettings) {
    this.#node = node;
    this.#runtime = runtime;
    this.#settings = settings;
    const { clock, random } = runtime;
    this.#quietUntil = clock.monotonic() + leaderQuietPeriod;
    this.#refusals = new Refusals({ clock, random, remembered: refusalPolicy.cap });
    this.#turns = new ReleaseTurns(node.grantedReleases, runtime);
    this.#pauses = {
      unassign: new Backoff(backoffPolicy, runtime),
      retire: new Backoff(backoffPolicy, runtime),
    };
  }

  /** Advances every release as far as possible now; nothing after a stop, or while too little is known. */
  step(now: number): Requeue {
    const facts = this.#node.forRelease();
    if (facts === undefined || this.#runtime.tasks.isClosing || this.#isIdle(facts)) return {};
    this.#notePods(facts);
    this.#advance(facts, now);
    this.#beginLook(now);
    this.#beginWhatIsDue(facts, now);
    const { unassign: calls, retire: reads } = this.#pauses;
    const refused = this.#refusals.list.map(([, { until }]) => until);
    const { podUse, releases } = this.#node;
    const pauses = [
      calls.until,
      reads.until,
      this.#turns.until,
      this.#quietUntil,
      podUse.lookDue,
      ...refused,
    ];
    return requeueAt([...releases.times, ...pauses], now);
  }

  /** Nothing leaves and nothing is to, and no pod is looked at. */
  #isIdle(facts: ReleasableFacts): boolean {
    const { releases, podUse } = this.#node;
    const isPending = !releases.isEmpty || podUse.lookDue < Infinity;
    return !isPending && !isToLeave(facts, this.#settings.release);
  }

  /** A pod keeps nothing that the node has lost, or that its agent counts as used. */
  #notePods({ node: object, view, requirements }: ReleasableFacts): void {
    const { podUse } = this.#node;
    if (podUse.kept.length === 0) return;
    const isReported = usageOf(object);
    const shown = holdingsIn(view, requirements).flatMap(({ addresses }) => addresses);
    const held = new Set([...shown, ...view.interfaces.map(({ primaryAddress }) => primaryAddress)]);
    podUse.keepOnly((address) => held.has(address) && !isReported(address));
  }

  /** Looks at the pods before anything is hidden, and while they keep something. */
  #beginLook(now: number): void {
    const { tasks } = this.#runtime;
    const { releases, podUse } = this.#node;
    const isWanted = releases.awaitingLook.length > 0 && !podUse.isPausing;
    if ((!isWanted && now < podUse.lookDue) || tasks.isAbout(looking)) return;
    const look = async (): Promise<void> => {
      if (isWanted) await podUse.look(releases.awaitingLook, tasks.closing);
      else await podUse.lookAgain(tasks.closing);
    };
    tasks.beginTask(look, looking);
  }

  #advance(facts: ReleasableFacts, now: number): void {
    const { release: policy, timing } = this.#settings;
    const { releases, implementation, podUse } = this.#node;
    const kept = releases.refusedIn(facts.node.status.releaseIps);
    for (const { id } of kept) this.#refusals.refused(id, 'do-not-release', { policy: refusalPolicy });
    const blocked = new Set(this.#refusals.list.flatMap(([id, { isDue }]) => (isDue ? [] : [id])));
    if (this.#turns.areSingle) this.#turns.keepOnly(idsIn(facts));
    const stopped = this.#node.refusal('release');
    const rules = {
      policy,
      traits: implementation.traits,
      consistencyWindow: timing.consistencyWindow,
      // A dry run decides too, but starts nothing.
      mayDecide: stopped === undefined || stopped === 'dryRun',
      blocked,
      refused: this.#turns.pausing,
      podUse: stopped === 'dryRun' ? undecided : podUse,
    };
    releases.step(facts, rules, now);
    if (this.#turns.areSingle) this.#turns.endSplitsBut(releases.interfaces);
  }

  #beginWhatIsDue(facts: ReleasableFacts, now: number): void {
    const node = this.#node;
    // No call could be sent before that. Each attempt would cost a refresh and a token.
    if (node.refusal('release') !== undefined || now < this.#quietUntil) return;
    if (node.releases.due(now).some(({ withoutCall }) => withoutCall))
      this.#beginTask('retire', 'retire', () => this.#retire());
    for (const { interfaceId } of this.#due())
      if (this.#mayUnassign(interfaceId, facts)) this.#beginUnassignment(interfaceId, facts);
  }

  /** A call that changes the whole instance waits for the write that hides more: while it goes on, nothing may be hidden. */
  #mayUnassign(interfaceId: string, facts: ReleasableFacts): boolean {
    const { releases, implementation } = this.#node;
    const waits = implementation.traits.change === 'perInstance' && releases.striking.size > 0;
    return !waits && isSettled(interfaceId, facts);
  }

  #beginUnassignment(interfaceId: string, { view }: ReleasableFacts): void {
    const isCalling = view.interfaces.some(({ id }) => this.#runtime.tasks.isAbout(subjectOf(id)));
    if (isCalling && this.#turns.areSingle) return;
    this.#beginTask('unassign', subjectOf(interfaceId), () => this.#unassign(interfaceId));
  }

  /** At most one task on each subject. */
  #beginTask(kind: 'unassign' | 'retire', subject: string, work: () => Promise<void>): void {
    const { tasks } = this.#runtime;
    const pause = this.#pauses[kind];
    if (!pause.isPausing && !tasks.isAbout(subject)) tasks.beginTask(work, subject, () => pause.fail());
  }

  async #unassign(interfaceId: string): Promise<void> {
    const node = this.#node;
    const { clock, tasks } = this.#runtime;
    const { implementation, instanceId } = node;
    const { closing: signal } = tasks;
    const refund = await implementation.admit(['releaseIPs'], { caller, signal, instanceId });
    // The final check before sending: what the agent says now counts, not its earlier answer.
    const isRead = await this.#readLast(signal).catch((error: unknown) => {
      refund();
      throw error;
    });
    if (!isRead) this.#pauses.unassign.fail();
    const facts = isRead ? this.#advanceNow() : undefined;
    const holdings = facts === undefined ? [] : this.#dueOn(interfaceId, facts);
    if (facts === undefined || holdings.length === 0) {
      refund();
      return;
    }
    const { subnetId = '' } = facts.view.interfaces.find(({ id }) => id === interfaceId) ?? {};
    const isRepeated = node.releases.isUnanswered(holdings);
    this.#apply(holdings, { kind: 'sent' });
    const task = { instanceId, interfaceId, subnetId, holdings, isRepeated };
    const call = { implementation, clock, timing: this.#settings.timing };
    this.#finish(interfaceId, holdings, await unassign(task, tasks.deadline, call));
  }

  #finish(interfaceId: string, holdings: readonly Holding[], result: UnassignResult): void {
    const node = this.#node;
    const { outcome, answer, isUnclear, finished } = result;
    this.#apply(holdings, outcome);
    if (answer !== undefined) node.applyAnswer(answer);
    if (isUnclear) node.invalidate(this.#runtime.clock.monotonic());
    if (outcome.kind === 'released') this.#succeeded(interfaceId, holdings);
    else if (outcome.kind === 'doubtful') this.#turns.split(interfaceId, holdings);
    else if (outcome.kind === 'refused') this.#failed(holdings, outcome.concerns, finished);
    node.tell({ kind: 'release', release: finished });
  }

  #succeeded(interfaceId: string, holdings: readonly Holding[]): void {
    this.#pauses.unassign.forget();
    this.#turns.take(holdings);
    this.#endSplit(interfaceId);
  }

  #failed(holdings: readonly Holding[], concerns: Concern, { interfaceId, failure }: FinishedRelease): void {
    this.#pauses.unassign.fail();
    if (concerns === 'nothing') return;
    if (concerns === 'one' && holdings.length > 1) {
      this.#turns.split(interfaceId, holdings);
      return;
    }
    const facts = concerns === 'all' ? this.#node.forRelease() : undefined;
    const others = facts === undefined ? [] : holdingsIn(facts.view, facts.requirements);
    this.#turns.refuse(holdings, others, failure?.permission !== undefined);
    this.#endSplit(interfaceId);
  }

  /** Unless more of it may go now. After a refusal of several, some go later if not now, so that split goes on. */
  #endSplit(interfaceId: string): void {
    const facts = this.#node.forRelease();
    const isDue = facts !== undefined && this.#dueOn(interfaceId, facts).length > 0;
    if (!isDue) this.#turns.endSplit(interfaceId);
  }

  /** Pods must not have them, their agent gave them up, and they are hidden. One read serves everything due on the node. */
  async #retire(): Promise<void> {
    const node = this.#node;
    const { tasks, clock } = this.#runtime;
    const { retire: pause } = this.#pauses;
    if (!(await this.#readLast(tasks.closing))) {
      pause.fail();
      return;
    }
    pause.forget();
    if (this.#advanceNow() === undefined) return;
    const due = node.releases.due(clock.monotonic()).filter(({ withoutCall }) => withoutCall);
    const holdings = due.map(({ holding }) => holding);
    if (holdings.length === 0) return;
    this.#apply(holdings, { kind: 'released' });
    node.tell({ kind: 'retired', holdings });
  }

  /** Reads what the agent and the pods of the node say right before something leaves. False if that fails. */
  async #readLast(signal: AbortSignal): Promise<boolean> {
    const node = this.#node;
    const isRead = await node.reread(signal);
    return isRead && (await node.podUse.look([...node.releases.outgoing], signal));
  }

  /** Decides again after a wait; undefined while too little is known, or after a stop. */
  #advanceNow(): ReleasableFacts | undefined {
    const { tasks, clock } = this.#runtime;
    const facts = tasks.isClosing ? undefined : this.#node.forRelease();
    if (facts === undefined) return undefined;
    this.#advance(facts, clock.monotonic());
    return facts;
  }

  /** Holdings that are due for a call, in the order of the calls. */
  #due(): readonly Holding[] {
    const due = this.#node.releases.due(this.#runtime.clock.monotonic());
    return this.#turns.inOrder(due.flatMap(({ holding, withoutCall }) => (withoutCall ? [] : [holding])));
  }

  /**
   * The holdings that the next call on an interface names. Checked again right before it is sent: the owner of the instance
   * may have changed during the wait.
   */
  #dueOn(interfaceId: string, facts: ReleasableFacts): readonly Holding[] {
    if (this.#node.refusal('release') !== undefined || !this.#mayUnassign(interfaceId, facts)) return [];
    return this.#turns.next(this.#due().filter((holding) => holding.interfaceId === interfaceId));
  }

  #apply(holdings: readonly Holding[], outcome: ReleaseOutcome): void {
    const { hiddenFor } = this.#settings.release;
    this.#node.releases.apply(holdings, outcome, { now: this.#runtime.clock.monotonic(), hiddenFor });
  }
}

/**
 * Whether the interface is not changing, and is surely there. The cloud would refuse each call until a refresh shows it
 * settled or proves it gone. The end of either wakes the node.
 */
function isSettled(interfaceId: string, { growing, view }: ReleasableFacts): boolean {
  const isChanging = view.interfaces.some(
    ({ id, condition }) => id === interfaceId && condition === 'changing',
  );
  return !isChanging && !growing.has(interfaceId) && !view.possiblyGone.has(interfaceId);
}

function idsIn({ view, requirements }: ReleasableFacts): ReadonlySet<string> {
  return new Set(holdingsIn(view, requirements).map(({ id }) => id));
}

function subjectOf(interfaceId: string): string {
  return `unassign ${interfaceId}`;
}
