// Asks the gate about everything that is proven gone, and holds what it does not admit until newer refreshes confirm it.
import type { InstanceView } from '../contract/facts.ts';
import type { TrackedInstance } from './tracked-instance.ts';
import type { WithdrawalGate } from './withdrawals.ts';

/** Delay between refreshes of an instance with a held withdrawal, in consistency windows. */
const heldPause = 4;

/** For how long something is missed anew until it counts, whatever is shown again elsewhere, in consistency windows. */
const longMissed = 20;

/** How long an instance counts as suspected after it is untracked, in ms. */
const maxMemory = 600_000;

const none: ReadonlySet<string> = new Set();

interface Missed {
  readonly ids: ReadonlySet<string>;
  /** The view when this was noted: whatever is shown again changes it. */
  readonly view: InstanceView;
}

export class HeldWithdrawals {
  readonly #instances: ReadonlyMap<string, TrackedInstance>;
  readonly #gate: WithdrawalGate;
  readonly #consistencyWindow: number;
  /** Instances with something proven gone that the gate holds. */
  #held = none;
  /** By instance that counts, what its refreshes missed until it is shown again or known to be gone. */
  readonly #missed = new Map<string, Missed>();
  /**
   * When something missing was last found to be shown again, in monotonic ms. What was first missed before may be there
   * too: two refreshes must miss it anew that began since, or with the one that shows again.
   */
  #confirmFrom = -Infinity;
  /** When the refresh was sent that showed something again then; undefined if a listing did. */
  #showingAgain: number | undefined;
  /** By instance, the end of the first refresh since `#confirmFrom` that misses anew what it misses. */
  readonly #missedAnew = new Map<string, number>();
  /** The end of the first such refresh since any `#confirmFrom`: what comes and goes elsewhere must not hold a loss for ever. */
  readonly #missedSince = new Map<string, number>();
  /**
   * Instances untracked while something of theirs was missing, with the time. A deleted node does not explain the loss.
   * Forgotten after `maxMemory`, but not while a withdrawal is held.
   */
  readonly #suspectedUntracked = new Map<string, number>();
  /** Tracked instances that a Node named at some time since they are tracked. */
  readonly #counted = new Set<string>();

  /**
   * `instances`: the tracked ones, a live map. `consistencyWindow`: how long the cloud may take to show a change, in ms.
   */
  constructor(
    instances: ReadonlyMap<string, TrackedInstance>,
    gate: WithdrawalGate,
    consistencyWindow: number,
  ) {
    this.#instances = instances;
    this.#gate = gate;
    this.#consistencyWindow = consistencyWindow;
  }

  /** Instances with a withdrawal that the gate holds now. */
  held(): ReadonlySet<string> {
    return this.#heldWhere((id) => this.#hasProven(id));
  }

  /** The instance is about to leave the tracked ones. */
  untrack(instanceId: string, now: number): void {
    this.#forgetUntracked(now);
    if (this.#isSuspected(instanceId)) this.#suspectedUntracked.set(instanceId, now);
    else this.#missed.delete(instanceId);
    this.#counted.delete(instanceId);
    this.#missedAnew.delete(instanceId);
    this.#missedSince.delete(instanceId);
  }

  /** Instances that a Node names count from now on. Usually all of these count already. */
  count(instanceIds: readonly string[]): void {
    if (instanceIds.every((id) => this.#counted.has(id))) return;
    for (const id of this.#gate.ofNodes() ?? this.#instances.keys())
      if (this.#instances.has(id) && !this.#counted.has(id)) {
        this.#counted.add(id);
        this.#noteSuspected(id);
      }
  }

  /**
   * Asks the gate about what is proven gone on these and all held instances, as far as their newest refreshes confirm
   * it. The gate admits all of that or none. What is unconfirmed stays held and is refreshed. `startedAt`: when the
   * refresh of these instances was sent.
   */
  admitWithdrawals(instanceIds: readonly string[], now: number, startedAt?: number): ReadonlySet<string> {
    this.#noteShownAgain(now, startedAt);
    for (const id of instanceIds) this.#noteSuspected(id);
    this.#noteMissedAnew(instanceIds, now);
    const fresh = this.#newCandidates(instanceIds, now);
    this.#hold(fresh, now);
    if (this.#held.size === 0) return none;
    const confirmed = this.#heldWhere((id) => this.#isConfirmed(id));
    const unconfirmed = this.#heldBut(confirmed);
    const wasAsked = unconfirmed.every((id) => this.#wasAsked(id)) || now >= this.#askedUntil;
    const changed = unconfirmed.filter((id) => this.#confirm(id, now));
    if (!wasAsked) changed.push(...[...confirmed].filter((id) => this.#refreshAgain(id, now)));
    // An instance that cannot be read, or is no longer shown whole, must not hold what all others have lost, nor make a
    // token worthless.
    if (confirmed.size === 0 || !wasAsked) return new Set(changed);
    const suspected = (): ReadonlySet<string> => new Set([...this.#suspected(), ...unconfirmed]);
    if (!this.#gate.admit(confirmed, now, suspected)) {
      for (const id of fresh) this.#refreshAgain(id, now);
      return new Set(changed);
    }
    this.#held = new Set(unconfirmed);
    for (const id of confirmed) this.#withdraw(id, now);
    return new Set([...confirmed, ...changed]);
  }

  #withdraw(instanceId: string, now: number): void {
    this.#instances.get(instanceId)?.withdrawProven(now);
    this.#missedAnew.delete(instanceId);
    this.#missedSince.delete(instanceId);
  }

  #noteShownAgain(now: number, startedAt: number | undefined): void {
    this.#held = this.held();
    let isAnyBack = false;
    for (const [id, missed] of this.#missed) isAnyBack = this.#isShownAgain(id, missed) || isAnyBack;
    if (!isAnyBack) return;
    this.#confirmFrom = now;
    this.#showingAgain = startedAt;
    this.#missedAnew.clear();
  }

  /** Whether it is shown again. Not if it is gone for certain, or was given up: machines end all the time. */
  #isShownAgain(instanceId: string, { ids, view: noted }: Missed): boolean {
    const tracked = this.#changedSince(instanceId, noted);
    if (tracked === undefined) return false;
    const { view, suspected, losses } = tracked;
    const isSuspected = new Set(suspected);
    const isBack = [...ids].some((id) => !isSuspected.has(id) && losses.isThere(id));
    if (suspected.length === 0) this.#missed.delete(instanceId);
    else this.#missed.set(instanceId, { ids: isBack ? isSuspected : ids, view });
    return isBack;
  }

  /** Undefined while a node may still come back with it, or nothing was read since. */
  #changedSince(instanceId: string, noted: InstanceView): TrackedInstance | undefined {
    const tracked = this.#instances.get(instanceId);
    if (tracked === undefined || tracked.view === noted) return undefined;
    return tracked.view.presence === 'unread' ? undefined : tracked;
  }

  #noteSuspected(instanceId: string): void {
    const tracked = this.#instances.get(instanceId);
    if (tracked === undefined || !this.#isSuspected(instanceId)) return;
    const before = this.#missed.get(instanceId)?.ids ?? none;
    const { suspected, view } = tracked;
    this.#missed.set(instanceId, { ids: new Set([...before, ...suspected]), view });
  }

  #isSuspected(instanceId: string): boolean {
    return this.#counted.has(instanceId) && this.#instances.get(instanceId)?.isSuspected === true;
  }

  /** A refresh can miss anew what is proven gone only by the next one. */
  #noteMissedAnew(instanceIds: readonly string[], now: number): void {
    if (this.#confirmFrom === -Infinity) return;
    for (const id of this.#missedSince.keys())
      if (this.#instances.get(id)?.losses.missed === undefined) this.#missedSince.delete(id);
    for (const id of instanceIds.filter((each) => this.#isMissedAnew(each))) {
      if (!this.#missedAnew.has(id)) this.#missedAnew.set(id, now);
      if (!this.#missedSince.has(id)) this.#missedSince.set(id, now);
    }
  }

  #isMissedAnew(instanceId: string): boolean {
    const { shownWholeAt = -Infinity, losses: { missed } = {} } = this.#instances.get(instanceId) ?? {};
    if (missed === undefined || this.#isSince(missed.since)) return false;
    return this.#isSince(Math.min(shownWholeAt, missed.at));
  }

  /** Whether a refresh sent then can confirm what is missing: one that began earlier may show an outage that is over. */
  #isSince(startedAt: number): boolean {
    return startedAt >= this.#confirmFrom || startedAt === this.#showingAgain;
  }

  /** When the last refresh that shows the instance whole and misses what is proven gone was sent. */
  #missedAt(instanceId: string): number {
    const { shownWholeAt = -Infinity, losses: { proven } = {} } = this.#instances.get(instanceId) ?? {};
    return Math.min(shownWholeAt, proven?.at ?? -Infinity);
  }

  /** Until when held instances are to be read again, before others are decided about without them. */
  get #askedUntil(): number {
    return this.#confirmFrom + heldPause * this.#consistencyWindow;
  }

  #wasAsked(instanceId: string): boolean {
    return this.#isSince(this.#instances.get(instanceId)?.refreshedAt ?? Infinity);
  }

  /** Instances among these that count and have something proven missing. */
  #newCandidates(instanceIds: readonly string[], now: number): readonly string[] {
    const proven = instanceIds.filter((id) => this.#hasProven(id));
    // A Node may name the others later.
    for (const id of proven) if (!this.#counted.has(id)) this.#refreshAgain(id, now);
    return proven.filter((id) => this.#counted.has(id));
  }

  #hasProven(instanceId: string): boolean {
    return this.#instances.get(instanceId)?.losses.proven !== undefined;
  }

  #refreshAgain(instanceId: string, now: number): boolean {
    const due = now + heldPause * this.#consistencyWindow;
    return this.#instances.get(instanceId)?.refreshBy(due) === true;
  }

  /** A refresh that does not show the instance whole, or that says nothing of what is missing, confirms nothing. */
  #isConfirmed(instanceId: string): boolean {
    if (this.#confirmFrom === -Infinity) return true;
    const { since = -Infinity } = this.#instances.get(instanceId)?.losses.proven ?? {};
    const missedAt = this.#missedAt(instanceId);
    const isLong =
      missedAt >= (this.#missedSince.get(instanceId) ?? Infinity) + longMissed * this.#consistencyWindow;
    return this.#isSince(since) || isLong || missedAt >= this.#missedTwiceAt(instanceId);
  }

  /** From when on a refresh is the second one that misses it anew. */
  #missedTwiceAt(instanceId: string): number {
    return (this.#missedAnew.get(instanceId) ?? Infinity) + this.#consistencyWindow;
  }

  /**
   * Schedules a refresh of an instance: at once, when it can confirm what the last one missed anew, or later if that one
   * confirmed nothing. Returns whether that is a change.
   */
  #confirm(instanceId: string, now: number): boolean {
    const tracked = this.#instances.get(instanceId);
    if (!this.#wasAsked(instanceId)) return tracked?.invalidate(this.#confirmFrom) === true;
    const due = this.#missedTwiceAt(instanceId);
    const isAhead = due > now && due < Infinity;
    return isAhead ? tracked?.refreshBy(due) === true : this.#refreshAgain(instanceId, now);
  }

  #hold(instanceIds: readonly string[], now: number): void {
    this.#forgetUntracked(now);
    const isKnown = instanceIds.every((id) => this.#held.has(id));
    if (!isKnown) this.#held = new Set([...this.#held, ...instanceIds]);
  }

  #heldBut(some: ReadonlySet<string>): readonly string[] {
    return some === this.#held ? [] : [...this.#held].filter((id) => !some.has(id));
  }

  /** The held ones itself if it is true of all of them: there may be many, and each refresh of one instance looks at all. */
  #heldWhere(isTrue: (instanceId: string) => boolean): ReadonlySet<string> {
    for (const id of this.#held) if (!isTrue(id)) return new Set([...this.#held].filter(isTrue));
    return this.#held;
  }

  /** Instances with something that a read missed, in addition to those before the gate. */
  #suspected(): readonly string[] {
    const tracked = [...this.#missed.keys()].filter((id) => this.#isSuspected(id));
    return [...tracked, ...this.#suspectedUntracked.keys()];
  }

  /** Elapsed time alone does not release a held withdrawal. */
  #forgetUntracked(now: number): void {
    if (this.#held.size > 0) return;
    for (const [id, at] of this.#suspectedUntracked) {
      if (at > now - maxMemory) continue;
      this.#suspectedUntracked.delete(id);
      if (!this.#instances.has(id)) this.#missed.delete(id);
    }
  }
}
