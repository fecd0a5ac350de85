// The interfaces of one instance: the records of those that it has, which of them are gone, and which cannot be used. An
// address or prefix is on only one interface of a network: what one is given leaves the others. Methods that change
// records return whether they did.
import type { Conflict } from './address-conflicts.ts';
import { type Attached, type Change, whenAttached, whenChanged, withoutAddress } from './apply-answer.ts';
import { firstRecord, onlySeen, restoredInterface, withoutProven } from './apply-reading.ts';
import { GoneInterfaces } from './gone-interfaces.ts';
import type { InterfaceRecord, Reading, Unattached } from './interface-record.ts';
import { holdingIds, isGivenUp } from './missing-holdings.ts';
import { displacedBy, notReassigned, othersWithout, withdrawnFrom, withoutMoved } from './reassigned.ts';
import {
  allAssignments,
  hasAddress,
  isFirstSlot,
  isPrimaryInterface,
  type NetworkInterface,
  onlyWith,
  secondaryAssignments,
} from '../contract/network-interface.ts';
import type { UnusableInterface } from '../contract/facts.ts';

/** Interfaces and addresses that refreshes of the whole instance miss. Times in monotonic ms. */
export interface Missed {
  /** When the first read that missed any of it was sent. */
  readonly since: number;
  /** When the last read that misses all of it was sent. */
  readonly at: number;
}

export type Losses = Pick<KnownInterfaces, 'missed' | 'proven' | 'isThere'>;

interface KnownLosses {
  readonly missed: Missed | undefined;
  readonly proven: Missed | undefined;
}

/** Almost all instances share it. */
const noLosses: KnownLosses = { missed: undefined, proven: undefined };

const noneUnusable: ReadonlyMap<string, UnusableInterface> = new Map();

export class KnownInterfaces {
  readonly gone: GoneInterfaces;
  #records: Map<string, InterfaceRecord>;
  #unusable = noneUnusable;
  /** The losses of the records, until one changes: asked of all instances at each refresh of one while much is missing. */
  #losses: KnownLosses | undefined;

  constructor(restored: readonly NetworkInterface[], consistencyWindow: number) {
    this.gone = new GoneInterfaces(consistencyWindow);
    this.#records = new Map(restored.map((item) => [item.id, restoredInterface(item)]));
  }

  get records(): ReadonlyMap<string, InterfaceRecord> {
    return this.#records;
  }

  get unusable(): ReadonlyMap<string, UnusableInterface> {
    return this.#unusable;
  }

  /** The missing interfaces and addresses; undefined if none is. */
  get missed(): Missed | undefined {
    return this.#known.missed;
  }

  /** The part of it that is proven gone and waits for the withdrawal gate; undefined if nothing does. */
  get proven(): Missed | undefined {
    return this.#known.proven;
  }

  get #known(): KnownLosses {
    this.#losses ??= this.#count();
    return this.#losses;
  }

  #count(): KnownLosses {
    const missed = this.#missedWhere(
      ({ absentSince, missing }) => absentSince !== undefined || missing.size > 0,
    );
    const proven = this.#missedWhere((record) => record.proven.size > 0);
    return missed === undefined && proven === undefined ? noLosses : { missed, proven };
  }

  #missedWhere(isMeant: (record: InterfaceRecord) => boolean): Missed | undefined {
    let missed: Missed | undefined;
    for (const record of this.#records.values()) {
      if (!isMeant(record)) continue;
      const { missedFrom = -Infinity, missedAt = -Infinity } = record;
      const { since = Infinity, at = Infinity } = missed ?? {};
      missed = { since: Math.min(since, missedFrom), at: Math.min(at, missedAt) };
    }
    return missed;
  }

  /** Whether the primary interface is among those, even if it cannot be used. */
  hasPrimaryAmong(isShown: (interfaceId: string) => boolean): boolean {
    return (
      [...this.#records].some(([id, { interface: item }]) => isPrimaryInterface(item) && isShown(id)) ||
      [...this.#unusable].some(([id, { interface: item }]) => isFirstSlot(item) && isShown(id))
    );
  }

  /** Ids that a refresh of the whole instance missed, and that neither our calls nor the agent gave up. */
  suspected(givenUp: ReadonlySet<string>): readonly string[] {
    return [...this.#records].flatMap(([id, record]) => [
      ...(record.absentSince === undefined ? [] : [id]),
      ...[...record.missing.keys()].filter((holding) => isSuspected(holding, record, givenUp)),
    ]);
  }

  /** Whether there is any. */
  isSuspected(givenUp: ReadonlySet<string>): boolean {
    for (const record of this.#records.values()) {
      if (record.absentSince !== undefined) return true;
      for (const holding of record.missing.keys()) if (isSuspected(holding, record, givenUp)) return true;
    }
    return false;
  }

  /** Whether a read has shown an interface, address or prefix of that id, and the last refresh did not miss it. */
  isThere(id: string): boolean {
    return [...this.#records.values()].some(
      ({ interface: item, absentSince, missing, asOf, unseen }) =>
        absentSince === undefined &&
        asOf > -Infinity &&
        !missing.has(id) &&
        !unseen.has(id) &&
        [item.id, ...holdingIds(item)].includes(id),
    );
  }

  /** Things known to be gone: interfaces, and addresses that none has now. */
  withdrawn(): ReadonlySet<string> {
    return withdrawnFrom(this.#records, this.gone.ids);
  }

  set(id: string, record: InterfaceRecord): void {
    this.#records.set(id, record);
    this.#losses = undefined;
  }

  #drop(id: string): boolean {
    this.#losses = undefined;
    return this.#records.delete(id);
  }

  /** Drops interfaces and addresses that no read has shown. */
  keepSeen(): void {
    this.#records = onlySeen(this.#records);
    this.#losses = undefined;
  }

  /** Removes what is proven gone. */
  withdrawProven(now: number): void {
    for (const [id, record] of this.#records) {
      const rest = withoutProven(record);
      if (rest !== undefined) this.set(id, rest);
      else this.forget(id, now);
    }
  }

  /** Removes an address that another interface of the network is shown to hold. */
  withdraw({ address, networkId }: Conflict, now: number): boolean {
    let changed = false;
    for (const [id, record] of this.#records) {
      const { interface: item } = record;
      if (item.networkId !== networkId || !hasAddress(item, address)) continue;
      // An interface keeps its primary address for life. If another interface has it, this one is gone with all its
      // addresses.
      if (item.primaryAddress === address) this.forget(id, now);
      else this.set(id, withoutAddress(record, address, now));
      changed = true;
    }
    return changed;
  }

  /** A call deleted it, or it is proven gone. */
  forget(interfaceId: string, now: number): boolean {
    const changed = this.#drop(interfaceId);
    if (changed) this.gone.noteRemoved(interfaceId, now);
    return changed;
  }

  /** A read no longer shows it. */
  depart(id: string, { whole }: Pick<Reading, 'whole'>): void {
    this.#drop(id);
    if (!whole) this.gone.depart(id);
  }

  /**
   * An instance keeps its primary interface for life. Restored interfaces that came with a different primary, and that
   * no read has shown, belong to a previous instance of the same name.
   */
  forgetAnothers(primaryId: string): boolean {
    if (this.#records.has(primaryId)) return false;
    const restored = [...this.#records].filter(([, { asOf }]) => asOf === -Infinity);
    if (!restored.some(([, { interface: item }]) => isPrimaryInterface(item))) return false;
    for (const [id] of restored) this.#drop(id);
    return true;
  }

  applyAttached(answer: Attached, made: Unattached | undefined, endedAt: number): boolean {
    const { interfaceId } = answer;
    const isStill = notReassigned(this.#records, interfaceId, made?.knownAt ?? -Infinity);
    // A read may have shown the interface before the answer arrived.
    const record =
      this.#records.get(interfaceId) ?? (made && firstRecord(onlyWith(made.interface, isStill), endedAt));
    if (record === undefined) return false;
    this.set(interfaceId, whenAttached(record, answer, endedAt));
    this.#giveFromOthers(interfaceId, allAssignments(record.interface).filter(isStill), endedAt);
    return true;
  }

  /**
   * An applied read is the first to show that our attach succeeded: other interfaces lose what this one was created
   * with. This also holds for a listing, because our own call is the evidence.
   */
  applyMet(shown: NetworkInterface, made: Unattached, at: number): boolean {
    const isShown = new Set(allAssignments(shown));
    const isStill = notReassigned(this.#records, shown.id, made.knownAt);
    const brought = allAssignments(made.interface).filter(
      (holding) => isShown.has(holding) && isStill(holding),
    );
    return this.#giveFromOthers(shown.id, brought, at);
  }

  /**
   * A successful change does not prove that the interface is on the instance: a cloud can change a detached one too.
   */
  applyChange(answer: Change, endedAt: number): boolean {
    const given = answer.kind === 'allocated' ? secondaryAssignments(answer) : [];
    const hasMoved = this.#giveFromOthers(answer.interfaceId, given, endedAt);
    const record = this.#records.get(answer.interfaceId);
    if (record === undefined) return hasMoved;
    this.set(answer.interfaceId, { ...whenChanged(record, answer, endedAt), asOf: endedAt });
    return true;
  }

  /** Our own call gave these to one interface: no other one has them, and one whose primary address is among them is gone. */
  #giveFromOthers(interfaceId: string, holdings: readonly string[], at: number): boolean {
    const displaced = displacedBy(this.#records, interfaceId, holdings);
    for (const id of displaced) this.forget(id, at);
    return this.takeFromOthers(interfaceId, holdings, at) || displaced.length > 0;
  }

  /** Removes what one interface was just given from all others of its network. */
  takeFromOthers(interfaceId: string, holdings: readonly string[], at: number): boolean {
    return this.#replace(othersWithout(this.#records, interfaceId, holdings, at));
  }

  /** Moves what a refresh shows on one interface and not on the one that had it. */
  move(shown: ReadonlyMap<string, NetworkInterface>, reading: Reading): boolean {
    const readable = new Map([...this.#records].filter(([id]) => !this.#unusable.has(id)));
    return this.#replace(withoutMoved(readable, shown, reading));
  }

  #replace(changed: ReadonlyMap<string, InterfaceRecord>): boolean {
    for (const [id, record] of changed) this.set(id, record);
    return changed.size > 0;
  }

  setUnusable(observation: UnusableInterface): void {
    this.#unusable = new Map([...this.#unusable, [observation.interface.id, observation]]);
  }

  forgetUnusable(id: string): void {
    if (!this.#unusable.has(id)) return;
    this.#unusable = new Map([...this.#unusable].filter(([other]) => other !== id));
  }
}

function isSuspected(holding: string, { releasing }: InterfaceRecord, givenUp: ReadonlySet<string>): boolean {
  return !releasing.has(holding) && !isGivenUp(holding, givenUp);
}
