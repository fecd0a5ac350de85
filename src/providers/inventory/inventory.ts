// Holds what exists in the cloud on the instances that Headwater serves: interfaces and addresses. Listings, refreshes
// and answers to our own calls feed it. It never calls the cloud or Kubernetes.
import { AddressConflicts, type Conflict, type ReadById } from './address-conflicts.ts';
import { HeldWithdrawals } from './held-withdrawals.ts';
import type { InstanceView, Observation } from '../contract/facts.ts';
import type { Answer } from '../contract/operations.ts';
import { hasAddress, type NetworkInterface } from '../contract/network-interface.ts';
import type { Unattached } from './interface-record.ts';
import type { RestorePoint, Restored } from './previous-leader-state.ts';
import { TrackedInstance } from './tracked-instance.ts';
import type { WithdrawalGate } from './withdrawals.ts';

/** A listing in progress. Pages only add; the end of the listing marks each covered instance as completely answered. */
export interface Listing {
  /** Whether the end of the listing counts as a complete answer for this instance. */
  covers(instanceId: string): boolean;
  apply(observations: readonly Observation[], startedAt: number): void;
  /** The listing could not read this instance: its end says nothing about it. */
  leaveOut(instanceId: string): void;
  /**
   * Returns the instances that the listing changed, read for the first time, or left unconfirmed. Yields regularly so
   * that other work can run. Changes made during a pause count as if they happened before the last page.
   */
  end(): Generator<undefined, ReadonlySet<string>>;
}

/** Instances processed between two yields. */
const batch = 50;

const none: ReadonlySet<string> = new Set();

/** Where a listing shows an interface. */
interface ShownOn {
  readonly instanceId: string;
  /** When that page was requested, in monotonic ms. */
  readonly startedAt: number;
}

/** How long `#changedAt` is kept, in ms. */
const maxMemory = 600_000;

/** Admits every withdrawal. */
const openGate: WithdrawalGate = { admit: () => true, ofNodes: () => undefined };

export interface InventoryOptions {
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
  /** Consulted before anything missing is withdrawn. If omitted, every withdrawal proceeds. */
  readonly gate?: WithdrawalGate;
}

export class Inventory {
  readonly #consistencyWindow: number;
  readonly #conflicts: AddressConflicts;
  readonly #withdrawals: HeldWithdrawals;
  readonly #instances = new Map<string, TrackedInstance>();
  /** Previously tracked instances, kept while the cloud may show stale data. `track` drops expired ones. */
  readonly #former = new Map<string, { readonly tracked: TrackedInstance; readonly until: number }>();
  /** By tracked instance, addresses that a read by id showed on another instance instead. */
  readonly #movedAway = new Map<string, ReadonlySet<string>>();
  /**
   * By instance, how long release calls with a lost answer may still take effect. The next such call drops expired
   * ones.
   */
  readonly #openUntil = new Map<string, number>();
  /** Interfaces about to be attached, new or orphaned, until they are attached, deleted or abandoned, or a read shows them. */
  readonly #unattached = new Map<string, Unattached>();
  /** When our own call last changed the addresses of an interface, kept while reads may be stale. */
  readonly #changedAt = new Map<string, number>();

  constructor({ consistencyWindow, gate = openGate }: InventoryOptions) {
    this.#consistencyWindow = consistencyWindow;
    this.#withdrawals = new HeldWithdrawals(this.#instances, gate, consistencyWindow);
    this.#conflicts = new AddressConflicts(consistencyWindow);
  }

  /**
   * Starts tracking an instance. `restored` is what was known before this process started; it is believed until the
   * cloud disproves it (see withdrawals.ts).
   *
   * An instance untracked less than a consistency window before `now`, or while a call may still release something of it,
   * resumes with what the cloud showed of it, what our own calls changed and `restored`, and is refreshed.
   * `former`: what the previous leader may be releasing; undefined if nothing could have been released.
   */
  track(
    instanceId: string,
    restored: readonly NetworkInterface[] = [],
    now = Infinity,
    former?: Omit<RestorePoint, 'restoredAt'>,
  ): void {
    if (this.#instances.has(instanceId)) return;
    const known = this.#takeFormer(instanceId, now);
    const restorePoint = former && { restoredAt: now, ...former };
    this.#instances.set(
      instanceId,
      known ?? new TrackedInstance(instanceId, restored, this.#consistencyWindow, restorePoint),
    );
    known?.takeOver({ interfaces: restored, pendingRelease: former?.pendingRelease ?? none }, now);
  }

  #takeFormer(instanceId: string, now: number): TrackedInstance | undefined {
    for (const [id, { until }] of this.#former) if (until <= now) this.#former.delete(id);
    const former = this.#former.get(instanceId)?.tracked;
    this.#former.delete(instanceId);
    return former;
  }

  /** Adds a newer state than the one passed to `track`: what a previous leader showed in it is restored too. */
  restoreAlso(instanceId: string, newer: Restored, now: number): void {
    this.#instances.get(instanceId)?.restoreAlso(newer, now);
  }

  /** Sets the addresses that the agent gave up, according to its CiliumNode. Their absence is not a loss. */
  agentGaveUp(instanceId: string, addresses: ReadonlySet<string>): void {
    this.#instances.get(instanceId)?.agentGaveUp(addresses);
  }

  untrack(instanceId: string, now: number): void {
    const tracked = this.#instances.get(instanceId);
    this.#withdrawals.untrack(instanceId, now);
    this.#movedAway.delete(instanceId);
    this.#instances.delete(instanceId);
    this.#conflicts.untracked(instanceId, (id) => this.#instances.has(id));
    const until = Math.max(now + this.#consistencyWindow, this.#openUntil.get(instanceId) ?? 0);
    if (tracked !== undefined) this.#former.set(instanceId, { tracked, until });
  }

  /** Undefined for an untracked instance. Returns the same object until something changes. */
  view(instanceId: string): InstanceView | undefined {
    return this.#instances.get(instanceId)?.view;
  }

  /** Several instances appear to hold an address. A read by id of all of them decides and is due now. */
  contest(conflict: Conflict, now: number): void {
    if (!this.#conflicts.openConflict(conflict, now)) return;
    for (const id of conflict.instanceIds) this.#instances.get(id)?.invalidate(now);
  }

  /** Instances with a withdrawal that the gate holds now. */
  heldWithdrawals(): ReadonlySet<string> {
    return this.#withdrawals.held();
  }

  /**
   * Asks the gate again about held withdrawals, once refreshes confirm them. Whatever is missing and then shown again
   * requires two newer refreshes of the others. Returns the instances that changed or that need such a refresh.
   */
  reevaluate(now: number): ReadonlySet<string> {
    return this.#withdrawals.admitWithdrawals([], now);
  }

  /** The state of the instance is unconfirmed since `from`: a refresh is due. */
  invalidate(instanceId: string, from: number): void {
    this.#instances.get(instanceId)?.invalidate(from);
  }

  /**
   * A read that began at `startedAt` shows the interface detached. Returns the instance believed to hold it, if any. That
   * instance is refreshed if the read is certainly newer than this belief.
   */
  seenDetached(interfaceId: string, startedAt: number): string | undefined {
    for (const [instanceId, tracked] of this.#instances) {
      if (tracked.seenDetached(interfaceId, startedAt)) return instanceId;
    }
    return undefined;
  }

  beginListing(startedAt: number): Listing {
    /** The instance that each interface is shown on, and when that page was requested. */
    const shown = new Map<string, ShownOn>();
    const changed = new Set<string>();
    const listed = new Map(this.#instances);
    const count = (ids: readonly string[]): void => this.#withdrawals.count(ids);
    const end = (id: string, tracked: TrackedInstance): void => {
      // An instance tracked or untracked since the listing began was not covered.
      if (this.#instances.get(id) !== tracked) return;
      if (tracked.endListing(startedAt, (interfaceId) => shown.get(interfaceId))) changed.add(id);
    };
    return {
      leaveOut: (id) => void listed.delete(id),
      covers: (id) => listed.has(id) && listed.get(id) === this.#instances.get(id),
      apply: (observations, pageStartedAt) => {
        for (const observation of observations) {
          const instanceId = instanceOf(observation) ?? '';
          if (observation.kind !== 'instance')
            shown.set(observation.interface.id, { instanceId, startedAt: pageStartedAt });
          if (this.#applyListed(observation, pageStartedAt)) changed.add(instanceId);
        }
      },
      *end() {
        let ended = 0;
        for (const [id, tracked] of listed) {
          if (ended++ % batch === batch - 1) yield;
          end(id, tracked);
        }
        count([...listed.keys()]);
        return changed;
      },
    };
  }

  /** Returns whether the instance changed. */
  #applyListed(observation: Observation, startedAt: number): boolean {
    const tracked = this.#instances.get(instanceOf(observation) ?? '');
    if (tracked === undefined) return false;
    const met = this.#met(observation);
    const isNews = tracked.applyListed(observation, startedAt);
    const changed = applyMet(tracked, met, startedAt) || isNews;
    this.#noteReturned(tracked.id);
    return changed;
  }

  /** Applies a complete refresh of `instanceIds`. Returns the instances that changed or that need another refresh. */
  applyRefresh(refresh: ReadById): ReadonlySet<string> {
    const byInstance = Map.groupBy(refresh.observations, instanceOf);
    const met = refresh.observations.flatMap((observation) => this.#met(observation));
    const changed = refresh.instanceIds.filter((id) => {
      const tracked = this.#instances.get(id);
      if (tracked === undefined) return false;
      const isPartial = refresh.partly?.has(id) === true;
      const own = { ...refresh, isPartial, observations: byInstance.get(id) ?? [] };
      const isNews = tracked.applyRefresh(own);
      return applyMet(tracked, met, refresh.endedAt) || isNews;
    });
    const settled = this.#settle(refresh);
    for (const id of refresh.instanceIds) this.#noteReturned(id);
    this.#withdrawals.count(refresh.instanceIds);
    const { instanceIds, startedAt, endedAt } = refresh;
    const evaluated = this.#withdrawals.admitWithdrawals(instanceIds, endedAt, startedAt);
    return new Set([...changed, ...settled, ...evaluated]);
  }

  /** Applies the conflicts that the read decides. Returns the instances that changed. */
  #settle(refresh: ReadById): readonly string[] {
    const settlements = this.#conflicts.read(refresh, {
      isTracked: (id) => this.#instances.has(id),
      answer: (id, conflict, read) => this.#instances.get(id)?.answerAbout(conflict, read),
    });
    return settlements.flatMap((settlement) =>
      settlement.kind === 'decided'
        ? settlement.losers.filter((id) => this.#withdraw(id, settlement.conflict, refresh.endedAt))
        : settlement.instanceIds.filter((id) => this.#instances.get(id)?.refreshBy(settlement.againAt)),
    );
  }

  #withdraw(instanceId: string, conflict: Conflict, now: number): boolean {
    this.#movedAway.set(instanceId, new Set([...this.movedAway(instanceId), conflict.address]));
    return this.#instances.get(instanceId)?.withdraw(conflict, now) === true;
  }

  /** Addresses that a read by id showed on another instance instead, and that have not come back since. */
  movedAway(instanceId: string): ReadonlySet<string> {
    return this.#movedAway.get(instanceId) ?? none;
  }

  #noteReturned(instanceId: string): void {
    const moved = this.#movedAway.get(instanceId);
    if (moved === undefined) return;
    const interfaces = this.#instances.get(instanceId)?.view.interfaces ?? [];
    const isBack = (address: string): boolean => interfaces.some((item) => hasAddress(item, address));
    this.#movedAway.set(instanceId, new Set([...moved].filter((address) => !isBack(address))));
  }

  /** Applies the result of our own call when its answer arrives. Returns the instances that changed. */
  applyAnswer(answer: Answer, endedAt: number): ReadonlySet<string> {
    if (answer.kind === 'created') {
      this.#unattached.set(answer.interface.id, { interface: answer.interface, knownAt: endedAt });
      return new Set();
    }
    const { interfaceId } = answer;
    this.#note(answer, endedAt);
    // Read first: the answer attaches it, even if what it shows may be as old as what proved the interface gone.
    const made = this.#unattached.get(interfaceId) ?? shownIn(answer);
    if (answer.kind === 'attached' && answer.shown !== undefined)
      this.#applyListed({ kind: 'interface', interface: answer.shown.interface }, answer.shown.startedAt);
    if (answer.kind === 'deleted' || answer.kind === 'attached') this.#unattached.delete(interfaceId);
    if (answer.kind === 'deleted') return this.#applyDeleted(interfaceId, endedAt);
    const tracked = this.#instances.get(answer.instanceId);
    const changed = tracked !== undefined && tracked.applyAnswer(answer, { made, endedAt });
    this.#noteReturned(answer.instanceId);
    return new Set(changed ? [answer.instanceId] : []);
  }

  #applyDeleted(interfaceId: string, endedAt: number): ReadonlySet<string> {
    for (const { tracked } of this.#former.values()) tracked.applyDeleted(interfaceId, endedAt);
    const changed = [...this.#instances.values()].filter((tracked) =>
      tracked.applyDeleted(interfaceId, endedAt),
    );
    return new Set(changed.map(({ id }) => id));
  }

  /** When our own call last changed the addresses of an interface, in monotonic ms; -Infinity if none did recently. */
  changedAt(interfaceId: string): number {
    return this.#changedAt.get(interfaceId) ?? -Infinity;
  }

  #note(answer: Exclude<Answer, { kind: 'created' }>, endedAt: number): void {
    const { kind, interfaceId } = answer;
    if (kind === 'releasing') this.#noteOpen(answer.instanceId, answer.until, endedAt);
    for (const [id, at] of this.#changedAt) {
      if (at > endedAt - maxMemory) break;
      this.#changedAt.delete(id);
    }
    if (kind !== 'allocated' && kind !== 'released') return;
    this.#changedAt.delete(interfaceId);
    this.#changedAt.set(interfaceId, endedAt);
  }

  #noteOpen(instanceId: string, until: number, now: number): void {
    for (const [id, over] of this.#openUntil) if (over <= now) this.#openUntil.delete(id);
    this.#openUntil.set(instanceId, until);
  }

  /** Remembers a detached interface that is about to be attached, because the attach answer does not describe it. */
  adopt(item: NetworkInterface): void {
    // The age of this read is unknown, so anything our own calls gave to others is newer.
    this.#unattached.set(item.id, { interface: item, knownAt: -Infinity });
  }

  /** Forgets an interface that will not be attached. */
  abandon(interfaceId: string): void {
    this.#unattached.delete(interfaceId);
  }

  /** Removes an interface that a read shows from the pending attachments. */
  #met(observation: Observation): readonly Met[] {
    if (observation.kind !== 'interface') return nothingMet;
    const { interface: shown } = observation;
    const made = this.#unattached.get(shown.id);
    if (made === undefined) return nothingMet;
    this.#unattached.delete(shown.id);
    return [{ shown, made }];
  }
}

/** The interface that the answer to an attachment shows. Reads that showed it before may have been withdrawn. */
function shownIn(answer: Answer): Unattached | undefined {
  if (answer.kind !== 'attached' || answer.shown === undefined) return undefined;
  return { interface: answer.shown.interface, knownAt: answer.shown.startedAt };
}

/** A read shows an interface attached before the attach call was answered. */
interface Met {
  readonly shown: NetworkInterface;
  readonly made: Unattached;
}

/** Shared by almost every interface that a listing shows. */
const nothingMet: readonly Met[] = [];

function applyMet(tracked: TrackedInstance, met: readonly Met[], at: number): boolean {
  let changed = false;
  for (const { shown, made } of met) {
    const isOnInstance = shown.attachment?.instanceId === tracked.id;
    if (isOnInstance && tracked.applyMet(shown, made, at)) changed = true;
  }
  return changed;
}

function instanceOf(observation: Observation): string | undefined {
  switch (observation.kind) {
    case 'interface':
      return observation.interface.attachment?.instanceId;
    case 'unreadableInterface':
    case 'addresslessInterface':
      return observation.interface.instanceId;
    case 'instance':
      return observation.instance.id;
  }
}
