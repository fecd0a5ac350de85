// Gives every object the blocks that it should get: what objects show is held first, then the oldest that lacks one is served,
// by a work queue. Nothing is waited for while it decides, so it needs no lock: what a write reserves is taken before the write
// starts.
import { Backoff, waitBeforeRetry } from '../../runtime/backoff.ts';
import { sleep } from '../../runtime/clock.ts';
import { TaskGroup } from '../../runtime/task-group.ts';
import { type Result, WorkQueue } from '../../runtime/work-queue.ts';
import type { AllocationPolicy, Change, MissingBlock, Reservation } from './allocation-policy.ts';
import type { Assignment, BlockCondition, BlockHolders, Holder } from './block-holders.ts';
import type { DryRunPlan, GivenBlocks } from './allocator-event.ts';
import { answersEnd, type Entry, isUnanswered, newEntry, type Standing } from './allocator-entry.ts';
import type { AllocatorOf, AllocatorPorts } from './block-allocator.ts';
import { FormerWrites } from './former-writes.ts';
import { bySeniority } from './seniority.ts';
import { WritePauses } from './write-pauses.ts';

/** Between two writes of one object, in ms: no object gets more than its share of writes. */
const retries = { base: 500, cap: 30_000 };
/** Between two checks of whether a write ends within our own lease, in ms. */
const leaseCheck = 500;
/** An agent that starts writes its object a few times in a row: so many conflicts are met at once. */
const conflictsMetAtOnce = 3;
/** After so long, all writes that one object may need in a row are made up for, in ms. */
const quietTime = 60_000;

/** `H`: the objects, with what its policy reads of them. */
export class Allocator<H extends Holder> implements AllocatorOf<H> {
  readonly #ports: AllocatorPorts;
  readonly #policy: AllocationPolicy<H>;
  readonly #holders: BlockHolders;
  readonly #entries = new Map<string, Entry<H>>();
  readonly #byUid = new Map<string, Entry<H>>();
  readonly #queue: WorkQueue<Entry<H>>;
  /** Reads of objects that have to confirm a change. */
  readonly #confirming: TaskGroup;
  readonly #pauses: WritePauses;
  readonly #former: FormerWrites;
  #hasStarted = false;

  constructor(ports: AllocatorPorts, policy: AllocationPolicy<H>, holders: BlockHolders) {
    this.#ports = ports;
    this.#policy = policy;
    this.#holders = holders;
    const { clock, onBug, workers } = ports;
    this.#confirming = new TaskGroup(ports);
    this.#queue = new WorkQueue<Entry<H>>({
      clock,
      onBug,
      workers,
      compare: (a, b) => bySeniority(a.holder, b.holder),
      mayStart: () => this.#hasStarted && !this.#isHeldBack(),
      reconcile: (entry) => this.#serve(entry),
      retryAfter: ({ backoff }) => backoff.fail(),
    });
    this.#pauses = new WritePauses(clock, () => this.#queue.serve());
    this.#former = new FormerWrites(this, holders, ports);
  }

  takeOverHolders(holders: Iterable<H>, mayFormerWrite: boolean): void {
    const added = [...holders].toSorted(bySeniority).map((holder) => this.#add(holder));
    if (mayFormerWrite)
      this.#former.begin(added.filter((entry) => this.#isWanting(entry)).map(({ holder }) => holder));
    this.#hasStarted = true;
    for (const entry of added) this.#assessEntry(entry);
  }

  apply(name: string, holder: H | undefined): void {
    const known = this.#entries.get(name);
    const isSameObject = known !== undefined && known.holder.uid === holder?.uid;
    if (known !== undefined && !isSameObject) this.#remove(known);
    if (holder === undefined) return;
    if (isSameObject) this.#update(known, holder);
    else this.#assessEntry(this.#add(holder));
  }

  reassess(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    // Blocks that it dropped may go by now.
    this.#update(entry, entry.holder);
    this.#queue.serve();
  }

  resume(uids: Iterable<string> = this.#byUid.keys()): void {
    this.#evaluateAll(uids);
    this.#queue.serve();
  }

  async stop(deadline: AbortSignal): Promise<'ended' | 'unended'> {
    this.#pauses.stop();
    await Promise.all([this.#queue, this.#former, this.#confirming].map((each) => each.stop(deadline)));
    const unanswered = [...this.#entries.values()].filter(isUnanswered);
    const open = await Promise.all(
      unanswered.map(async (entry) => {
        if (this.#ports.refusal() !== undefined || deadline.aborted) return [entry];
        const { kind } = await this.#holders
          .supersede(entry.holder, deadline)
          .catch(() => ({ kind: 'unavailable' }) as const);
        return kind === 'written' || kind === 'conflict' || kind === 'gone' ? [] : [entry];
      }),
    );
    const { clock } = this.#ports;
    const wait = answersEnd(open.flat()) - clock.monotonic();
    // The next leader knows nothing of what such a write reserves, and could give it to another object.
    if (wait > 0) await sleep(clock, wait, deadline).catch(() => undefined);
    return open.flat().length === 0 && !this.#former.mayArrive ? 'ended' : 'unended';
  }

  standings(): readonly Standing[] {
    return [...this.#entries.values()].map((entry) => this.#standingOf(entry));
  }

  standing(name: string): Standing | undefined {
    const entry = this.#entries.get(name);
    return entry && this.#standingOf(entry);
  }

  waiting(): readonly MissingBlock[] {
    return [...this.#entries.values()].flatMap(({ holder }) =>
      this.#howServed(holder) === 'waiting' ? this.#policy.missingBlocks(holder) : [],
    );
  }

  #standingOf({ holder, condition, waitsSince }: Entry<H>): Standing {
    return { holder, standing: this.#howServed(holder), condition, waitsSince };
  }

  #howServed(holder: H): Standing['standing'] {
    if (this.#policy.missingBlocks(holder).length === 0) return 'served';
    return this.#holders.isLeftAlone(holder) ? 'leftAlone' : 'waiting';
  }

  #add(holder: H): Entry<H> {
    const entry = newEntry(holder, new Backoff(retries, this.#ports));
    this.#entries.set(holder.name, entry);
    this.#byUid.set(holder.uid, entry);
    this.#follow(this.#policy.hold(holder, undefined));
    return entry;
  }

  /** Frees the blocks of a holder. Call it only once the object is gone. */
  #remove(entry: Entry<H>): void {
    const { name, uid } = entry.holder;
    this.#queue.forget(entry);
    this.#entries.delete(name);
    this.#byUid.delete(uid);
    this.#follow(this.#policy.release(entry.holder));
    this.#ports.emit({ kind: 'gone', holder: entry.holder });
    this.#holders.forget?.(entry.holder);
    this.#queue.serve();
  }

  #update(entry: Entry<H>, holder: H): void {
    const policy = this.#policy;
    const before = entry.holder;
    const isNews = policy.isNews(holder, before);
    const isOurs = policy.isOurs(holder);
    // Nothing is decided yet on a request that comes together with blocks.
    const isDecided = isNews && policy.asksOtherwise?.(holder, before) !== true;
    const plan = isDecided ? this.#planOf(entry) : undefined;
    entry.holder = holder;
    if (!isOurs) this.#noteOthers(holder);
    if (isNews) entry.refused = entry.planned = undefined;
    const change = policy.hold(holder, before);
    if (plan !== undefined) this.#tellShown({ holder, before, plan, isOwn: isOurs }, change);
    this.#follow(change);
    if (change.confirmIn !== undefined) this.#confirmLater(entry, change.confirmIn);
    this.#assessEntry(entry);
    // The holder may already be due for something else.
    if (isNews || change.freed.length > 0) this.#queue.serve();
  }

  #tellShown(shown: Omit<GivenBlocks<H>, 'sharing'>, { others }: Change): void {
    const sharing = others.flatMap((uid) => this.holderOf(uid) ?? []);
    this.#ports.emit({ kind: 'shown', ...shown, sharing });
  }

  /** Undefined while nothing is decided. */
  #planOf(entry: Entry<H>): DryRunPlan | undefined {
    const isWanting = this.#isWanting(entry);
    // The next write may come before the turn of the object.
    const isToPlan = isWanting && entry.planned === undefined && this.#ports.refusal() === 'dryRun';
    if (isToPlan) void this.#serve(entry);
    const { holder, planned, condition } = entry;
    if (!isWanting) return { blocks: holder.blocks, why: this.#whyNothing(entry) };
    if (planned !== undefined) return { blocks: planned, why: undefined };
    return condition && { blocks: holder.blocks, why: condition.reason };
  }

  /** Why an object gets nothing that waits for nothing; undefined if it lacks nothing. */
  #whyNothing({ holder, condition }: Entry<H>): string | undefined {
    if (this.#howServed(holder) === 'leftAlone') return 'left alone';
    return condition?.reason === 'PodCIDRUnreadable' ? condition.reason : undefined;
  }

  /** The live state of an object lacks, too, what the object lacks for long: only that is evidence. */
  #confirmLater(entry: Entry<H>, after: NonNullable<Change['confirmIn']>): void {
    this.#confirming.later(after.ms, () =>
      this.#confirming.beginTask(async () => {
        const reading = await this.#holders.read(entry.holder.name, this.#confirming.deadline);
        if (reading.kind === 'unavailable') this.#confirmLater(entry, after);
        const { holder } = entry;
        const isKnown = reading.kind === 'found' && this.#byUid.get(holder.uid) === entry;
        if (!isKnown || this.#policy.confirm === undefined) return;
        this.#follow(this.#policy.confirm(holder, after.episode));
        this.#assessEntry(entry);
        this.#queue.serve();
      }),
    );
  }

  /** A write of a former leader is no work of another allocator. */
  #noteOthers(holder: H): void {
    if (!this.#former.mayArrive) this.#ports.emit({ kind: 'othersBlocks', holder });
  }

  #follow({ others, freed }: Change): void {
    for (const each of freed) this.#ports.emit({ kind: 'freed', ...each });
    this.#evaluateAll(this.#hasStarted ? others : []);
  }

  #evaluateAll(uids: Iterable<string>): void {
    for (const uid of uids) {
      const entry = this.#byUid.get(uid);
      if (entry !== undefined) this.#assessEntry(entry);
    }
  }

  /** Decides whether the object waits, and reports what is wrong with it. */
  #assessEntry(entry: Entry<H>): void {
    if (!this.#hasStarted) return;
    // An object that loses its blocks again and again waits longer and longer for each write.
    const pause = entry.backoff.remaining;
    if (!this.#isWanting(entry)) this.#queue.withdraw(entry);
    else if (pause > 0) this.#queue.addLater(entry, pause);
    else this.#queue.add(entry);
    this.#timeWait(entry);
    this.#report(entry);
  }

  #timeWait(entry: Entry<H>): void {
    const standing = this.#howServed(entry.holder);
    const now = this.#ports.clock.monotonic();
    const { waitsSince } = entry;
    entry.waitsSince = standing === 'waiting' ? (waitsSince ?? now) : undefined;
    if (waitsSince !== undefined && standing === 'served')
      this.#ports.emit({ kind: 'served', afterMs: now - waitsSince });
  }

  #isWanting({ holder }: Entry<H>): boolean {
    if (holder.problem !== undefined || this.#holders.isLeftAlone(holder)) return false;
    return this.#policy.missingBlocks(holder).length > 0;
  }

  #report(entry: Entry<H>): void {
    const { holder } = entry;
    const condition = this.#conditionOf(entry);
    const before = entry.condition;
    const isNews = condition?.message !== before?.message;
    if (!isNews && holder.error === condition?.message) return;
    entry.condition = condition;
    if (isNews) this.#ports.emit({ kind: 'condition', holder, condition, before });
    this.#holders.report?.(holder, condition);
  }

  #conditionOf(entry: Entry<H>): BlockCondition | undefined {
    if (!this.#hasStarted) return undefined;
    const isWaiting = this.#isWanting(entry);
    return this.#policy.conditionOf(entry.holder, {
      isWaiting,
      refused: isWaiting ? entry.refused : undefined,
      isPaused: isWaiting && this.#ports.refusal() === 'otherAllocator',
    });
  }

  /** The object as last read; undefined once it is gone. */
  holderOf(uid: string): H | undefined {
    return this.#byUid.get(uid)?.holder;
  }

  mayWrite(): boolean {
    return this.#ports.refusal() === undefined && !this.#pauses.isPausing;
  }

  noteFormerEnded(): void {
    this.#queue.serve();
  }

  #isHeldBack(): boolean {
    const why = this.#ports.refusal();
    // The next renewal of the Lease changes that, and nothing tells of it.
    if (why === 'notLeading') this.#pauses.holdBack(leaseCheck);
    if (this.#pauses.isPausing || (why !== undefined && why !== 'dryRun')) return true;
    return why === undefined && this.#former.advance() === 'mayArrive';
  }

  /** Undefined if nothing is free of what the object lacks. */
  #serve(entry: Entry<H>): Promise<Result> | undefined {
    const { holder } = entry;
    const reservation = this.#policy.reserve(holder);
    entry.planned = undefined;
    if (reservation === undefined) {
      if (entry.condition === undefined) this.#report(entry);
      return undefined;
    }
    const { blocks, isKnown, allocated } = reservation;
    for (const each of allocated) this.#ports.emit({ kind: 'allocated', allocated: each });
    if (this.#ports.refusal() !== 'dryRun') return this.#write(entry, reservation);
    entry.planned = blocks;
    if (!isKnown) this.#ports.emit({ kind: 'wouldAssign', holder, blocks });
    return Promise.resolve({});
  }

  async #write(entry: Entry<H>, reservation: Reservation): Promise<Result> {
    const { clock, writeTime, random } = this.#ports;
    const { holder } = entry;
    const until = clock.monotonic() + writeTime;
    const outcome = await reservation.write(this.#queue.deadline);
    if (outcome.kind === 'unavailable') entry.unanswered = { version: holder.version, until };
    this.#ports.emit({ kind: 'written', holder: entry.holder, outcome });
    if (this.#isTooMuch(entry, outcome)) {
      const asked = outcome.kind === 'unavailable' ? outcome.retryAfterMs : undefined;
      entry.backoff.pauseFor(waitBeforeRetry(entry.backoff.fail(), asked, random));
    }
    if (outcome.kind === 'written') this.#noteWritten(entry, outcome.version);
    else if (outcome.kind === 'denied' || outcome.kind === 'invalid') this.#refuse(entry, outcome);
    else if (outcome.kind === 'unavailable') await this.#readAgain(entry, outcome.retryAfterMs);
    else if (outcome.kind === 'conflict') {
      await this.#readAgain(entry);
      this.#compare(entry, holder, reservation.fresh);
    }
    return this.#afterWrite(entry);
  }

  /** A write of ours met another state, and the object shows what it would have given: an allocator of the same order wrote it. */
  #compare(entry: Entry<H>, sent: H, fresh: readonly string[]): void {
    const { holder, unanswered } = entry;
    if (holder.uid !== sent.uid || unanswered?.version === sent.version) return;
    const isGiven = holder.blocks.some((block) => fresh.includes(block));
    if (isGiven && this.#policy.isOurs(holder)) this.#noteOthers(holder);
  }

  /** Whether the next write of the object has to wait. */
  #isTooMuch(entry: Entry<H>, { kind }: Assignment): boolean {
    if (kind === 'conflict') return ++entry.conflicts > conflictsMetAtOnce;
    if (kind !== 'written') return true;
    const { writesInARow } = this.#policy;
    const now = this.#ports.clock.monotonic();
    const quiet = now - entry.lastAt;
    entry.inARow = Math.max(0, entry.inARow - (quiet / quietTime) * (writesInARow + 1));
    entry.lastAt = now;
    if (quiet > quietTime || entry.inARow < writesInARow) {
      entry.conflicts = 0;
      entry.backoff.forget();
    }
    return ++entry.inARow > writesInARow;
  }

  #noteWritten(entry: Entry<H>, version: string): void {
    this.#pauses.noteSuccess();
    const { holder } = entry;
    if (holder.version === version && holder.blocks.length === 0)
      entry.refused = 'the API server drops the field, because its definition lacks it';
  }

  /** Nothing was written: what was reserved is free again, unless an earlier write may still give it. */
  #refuse(entry: Entry<H>, { kind, message }: Assignment & { readonly kind: 'denied' | 'invalid' }): void {
    entry.refused = message;
    if (kind === 'denied') this.#pauses.noteDenial(entry.holder.uid);
    if (entry.unanswered?.version === entry.holder.version) return;
    this.#policy.cancel(entry.holder);
  }

  /** The reserved blocks stay so until the object has been read: the write may have taken effect. */
  async #readAgain(entry: Entry<H>, retryAfterMs = 0): Promise<void> {
    this.#pauses.holdBack(retryAfterMs);
    const reading = await this.#holders.read(entry.holder.name, this.#queue.deadline);
    if (reading.kind === 'unavailable') this.#pauses.holdBack(reading.retryAfterMs ?? 0);
  }

  /** Whatever was requested meanwhile, the state that is known now decides. */
  #afterWrite(entry: Entry<H>): Result {
    if (this.#byUid.get(entry.holder.uid) === entry) this.#assessEntry(entry);
    return { isFailure: true, ...(this.#isWanting(entry) && { requeueAfter: entry.backoff.remaining }) };
  }
}
