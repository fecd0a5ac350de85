// Gives every object a block of each family: what it shows is held first, then the oldest without one is served, with a
// bounded number of writes in flight. It waits for nothing while it decides, so it needs no lock: what a write reserves is
// taken before the write starts.
import { Backoff } from '../../runtime/backoff.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { TaskGroup } from '../../runtime/task-group.ts';
import { type Cidr, type Family, cidrText, isSame } from '../set/cidr.ts';
import type { AllocatorEvent } from './allocator-event.ts';
import { type BlockWords, blockCondition, shownBlocks } from './block-condition.ts';
import type { Assignment, BlockCondition, BlockHolders, Holder } from './block-holders.ts';
import type { BlockLedger } from './block-ledger.ts';
import { bySeniority, WaitingLine } from './waiting-line.ts';
import { answersEnd, type Entry, newEntry, type Standing } from './allocator-entry.ts';
import { WritePauses } from './write-pauses.ts';

export interface AllocatorDeps {
  readonly ledger: BlockLedger;
  readonly holders: BlockHolders;
  readonly settings: AllocatorSettings;
  /** Why nothing may be written now; undefined if it may. Called before each write. */
  readonly refusal: () => AllocationRefusal | undefined;
  readonly emit: (event: AllocatorEvent) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly onBug: (error: unknown) => void;
}

export interface AllocatorSettings {
  /** An object gets a block of each. */
  readonly families: readonly Family[];
  readonly words: BlockWords;
  /** Writes in flight. */
  readonly workers: number;
  /** How long after its start a write without an answer may still take effect, in ms. */
  readonly writeTime: number;
}

/** `listing`: a part of a list is known. `otherAllocator`: another program gives out blocks. */
export type AllocationRefusal = 'dryRun' | 'listing' | 'paused' | 'otherAllocator' | 'notLeading';

/** Between two writes of one object, in ms: no object gets more than its share of writes. */
const retries = { base: 500, cap: 30_000 };
/** Blocks that an object showed once, and those that it shows, while it lives. */
const mostRemembered = 32;
/** Between two checks of whether a write ends within our own lease, in ms. */
const leaseCheck = 500;
/** An agent that starts writes its object a few times in a row: so many conflicts are met at once. */
const conflictsMetAtOnce = 3;

export class Allocator {
  readonly #deps: AllocatorDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #byUid = new Map<string, Entry>();
  readonly #line = new WaitingLine<Entry>();
  readonly #work: TaskGroup;
  #inFlight = 0;
  readonly #pauses: WritePauses;
  #hasBegun = false;

  constructor(deps: AllocatorDeps) {
    this.#deps = deps;
    this.#work = new TaskGroup(deps);
    this.#pauses = new WritePauses(deps.clock, () => this.#serve());
  }

  /** Starts with a complete list: what it shows is held before anything is given out. Call it once. */
  begin(holders: Iterable<Holder>): void {
    for (const holder of [...holders].toSorted(bySeniority)) this.#add(holder);
    this.#hasBegun = true;
    for (const entry of this.#entries.values()) this.#evaluate(entry);
  }

  /** Applies the newest state of an object; `undefined` once it is gone. */
  apply(name: string, holder: Holder | undefined): void {
    const known = this.#entries.get(name);
    const isSameObject = known !== undefined && known.holder.uid === holder?.uid;
    if (known !== undefined && !isSameObject) this.#remove(known);
    if (holder === undefined) return;
    if (isSameObject) this.#update(known, holder);
    else this.#evaluate(this.#add(holder));
  }

  /** Starts what may be written by now. Call it when `refusal` may have changed. */
  resume(): void {
    for (const entry of this.#entries.values()) this.#evaluate(entry);
    this.#serve();
  }

  /** Resolves once no write of this allocator can take effect any more, at `deadline` at the latest. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#pauses.stop();
    await this.#work.stop(deadline);
    const { clock } = this.#deps;
    const wait = answersEnd(this.#entries.values()) - clock.monotonic();
    // The next leader knows nothing of what such a write reserves, and could give it to another object.
    if (wait > 0) await sleep(clock, wait, deadline).catch(() => undefined);
  }

  standings(): readonly Standing[] {
    return [...this.#entries.values()].map((entry) => this.#standingOf(entry));
  }

  standing(name: string): Standing | undefined {
    const entry = this.#entries.get(name);
    return entry && this.#standingOf(entry);
  }

  /** How many objects wait for a block of each family. */
  waiting(): Readonly<Record<Family, number>> {
    const counts = { ipv4: 0, ipv6: 0 };
    for (const entry of this.#line) for (const family of this.#missing(entry)) counts[family]++;
    return counts;
  }

  #standingOf(entry: Entry): Standing {
    const { holder, condition } = entry;
    const missing = this.#missing(entry);
    const standing = missing.length === 0 ? 'served' : holder.isLeftAlone ? 'leftAlone' : 'waiting';
    return { holder, standing, missing, condition };
  }

  #add(holder: Holder): Entry {
    const entry = newEntry(holder, new Backoff(retries, this.#deps));
    this.#entries.set(holder.name, entry);
    this.#byUid.set(holder.uid, entry);
    this.#hold(entry);
    return entry;
  }

  /** Its object is gone: only now its blocks are free. */
  #remove(entry: Entry): void {
    const { ledger, emit } = this.#deps;
    const { name, uid } = entry.holder;
    entry.cancelTimer?.();
    this.#line.delete(entry);
    this.#entries.delete(name);
    this.#byUid.delete(uid);
    for (const cidr of ledger.heldBy(uid)) {
      const others = ledger.othersHolding(cidr, uid);
      ledger.release(uid, cidr);
      emit({ kind: 'freed', cidr, pool: ledger.poolOf(cidr) });
      this.#evaluateAll(others);
    }
    this.#deps.holders.forget(entry.holder);
    this.#serve();
  }

  #update(entry: Entry, holder: Holder): void {
    const before = entry.holder;
    entry.holder = holder;
    if (!isSameText(before.blocks, holder.blocks)) {
      if (before.blocks.length === 0 && !this.#isOurs(holder))
        this.#deps.emit({ kind: 'othersBlocks', holder });
      entry.shown = shownBlocks(holder);
      entry.refused = undefined;
      this.#hold(entry);
    }
    this.#evaluate(entry);
  }

  /** Whether its blocks may come from a write of this process, or are those that it had before. */
  #isOurs(holder: Holder): boolean {
    const held = this.#deps.ledger.heldBy(holder.uid);
    return shownBlocks(holder).cidrs.every((cidr) => held.some((each) => isSame(each, cidr)));
  }

  /** Holds what the object shows, and frees what was reserved for a family of which it shows another block. */
  #hold(entry: Entry): void {
    const { holder, shown, reserved } = entry;
    const { ledger } = this.#deps;
    for (const cidr of shown.cidrs) {
      ledger.hold(holder.uid, cidr);
      this.#evaluateAll(this.#hasBegun ? ledger.othersHolding(cidr, holder.uid) : []);
    }
    const isShown = (cidr: Cidr): boolean => shown.cidrs.some((each) => isSame(each, cidr));
    const isSettled = ({ family }: Cidr): boolean => shown.cidrs.some((each) => each.family === family);
    for (const cidr of reserved) if (isSettled(cidr) && !isShown(cidr)) ledger.release(holder.uid, cidr);
    entry.reserved = reserved.filter((cidr) => !isSettled(cidr));
    const held = ledger.heldBy(holder.uid);
    const old = held.filter((cidr) => !isShown(cidr) && !entry.reserved.includes(cidr));
    for (const cidr of old.slice(0, Math.max(0, held.length - mostRemembered)))
      ledger.release(holder.uid, cidr);
  }

  #evaluateAll(uids: readonly string[]): void {
    for (const uid of uids) {
      const entry = this.#byUid.get(uid);
      if (entry !== undefined) this.#evaluate(entry);
    }
  }

  /** Decides whether the object waits, and reports what is wrong with it. */
  #evaluate(entry: Entry): void {
    if (!this.#hasBegun) return;
    if (!this.#isWanting(entry)) this.#line.delete(entry);
    else if (!entry.isWriting && entry.cancelTimer === undefined) this.#queue(entry);
    this.#report(entry);
  }

  /** An object that loses its blocks again and again waits longer and longer for each write. */
  #queue(entry: Entry): void {
    const wait = entry.backoff.until - this.#deps.clock.monotonic();
    if (wait > 0) {
      entry.cancelTimer = this.#work.later(wait, () => {
        entry.cancelTimer = undefined;
        this.#evaluate(entry);
      });
    } else if (!this.#line.has(entry)) {
      this.#line.add(entry);
      this.#serve();
    }
  }

  #isWanting(entry: Entry): boolean {
    const { holder, shown } = entry;
    if (holder.isLeftAlone || holder.problem !== undefined || shown.unreadable !== undefined) return false;
    if (shown.cidrs.length > 0 && !this.#deps.holders.canGrow) return false;
    return this.#missing(entry).length > 0;
  }

  /** The families of which the object shows no block. */
  #missing({ shown, holder }: Entry): readonly Family[] {
    const { settings, holders } = this.#deps;
    if (shown.unreadable !== undefined || (holder.blocks.length > 0 && !holders.canGrow)) return [];
    return settings.families.filter((family) => shown.cidrs.every((cidr) => cidr.family !== family));
  }

  #report(entry: Entry): void {
    const { holder } = entry;
    const condition = this.#conditionOf(entry);
    if (condition?.message === entry.condition?.message && holder.error === (condition?.message ?? undefined))
      return;
    const isNews = condition?.message !== entry.condition?.message;
    entry.condition = condition;
    if (isNews) this.#deps.emit({ kind: 'condition', holder, condition });
    this.#deps.holders.report(holder, condition);
  }

  #conditionOf(entry: Entry): BlockCondition | undefined {
    const { holder, shown, refused } = entry;
    const { ledger, settings } = this.#deps;
    if (!this.#hasBegun) return undefined;
    const isWaiting = this.#isWanting(entry);
    const missing = isWaiting ? this.#missing(entry) : [];
    return blockCondition(
      {
        holder,
        shown,
        conflict: this.#conflictOf(entry),
        outside: shown.cidrs.find((cidr) => ledger.poolOf(cidr) === undefined),
        reserved: shown.cidrs.find((cidr) => ledger.isReserved(cidr)),
        exhausted: missing.filter((family) => !this.#hasBlock(entry, family)),
        refused: isWaiting ? refused : undefined,
        isPaused: isWaiting && this.#deps.refusal() === 'otherAllocator',
      },
      settings.words,
    );
  }

  #conflictOf({ holder, shown }: Entry): { readonly cidr: Cidr; readonly other: string } | undefined {
    for (const cidr of shown.cidrs) {
      const older = this.#deps.ledger
        .othersHolding(cidr, holder.uid)
        .map((uid) => this.#byUid.get(uid)?.holder)
        .filter((other) => other !== undefined)
        .filter((other) => bySeniority(other, holder) < 0)
        .toSorted(bySeniority)[0];
      if (older !== undefined) return { cidr, other: older.name };
    }
    return undefined;
  }

  /** Whether a block of the family is free or reserved for the object. */
  #hasBlock(entry: Entry, family: Family): boolean {
    return this.#ownBlock(entry, family) !== undefined || this.#deps.ledger.hasFree(family);
  }

  /** A block that the object has already, although it does not show it: it gets no other, unless somebody else has that one too. */
  #ownBlock({ holder: { uid } }: Entry, family: Family): Cidr | undefined {
    const { ledger } = this.#deps;
    const own = ledger.heldBy(uid).filter((cidr) => cidr.family === family);
    return own.findLast((cidr) => ledger.othersHolding(cidr, uid).length === 0);
  }

  /** Starts as many writes as may be in flight, for the oldest that can be served. */
  #serve(): void {
    if (!this.#hasBegun || this.#isHeldBack()) return;
    for (const entry of this.#line.inOrder()) {
      if (this.#inFlight >= this.#deps.settings.workers) return;
      const blocks = this.#reserve(entry, this.#missing(entry));
      if (blocks !== undefined) this.#begin(entry, blocks);
      else if (entry.condition === undefined) this.#report(entry);
    }
  }

  #isHeldBack(): boolean {
    const why = this.#deps.refusal();
    // The next renewal of the Lease changes that, and nothing tells of it.
    if (why === 'notLeading') this.#pauses.holdBack(leaseCheck);
    return this.#pauses.isPausing || (why !== undefined && why !== 'dryRun');
  }

  /** A block of each missing family, or none at all. */
  #reserve(entry: Entry, missing: readonly Family[]): readonly Cidr[] | undefined {
    if (!missing.every((family) => this.#hasBlock(entry, family))) return undefined;
    return missing.map((family) => this.#ownBlock(entry, family) ?? this.#allocate(entry, family));
  }

  #allocate({ holder }: Entry, family: Family): Cidr {
    const allocated = this.#deps.ledger.allocate(family, holder.uid);
    if (allocated === undefined) throw new Error('a block was free a moment ago');
    this.#deps.emit({ kind: 'allocated', allocated });
    return allocated.cidr;
  }

  #begin(entry: Entry, added: readonly Cidr[]): void {
    const { holder } = entry;
    const isKnown = entry.reserved.length > 0;
    // What an earlier write may have given stays reserved until the object shows what it has.
    const earlier = entry.reserved.filter((cidr) => !added.some((each) => isSame(each, cidr)));
    entry.reserved = [...earlier, ...added];
    this.#line.delete(entry);
    const blocks = withAdded(holder.blocks, added);
    if (this.#deps.refusal() === 'dryRun') {
      if (!isKnown) this.#deps.emit({ kind: 'wouldAssign', holder, blocks });
      return;
    }
    entry.isWriting = true;
    this.#inFlight++;
    this.#work.begin(async () => {
      try {
        await this.#write(entry, blocks);
      } finally {
        entry.isWriting = false;
        this.#inFlight--;
        this.#afterWrite(entry);
      }
    });
  }

  async #write(entry: Entry, blocks: readonly string[]): Promise<void> {
    const { holders, emit, clock, settings } = this.#deps;
    const { holder } = entry;
    const until = clock.monotonic() + settings.writeTime;
    const outcome = await holders.assign(holder, blocks, this.#work.deadline);
    if (outcome.kind === 'unavailable') entry.unanswered = { version: holder.version, until };
    emit({ kind: 'written', name: holder.name, outcome });
    if (outcome.kind !== 'conflict' || ++entry.conflicts > conflictsMetAtOnce) entry.backoff.fail();
    if (outcome.kind === 'written') this.#take(entry, outcome.holder);
    else if (outcome.kind === 'denied' || outcome.kind === 'invalid') this.#refuse(entry, outcome);
    else if (outcome.kind === 'unavailable') await this.#readAgain(entry, outcome.retryAfterMs);
    else if (outcome.kind === 'conflict') await this.#readAgain(entry);
  }

  #take(entry: Entry, holder: Holder): void {
    this.#pauses.noteSuccess();
    this.#applyTo(entry, holder);
    if (holder.blocks.length === 0)
      entry.refused = 'the API server drops the field, because its definition lacks it';
  }

  /** Nothing was written: what was reserved is free again, unless an earlier write may still give it. */
  #refuse(entry: Entry, { kind, message }: Assignment & { readonly kind: 'denied' | 'invalid' }): void {
    entry.refused = message;
    if (kind === 'denied') this.#pauses.noteDenial(entry.holder.uid);
    if (answersEnd([entry]) > this.#deps.clock.monotonic()) return;
    for (const cidr of entry.reserved) this.#deps.ledger.release(entry.holder.uid, cidr);
    entry.reserved = [];
  }

  /** What was reserved stays until the object has been read: the write may have taken effect. */
  async #readAgain(entry: Entry, retryAfterMs = 0): Promise<void> {
    this.#pauses.holdBack(retryAfterMs);
    const reading = await this.#deps.holders.read(entry.holder.name, this.#work.deadline);
    if (reading.kind === 'found') this.#applyTo(entry, reading.holder);
    else if (reading.kind === 'unavailable') this.#pauses.holdBack(reading.retryAfterMs ?? 0);
  }

  /** Applies an answer, unless the object was replaced or is gone meanwhile: the watch delivers that. */
  #applyTo(entry: Entry, holder: Holder): void {
    if (this.#byUid.get(holder.uid) !== entry || entry.holder.name !== holder.name) return;
    this.#update(entry, holder);
  }

  #afterWrite(entry: Entry): void {
    if (this.#byUid.get(entry.holder.uid) === entry) this.#evaluate(entry);
    this.#serve();
  }
}

/** The blocks to write: what is shown keeps its text and order, and IPv4 goes before IPv6. */
function withAdded(shown: readonly string[], added: readonly Cidr[]): readonly string[] {
  const texts = added.map(cidrText);
  return added[0]?.family === 'ipv6' ? [...shown, ...texts] : [...texts, ...shown];
}

function isSameText(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
