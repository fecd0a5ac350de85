// Gives every object the blocks that it should get: what objects show is held first, then the oldest that lacks one is served,
// with a bounded number of writes in flight. It waits for nothing while it decides, so it needs no lock: what a write reserves
// is taken before the write starts.
import { Backoff, waitBeforeRetry } from '../../runtime/backoff.ts';
import { sleep } from '../../runtime/clock.ts';
import { TaskGroup } from '../../runtime/task-group.ts';
import type { AllocationPolicy, Change, MissingBlock, Reservation } from './allocation-policy.ts';
import type { Assignment, BlockCondition, BlockHolders, Holder } from './block-holders.ts';
import { answersEnd, type Entry, isUnanswered, newEntry, type Standing } from './allocator-entry.ts';
import type { AllocatorOf, AllocatorPorts } from './block-allocator.ts';
import { FormerWrites } from './former-writes.ts';
import { bySeniority, ServiceQueue } from './service-queue.ts';
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
  readonly #line = new ServiceQueue<Entry<H>>();
  readonly #work: TaskGroup;
  #inFlight = 0;
  readonly #pauses: WritePauses;
  readonly #former: FormerWrites;
  #hasStarted = false;

  constructor(ports: AllocatorPorts, policy: AllocationPolicy<H>, holders: BlockHolders) {
    this.#ports = ports;
    this.#policy = policy;
    this.#holders = holders;
    this.#work = new TaskGroup(ports);
    this.#pauses = new WritePauses(ports.clock, () => this.#serve());
    this.#former = new FormerWrites({
      holders,
      tasks: this.#work,
      workers: ports.workers,
      current: (uid) => this.#byUid.get(uid)?.holder,
      onProgress: () => this.#serve(),
    });
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
    // What it dropped may go by now.
    this.#update(entry, entry.holder);
    this.#serve();
  }

  resume(uids: Iterable<string> = this.#byUid.keys()): void {
    this.#evaluateAll(uids);
    this.#serve();
  }

  async stop(deadline: AbortSignal): Promise<'ended' | 'unended'> {
    this.#pauses.stop();
    await this.#work.stop(deadline);
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
    entry.cancelTimer?.();
    this.#line.delete(entry);
    this.#entries.delete(name);
    this.#byUid.delete(uid);
    this.#follow(this.#policy.release(entry.holder));
    this.#holders.forget?.(entry.holder);
    this.#serve();
  }

  #update(entry: Entry<H>, holder: H): void {
    const policy = this.#policy;
    const before = entry.holder;
    entry.holder = holder;
    if (!policy.isOurs(holder)) this.#noteOthers(holder);
    const isNews = policy.isNews(holder, before);
    if (isNews) entry.refused = undefined;
    const change = policy.hold(holder, before);
    this.#follow(change);
    if (change.confirmIn !== undefined) this.#confirmLater(entry, change.confirmIn);
    this.#assessEntry(entry);
    // The holder may already wait in the line for something else.
    if (isNews || change.freed.length > 0) this.#serve();
  }

  /** What an object lacks for long, its live state lacks too: only that is evidence. */
  #confirmLater(entry: Entry<H>, after: NonNullable<Change['confirmIn']>): void {
    this.#work.later(after.ms, () =>
      this.#work.beginTask(async () => {
        const reading = await this.#holders.read(entry.holder.name, this.#work.deadline);
        if (reading.kind === 'unavailable') this.#confirmLater(entry, after);
        const { holder } = entry;
        const isKnown = reading.kind === 'found' && this.#byUid.get(holder.uid) === entry;
        if (!isKnown || this.#policy.confirm === undefined) return;
        this.#follow(this.#policy.confirm(holder, after.episode));
        this.#assessEntry(entry);
        this.#serve();
      }),
    );
  }

  /** What a former leader wrote is no work of another allocator. */
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
    if (!this.#isWanting(entry)) this.#line.delete(entry);
    else if (!entry.isWriting && entry.cancelTimer === undefined) this.#queue(entry);
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

  /** An object that loses its blocks again and again waits longer and longer for each write. */
  #queue(entry: Entry<H>): void {
    const wait = entry.backoff.until - this.#ports.clock.monotonic();
    if (wait > 0) {
      entry.cancelTimer = this.#work.later(wait, () => {
        entry.cancelTimer = undefined;
        this.#assessEntry(entry);
      });
    } else if (!this.#line.has(entry)) {
      this.#line.add(entry);
      this.#serve();
    }
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

  /** Starts as many writes as may be in flight, for the oldest that can be served. */
  #serve(): void {
    if (!this.#hasStarted || this.#isHeldBack()) return;
    for (const entry of this.#line.inOrder()) {
      if (this.#inFlight >= this.#ports.workers) return;
      const reservation = this.#policy.reserve(entry.holder);
      if (reservation !== undefined) this.#beginHolding(entry, reservation);
      else if (entry.condition === undefined) this.#report(entry);
    }
  }

  #isHeldBack(): boolean {
    const why = this.#ports.refusal();
    // The next renewal of the Lease changes that, and nothing tells of it.
    if (why === 'notLeading') this.#pauses.holdBack(leaseCheck);
    if (this.#pauses.isPausing || (why !== undefined && why !== 'dryRun')) return true;
    return why === undefined && this.#former.advance() === 'mayArrive';
  }

  #beginHolding(entry: Entry<H>, reservation: Reservation): void {
    const { holder } = entry;
    const { blocks, isKnown, allocated } = reservation;
    for (const each of allocated) this.#ports.emit({ kind: 'allocated', allocated: each });
    this.#line.delete(entry);
    if (this.#ports.refusal() === 'dryRun') {
      if (!isKnown) this.#ports.emit({ kind: 'wouldAssign', holder, blocks });
      return;
    }
    entry.isWriting = true;
    this.#inFlight++;
    this.#work.beginTask(async () => {
      try {
        await this.#write(entry, reservation);
      } finally {
        entry.isWriting = false;
        this.#inFlight--;
        this.#afterWrite(entry);
      }
    });
  }

  async #write(entry: Entry<H>, reservation: Reservation): Promise<void> {
    const { clock, writeTime, random } = this.#ports;
    const { holder } = entry;
    const until = clock.monotonic() + writeTime;
    const outcome = await reservation.write(this.#work.deadline);
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

  /** What was reserved stays until the object has been read: the write may have taken effect. */
  async #readAgain(entry: Entry<H>, retryAfterMs = 0): Promise<void> {
    this.#pauses.holdBack(retryAfterMs);
    const reading = await this.#holders.read(entry.holder.name, this.#work.deadline);
    if (reading.kind === 'unavailable') this.#pauses.holdBack(reading.retryAfterMs ?? 0);
  }

  #afterWrite(entry: Entry<H>): void {
    if (this.#byUid.get(entry.holder.uid) === entry) this.#assessEntry(entry);
    this.#serve();
  }
}
