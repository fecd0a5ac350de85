// Tracks one instance: its interface records, and what is unconfirmed about them, by every kind of answer of the cloud. Methods that
// apply an answer return whether the view changed.
import type { Conflict, OwnRead } from './address-conflicts.ts';
import {
  restoredInterface,
  type ReadingOutcome,
  unclear,
  whenAbsent,
  whenElsewhere,
  whenFirstShown,
  whenShown,
  withRestored,
} from './apply-reading.ts';
import { possiblyGoneIn, uncertaintyText, uncertainIn } from './uncertain-holdings.ts';
import type { PartOfReading, Reading, Unattached } from './interface-record.ts';
import { KnownInterfaces, type Losses } from './known-interfaces.ts';
import { InstancePresence } from './instance-presence.ts';
import { isSame } from './merged-interface.ts';
import {
  type InstanceView,
  inOrder,
  unusableParts,
  type Instance,
  interfaceOf,
  isOfPrimary,
  type Observation,
} from '../contract/facts.ts';
import type { Answer } from '../contract/operations.ts';
import { answerAbout, notReassigned } from './reassigned.ts';
import {
  allAssignments,
  isPrimaryInterface,
  type NetworkInterface,
  onlyWith,
} from '../contract/network-interface.ts';
import { PreviousLeaderState, type RestorePoint, type Restored } from './previous-leader-state.ts';

const nothingGone: ReadonlySet<string> = new Set();
export class TrackedInstance {
  readonly id: string;
  readonly #consistencyWindow: number;
  readonly #known: KnownInterfaces;
  readonly #memory: PreviousLeaderState;
  #givenUp = nothingGone;
  readonly #presence: InstancePresence;
  #read = false;
  #refreshedAt = -Infinity;
  #shownWholeAt = -Infinity;
  #refreshDue: number | undefined;
  /** The newest invalidation without a refresh yet. Only a refresh that begins later clears it. */
  #invalidatedAt: number | undefined;
  #view: InstanceView | undefined;

  constructor(
    id: string,
    restored: readonly NetworkInterface[],
    consistencyWindow: number,
    restoredState?: RestorePoint,
  ) {
    this.id = id;
    this.#consistencyWindow = consistencyWindow;
    this.#known = new KnownInterfaces(restored, consistencyWindow);
    this.#presence = new InstancePresence(consistencyWindow);
    this.#memory = new PreviousLeaderState(consistencyWindow, restoredState, restored.length === 0);
  }

  /** Returns the same object until something changes. */
  get view(): InstanceView {
    if (this.#view !== undefined) return this.#view;
    const { records, unusable } = this.#known;
    return (this.#view = {
      id: this.id,
      read: this.#read,
      presence: this.#presence.presence,
      interfaces: inOrder([...records.values()].map((record) => record.interface)),
      ...unusableParts([...unusable.values()], (id) => records.has(id)),
      instance: this.#presence.instance,
      unconfirmed: this.#memory.unconfirmedOn(records),
      ...uncertainIn(records),
      withdrawn: this.#withdrawn(),
      refreshDue: this.#refreshDue,
    });
  }

  /**
   * The view of a shown instance is complete. Otherwise its CiliumNode keeps what is not shown, so what is known to be
   * gone must be listed.
   */
  #withdrawn(): ReadonlySet<string> {
    const { presence } = this.#presence;
    if (presence === 'shown' || presence === 'unread') return nothingGone;
    return this.#known.withdrawn();
  }

  /** When the newest refresh began, in monotonic ms. */
  get refreshedAt(): number {
    return this.#refreshedAt;
  }

  /** When the newest read was sent that shows it with its primary interface, in monotonic ms. */
  get shownWholeAt(): number {
    return this.#shownWholeAt;
  }

  /** The losses that refreshes show. */
  get losses(): Losses {
    return this.#known;
  }

  /** Ids that a refresh of the whole instance missed, and that neither our calls nor the agent gave up. */
  get suspected(): readonly string[] {
    return this.#known.suspected(this.#givenUp);
  }

  get isSuspected(): boolean {
    return this.#known.isSuspected(this.#givenUp);
  }

  /** Removes what is proven gone. */
  withdrawProven(now: number): void {
    this.#known.withdrawProven(now);
    this.#note(true);
  }

  /** The proof that a read gives about an address on this instance: see `answerAbout` in reassigned.ts. */
  answerAbout(
    conflict: Conflict,
    read: { readonly isShown: boolean; readonly readAt: number },
  ): boolean | undefined {
    return answerAbout(this.#known.records, conflict, {
      ...read,
      consistencyWindow: this.#consistencyWindow,
    });
  }

  /** Removes an address that another interface of the network is shown to hold. */
  withdraw(conflict: Conflict, now: number): boolean {
    return this.#note(this.#known.withdraw(conflict, now));
  }

  /**
   * The restored state was stale. Adds what the newer one shows and removes it from all other interfaces. Reads within
   * the consistency window still cannot add more than the restored state.
   */
  restoreAlso({ interfaces, pendingRelease }: Restored, now: number): boolean {
    this.#memory.addPendingRelease(pendingRelease);
    let changed = false;
    for (const shown of interfaces) {
      const record = this.#known.records.get(shown.id);
      if (record === undefined && this.#known.gone.wasRemoved(shown.id)) continue;
      const staysWithOthers = notReassigned(this.#known.records, shown.id, -Infinity);
      const item = onlyWith(shown, staysWithOthers);
      const next = record === undefined ? restoredInterface(item) : withRestored(record, item);
      if (next === record) continue;
      this.#known.set(item.id, next);
      const isNew = (holding: string): boolean => record === undefined || next.unseen.has(holding);
      this.#known.takeFromOthers(item.id, allAssignments(item).filter(staysWithOthers).filter(isNew), now);
      this.#memory.restore(item.id);
      this.refreshBy(now);
      changed = true;
    }
    return this.#note(changed);
  }

  /** Another CiliumNode of the instance replaces the former one. What only the former showed goes with it. */
  takeOver(restored: Restored, now: number): void {
    this.#known.keepSeen();
    this.invalidate(now);
    this.restoreAlso(restored, now);
    this.#note(true);
  }

  /** Sets the addresses that the agent has given up, replacing the previous set. */
  agentGaveUp(addresses: ReadonlySet<string>): void {
    this.#givenUp = addresses;
  }

  /** The state of the instance is unconfirmed since `from`: a refresh that begins then or later is due. */
  invalidate(from: number): boolean {
    this.#invalidatedAt = Math.max(this.#invalidatedAt ?? -Infinity, from);
    return this.refreshBy(from);
  }

  /**
   * Returns whether the instance has the interface, which a read that began at `startedAt` shows detached or on another
   * instance.
   */
  seenDetached(interfaceId: string, startedAt: number): boolean {
    const record = this.#known.records.get(interfaceId);
    if (record === undefined) return false;
    // The read may be older than a read that showed the interface attached, or than an attach: our own, or a
    // previous leader's moments ago.
    const isOlder = startedAt < Math.max(record.shownAt, record.joinedAt) + this.#consistencyWindow;
    if (isOlder || this.#memory.mayBeNewerThan(startedAt)) return true;
    // A refresh that does not show the interface confirms it.
    const next = whenElsewhere(record, startedAt);
    this.#known.set(interfaceId, next);
    this.#note(next.unclear !== record.unclear);
    this.invalidate(startedAt);
    return true;
  }

  applyListed(observation: Observation, startedAt: number): boolean {
    const reading = this.#reading({ startedAt, endedAt: startedAt, scope: 'listing' });
    return this.#applyObservation(observation, reading);
  }

  /** Ends a listing that began at `startedAt`. `shownOn` returns the instance that the listing shows an interface on. */
  endListing(
    startedAt: number,
    shownOn: (interfaceId: string) => { readonly instanceId: string; readonly startedAt: number } | undefined,
  ): boolean {
    const reading = this.#reading({ startedAt, endedAt: startedAt, scope: 'listing' });
    const changed = this.#complete(reading, (id) => shownOn(id)?.instanceId === this.id);
    for (const id of this.#known.records.keys()) {
      const other = shownOn(id);
      if (other !== undefined && other.instanceId !== this.id) this.seenDetached(id, other.startedAt);
    }
    return changed;
  }

  applyRefresh({ startedAt, endedAt, observations, isPartial }: OwnRead): boolean {
    const before = { refreshDue: this.#refreshDue, view: this.#view };
    this.#refreshedAt = Math.max(this.#refreshedAt, startedAt);
    if ((this.#invalidatedAt ?? -Infinity) <= startedAt) this.#invalidatedAt = undefined;
    this.#refreshDue = this.#invalidatedAt;
    // Apply the instance first: if it is terminated, one refresh is proof.
    const rank = ({ kind }: Observation): number => Number(kind === 'instance');
    const instanceFirst = observations.toSorted((a, b) => rank(b) - rank(a));
    const showsPrimary = observations.some(isOfPrimary);
    if (showsPrimary) this.#shownWholeAt = Math.max(this.#shownWholeAt, startedAt);
    const answer = { startedAt, endedAt, scope: 'refresh', showsPrimary, isPartial } as const;
    const reading = (): Reading => this.#reading(answer);
    let changed = false;
    for (const observation of instanceFirst)
      changed = this.#applyObservation(observation, reading()) || changed;
    const shown = new Set(observations.flatMap((observation) => interfaceOf(observation) ?? []));
    changed = this.#endRefresh(reading(), shown) || changed;
    changed = this.#applyMoves(observations, reading()) || changed;
    changed ||= this.#refreshDue !== before.refreshDue;
    this.#view = changed ? undefined : before.view;
    return changed;
  }

  /** Applies the result of our own call. `made` is what was known of the interface while it was detached. */
  applyAnswer(
    answer: Exclude<Answer, { kind: 'created' | 'deleted' }>,
    { made, endedAt }: { readonly made: Unattached | undefined; readonly endedAt: number },
  ): boolean {
    if (answer.kind === 'notFound') return this.#applyNotFound(answer.interfaceId, endedAt);
    return this.#note(
      answer.kind === 'attached'
        ? this.#known.applyAttached(answer, made, endedAt)
        : this.#known.applyChange(answer, endedAt),
    );
  }

  /** An applied read is the first to show that our attach succeeded. */
  applyMet(shown: NetworkInterface, made: Unattached, at: number): boolean {
    return this.#note(this.#known.applyMet(shown, made, at));
  }

  /**
   * Moves addresses that a refresh shows on one interface and not on the one that had them. The next refresh confirms
   * it.
   */
  #applyMoves(observations: readonly Observation[], reading: Reading): boolean {
    if (this.#memory.mayBeNewerThan(reading.startedAt)) return false;
    const shown = new Map(
      observations.flatMap((each) =>
        each.kind === 'interface' ? [[each.interface.id, each.interface]] : [],
      ),
    );
    const hasMoved = this.#note(this.#known.move(shown, reading));
    if (hasMoved) this.refreshBy(reading.endedAt + this.#consistencyWindow);
    return hasMoved;
  }

  /** Our own call deleted an interface. */
  applyDeleted(interfaceId: string, endedAt: number): boolean {
    return this.#note(this.#known.forget(interfaceId, endedAt));
  }

  /** A call was refused because the interface does not exist. Nothing relies on it until a refresh shows it. */
  #applyNotFound(interfaceId: string, endedAt: number): boolean {
    const record = this.#known.records.get(interfaceId);
    if (record === undefined || possiblyGoneIn(record).includes(interfaceId)) return false;
    this.#known.set(interfaceId, unclear(record, 'all'));
    this.invalidate(endedAt);
    return this.#note(true);
  }

  #reading({ showsPrimary = false, isPartial = false, ...answer }: PartOfReading): Reading {
    return {
      ...answer,
      showsPrimary,
      whole: showsPrimary && !isPartial,
      consistencyWindow: this.#consistencyWindow,
      terminated: this.#presence.isTerminated,
      givenUp: this.#givenUp,
    };
  }

  #applyObservation(observation: Observation, reading: Reading): boolean {
    switch (observation.kind) {
      case 'instance':
        return this.#setInstance(observation.instance);
      case 'unreadableInterface':
      case 'addresslessInterface': {
        const known = this.#known.unusable.get(observation.interface.id);
        this.#known.setUnusable(observation);
        return this.#note(this.#presence.found() || !isSame(known, observation));
      }
      case 'interface':
        return this.#applyInterface(observation.interface, reading);
    }
  }

  #applyInterface(shown: NetworkInterface, reading: Reading): boolean {
    if (this.#known.gone.mayBeStale(shown.id, reading.startedAt)) return false;
    this.#known.forgetUnusable(shown.id);
    if (isPrimaryInterface(shown)) this.#note(this.#known.forgetAnothers(shown.id));
    const record = this.#known.records.get(shown.id);
    // A terminated instance gains nothing: only a stale answer can show more of it.
    if (record === undefined && reading.terminated) return false;
    this.#note(this.#presence.found());
    this.#known.gone.forget(shown.id);
    if (record === undefined) return this.#apply(shown.id, whenFirstShown(shown, reading), reading);
    const screened = this.#memory.screen(record, shown, reading.startedAt);
    this.#note(screened.isNews);
    if (screened.refreshFrom !== undefined) this.invalidate(screened.refreshFrom);
    return this.#apply(shown.id, whenShown(record, screened.shown, reading), reading);
  }

  #setInstance(instance: Instance): boolean {
    const before = this.#presence.instance;
    this.#presence.setInstance(instance);
    return this.#note(!isSame(before, this.#presence.instance));
  }

  /** Ends a complete answer: anything it did not show is missing. */
  #complete(reading: Reading, isShown: (interfaceId: string) => boolean): boolean {
    const { records, unusable } = this.#known;
    // A listing without the primary interface may have started too early, covered other networks, or lack more.
    const answered = reading.scope === 'refresh' || this.#known.hasPrimaryAmong(isShown);
    let changed = this.#note(!this.#read);
    if (answered) this.#read = true;
    else if (!this.#read) this.invalidate(reading.startedAt);
    for (const [id, record] of records) {
      if (!isShown(id)) changed = this.#apply(id, whenAbsent(record, reading), reading) || changed;
    }
    for (const id of unusable.keys()) {
      if (!isShown(id)) changed = this.#dropUnusable(id, reading) || changed;
    }
    return changed;
  }

  #endRefresh(reading: Reading, shown: ReadonlySet<string>): boolean {
    const changed = this.#complete(reading, (id) => shown.has(id));
    const isLacking = [...this.#known.records.keys()].some((id) => !shown.has(id));
    const answer = { ...reading, isLacking, isShown: shown.size > 0 };
    const { isNews, refreshDue } = this.#presence.endRefresh(answer);
    if (refreshDue !== undefined) this.refreshBy(refreshDue);
    return this.#note(isNews) || changed;
  }

  #dropUnusable(id: string, reading: Reading): boolean {
    if (reading.scope === 'listing') return this.invalidate(reading.startedAt);
    if (!reading.whole && !reading.terminated) return false;
    this.#known.forgetUnusable(id);
    return this.#note(true);
  }

  #apply(id: string, { record, refreshDue }: ReadingOutcome, reading: Reading): boolean {
    const before = this.#known.records.get(id);
    const same = isSame(before?.interface, record?.interface);
    const changed = this.#note(!same || uncertaintyText(before) !== uncertaintyText(record));
    if (record === undefined) this.#known.depart(id, reading);
    // Keep the old record object if equal: a listing of thousands of unchanged interfaces must not leave copies behind.
    else
      this.#known.set(id, same && before !== undefined ? { ...record, interface: before.interface } : record);
    if (refreshDue === undefined) return changed;
    if (reading.scope === 'listing') return this.invalidate(refreshDue) || changed;
    // Whether the next refresh time changed is known only after the whole refresh is applied.
    this.refreshBy(refreshDue);
    return changed;
  }

  /** Schedules a refresh at `at` or earlier. */
  refreshBy(at: number): boolean {
    const before = this.#refreshDue;
    this.#refreshDue = Math.min(before ?? Infinity, at);
    return this.#note(this.#refreshDue !== before);
  }

  #note(changed: boolean): boolean {
    if (changed) this.#view = undefined;
    return changed;
  }
}
