// What Headwater holds of one instance: its interfaces, and what is unclear about them. Each kind of answer that the cloud
// gives about it is folded in here; every method that folds says whether the view changed.
import {
  doubtsAbout,
  firstHeld,
  type HeldInterface,
  type Reading,
  recalledInterface,
  type Verdict,
  whenAbsent,
  whenFirstShown,
  whenShown,
  withRecalled,
} from './held-interface.ts';
import {
  type Allocated,
  type Attached,
  whenAllocated,
  whenAttached,
  whenGivenPublicAddress,
  whenReleased,
  withAttachment,
} from './held-after-call.ts';
import type { InstanceView } from './instance-view.ts';
import { notGivenToOthers, othersWithout, withoutMoved } from './moved-holdings.ts';
import { allOn, type NetworkInterface } from './network-interface.ts';
import type { Instance, Observation, UnreadableInterface } from './observation.ts';
import { PredecessorMemory, type Recollected } from './predecessor-memory.ts';

/** The complete answer to a look at the instance. */
export interface Look {
  /** When the request was sent, and when its answer was complete, in monotonic ms. */
  readonly begunAt: number;
  readonly endedAt: number;
  readonly observations: readonly Observation[];
}

/** An interface that is about to be attached, as it was known at a time. */
export interface Unattached {
  readonly interface: NetworkInterface;
  /** In monotonic ms. */
  readonly knownAt: number;
}

/** What a newer state shows than the one that a memory was taken from. */
export interface Recalled {
  readonly interfaces: readonly NetworkInterface[];
  readonly mentioned: ReadonlySet<string>;
}

/** Until an instance that was not found is looked for again, as a part of the consistency window: a second, mostly. */
const firstPause = 1 / 30;

const noTimes: ReadonlyMap<string, number> = new Map();
const nothingDoubted: ReadonlySet<string> = new Set();
const noneUnreadable: ReadonlyMap<string, UnreadableInterface> = new Map();

export class TrackedInstance {
  readonly id: string;
  readonly #consistencyWindow: number;
  readonly #interfaces: Map<string, HeldInterface>;
  /** Interfaces that our own calls deleted, with the end of that call: readings may still show them. */
  #deleted = noTimes;
  #unreadable = noneUnreadable;
  readonly #memory: PredecessorMemory;
  /** Addresses that another instance claims too, with the time of the claim. */
  #contested = noTimes;
  #instance: Instance | undefined;
  /** Looks in a row that found no interface: whether they showed that the instance exists, and the end of the first. */
  #missing: { readonly isAlive: boolean; readonly since: number } | undefined;
  #read = false;
  #lookDue: number | undefined;
  /** The newest doubt that no look has answered yet: only a look that begins after it does. */
  #doubtedAt: number | undefined;
  #view: InstanceView | undefined;

  constructor(
    id: string,
    recalled: readonly NetworkInterface[],
    consistencyWindow: number,
    recollection?: Recollected,
  ) {
    this.id = id;
    this.#consistencyWindow = consistencyWindow;
    this.#memory = new PredecessorMemory(consistencyWindow, recollection, recalled.length === 0);
    this.#interfaces = new Map(recalled.map((record) => [record.id, recalledInterface(record)]));
  }

  /** The same object as long as nothing changed. */
  get view(): InstanceView {
    this.#view ??= {
      id: this.id,
      read: this.#read,
      interfaces: inOrder([...this.#interfaces.values()].map((held) => held.record)),
      unreadable: [...this.#unreadable.values()].filter((item) => !this.#interfaces.has(item.id)),
      instance: this.#instance,
      unconfirmed: this.#memory.unconfirmed,
      doubted: this.#doubted(),
      lookDue: this.#lookDue,
    };
    return this.#view;
  }

  #doubted(): ReadonlySet<string> {
    const doubts = [...this.#interfaces.values()].flatMap(doubtsAbout);
    return doubts.length === 0 ? nothingDoubted : new Set(doubts);
  }

  /**
   * The memory was taken from a state that was not the newest: what that one shows is remembered as well, and on no other
   * interface. Nothing but a consistency window of readings from now on says more than the memory does.
   */
  recallAlso({ interfaces, mentioned }: Recalled, now: number): boolean {
    this.#memory.mention(mentioned);
    let changed = false;
    for (const shown of interfaces) {
      const held = this.#interfaces.get(shown.id);
      if (held === undefined && this.#deleted.has(shown.id)) continue;
      const isTheirs = notGivenToOthers(this.#interfaces, shown.id, -Infinity);
      const record = onlyWith(shown, isTheirs);
      const next = held === undefined ? recalledInterface(record) : withRecalled(held, record);
      if (next === held) continue;
      this.#interfaces.set(record.id, next);
      const isNew = (holding: string): boolean => held === undefined || next.unseen.has(holding);
      this.#takeFromOthers(record.id, allOn(record).filter(isTheirs).filter(isNew), now);
      this.#memory.recall(record.id);
      this.#due(now);
      changed = true;
    }
    return this.#note(changed);
  }

  /** Another instance claims these addresses too: the next look that begins after `now` decides about them. */
  contest(addresses: readonly string[], now: number): void {
    this.#contested = new Map([...this.#contested, ...addresses.map((address) => [address, now] as const)]);
    this.doubt(now);
  }

  /** Something is unclear since `from`, until a look that begins after it. */
  doubt(from: number): boolean {
    this.#doubtedAt = Math.max(this.#doubtedAt ?? -Infinity, from);
    return this.#due(from);
  }

  /** Whether it has the interface, which a reading that was begun then shows attached to nothing. */
  seenDetached(interfaceId: string, begunAt: number): boolean {
    const held = this.#interfaces.get(interfaceId);
    if (held === undefined) return false;
    // Only what shows it attached, or attached it, says that the reading may be older than that.
    if (begunAt < Math.max(held.shownAt, held.joinedAt) + this.#consistencyWindow) return true;
    // Like a listing that does not show it: what the look says is waited for.
    if (!held.unlisted) this.#interfaces.set(interfaceId, { ...held, unlisted: true });
    this.#note(!held.unlisted);
    this.doubt(begunAt);
    return true;
  }

  /** One piece of a page of a listing. */
  foldListed(observation: Observation, begunAt: number): boolean {
    return this.#fold(observation, this.#reading({ begunAt, endedAt: begunAt, scope: 'listing' }));
  }

  /** The end of a listing that began at `begunAt`. */
  endListing(begunAt: number, isShown: (interfaceId: string) => boolean): boolean {
    return this.#complete(this.#reading({ begunAt, endedAt: begunAt, scope: 'listing' }), isShown);
  }

  foldLook({ begunAt, endedAt, observations }: Look): boolean {
    const before = { lookDue: this.#lookDue, view: this.#view };
    if ((this.#doubtedAt ?? -Infinity) <= begunAt) this.#doubtedAt = undefined;
    this.#lookDue = this.#doubtedAt;
    // The instance first: once it is known to be terminated, one look is proof.
    const instanceFirst = observations.toSorted(
      (a, b) => Number(b.kind === 'instance') - Number(a.kind === 'instance'),
    );
    const reading = (): Reading => this.#reading({ begunAt, endedAt, scope: 'look' });
    let changed = false;
    for (const observation of instanceFirst) changed = this.#fold(observation, reading()) || changed;
    const shown = new Set(observations.flatMap((observation) => interfaceOf(observation) ?? []));
    changed = this.#endLook(reading(), shown) || changed;
    changed = this.#foldMoves(observations, reading()) || changed;
    if (this.#contested.size > 0)
      this.#contested = new Map([...this.#contested].filter(([, since]) => since > begunAt));
    changed ||= this.#lookDue !== before.lookDue;
    this.#view = changed ? undefined : before.view;
    return changed;
  }

  /** Our own call attached an interface; `made` is what was known of it while it was attached to nothing. */
  foldAttached(answer: Attached, made: Unattached | undefined, endedAt: number): boolean {
    const { interfaceId } = answer;
    const isStill = notGivenToOthers(this.#interfaces, interfaceId, made?.knownAt ?? -Infinity);
    // A reading may have shown it before the answer came.
    const held =
      this.#interfaces.get(interfaceId) ?? (made && firstHeld(onlyWith(made.interface, isStill), endedAt));
    if (held === undefined) return false;
    this.#interfaces.set(interfaceId, whenAttached(held, answer, endedAt));
    this.#takeFromOthers(interfaceId, allOn(held.record).filter(isStill), endedAt);
    return this.#note(true);
  }

  /**
   * A reading, folded in by now, is the first to tell that an interface was attached: no other one has what it was made with.
   * Also where that is a listing: what takes it from the others is the answer to our own call.
   */
  foldMet(shown: NetworkInterface, made: Unattached, at: number): boolean {
    const isShown = new Set(allOn(shown));
    const isStill = notGivenToOthers(this.#interfaces, shown.id, made.knownAt);
    const brought = allOn(made.interface).filter((holding) => isShown.has(holding) && isStill(holding));
    return this.#takeFromOthers(shown.id, brought, at);
  }

  /** Our own call gave an interface addresses or prefixes. */
  foldAllocated(answer: Allocated, endedAt: number): boolean {
    const { addresses, prefixes } = answer;
    const hasMoved = this.#takeFromOthers(answer.interfaceId, [...addresses, ...prefixes], endedAt);
    const edited = this.#edit(answer.interfaceId, endedAt, (held) => whenAllocated(held, answer, endedAt));
    return edited || hasMoved;
  }

  /** What one interface was given now, no other of its network has any more, whoever took it from there. */
  #takeFromOthers(interfaceId: string, holdings: readonly string[], at: number): boolean {
    return this.#replace(othersWithout(this.#interfaces, interfaceId, holdings, at));
  }

  #replace(changed: ReadonlyMap<string, HeldInterface>): boolean {
    for (const [id, held] of changed) this.#interfaces.set(id, held);
    return this.#note(changed.size > 0);
  }

  /** What a look shows on one interface, and not on the other one that had it, has moved. The next look is to confirm it. */
  #foldMoves(observations: readonly Observation[], reading: Reading): boolean {
    if (this.#memory.outweighs(reading.begunAt)) return false;
    const shown = new Map(
      observations.flatMap((each) =>
        each.kind === 'interface' ? [[each.interface.id, each.interface]] : [],
      ),
    );
    const readable = new Map([...this.#interfaces].filter(([id]) => !this.#unreadable.has(id)));
    const hasMoved = this.#replace(withoutMoved(readable, shown, reading));
    if (hasMoved) this.#due(reading.endedAt + this.#consistencyWindow);
    return hasMoved;
  }

  /** Our own call took addresses or prefixes from an interface. */
  foldReleased(interfaceId: string, holdings: readonly string[], endedAt: number): boolean {
    return this.#edit(interfaceId, endedAt, (held) => whenReleased(held, holdings, endedAt));
  }

  /** Our own call began to take an interface off the instance: a look without it, a while later, confirms that. */
  foldDetached(interfaceId: string, endedAt: number): boolean {
    return this.#edit(interfaceId, endedAt, (held) => ({
      ...withAttachment(held, { state: 'detaching' }),
      absentSince: endedAt,
    }));
  }

  /** Our own call deleted an interface. */
  foldDeleted(interfaceId: string, endedAt: number): boolean {
    if (!this.#interfaces.delete(interfaceId)) return false;
    this.#deleted = new Map([...this.#deleted, [interfaceId, endedAt]]);
    return this.#note(true);
  }

  /** Our own call saw to it that an interface goes with the instance. */
  foldDeleteOnTermination(interfaceId: string, endedAt: number): boolean {
    return this.#edit(interfaceId, endedAt, (held) => withAttachment(held, { deleteOnTermination: true }));
  }

  /** Our own call gave an interface a public address. */
  foldPublicAddress(interfaceId: string, publicAddress: string, endedAt: number): boolean {
    return this.#edit(interfaceId, endedAt, (held) => whenGivenPublicAddress(held, publicAddress, endedAt));
  }

  /** A call of our own was refused because the interface does not exist: it is in doubt as after a look without it. */
  foldNotFound(interfaceId: string, endedAt: number): boolean {
    const held = this.#interfaces.get(interfaceId);
    if (held === undefined || held.absentSince !== undefined) return false;
    this.#interfaces.set(interfaceId, { ...held, absentSince: endedAt });
    this.doubt(endedAt);
    return this.#note(true);
  }

  /** That an interface could be changed does not say that it is on the instance: a cloud changes a detached one as well. */
  #edit(interfaceId: string, endedAt: number, edit: (held: HeldInterface) => HeldInterface): boolean {
    const held = this.#interfaces.get(interfaceId);
    if (held === undefined) return false;
    this.#interfaces.set(interfaceId, { ...edit(held), asOf: endedAt });
    return this.#note(true);
  }

  #reading(answer: Pick<Reading, 'begunAt' | 'endedAt' | 'scope'>): Reading {
    const contested = [...this.#contested].filter(([, since]) => since <= answer.begunAt);
    return {
      ...answer,
      consistencyWindow: this.#consistencyWindow,
      contested: new Set(contested.map(([address]) => address)),
      terminated: this.#instance?.state === 'terminated',
    };
  }

  #fold(observation: Observation, reading: Reading): boolean {
    switch (observation.kind) {
      case 'instance':
        return this.#setInstance(observation.instance);
      case 'unreadableInterface': {
        const { id } = observation.interface;
        const known = this.#unreadable.get(id);
        this.#unreadable = new Map([...this.#unreadable, [id, observation.interface]]);
        return this.#note(!isSame(known, observation.interface));
      }
      case 'interface':
        return this.#foldInterface(observation.interface, reading);
    }
  }

  #foldInterface(shown: NetworkInterface, reading: Reading): boolean {
    const deletedAt = this.#deleted.get(shown.id) ?? -Infinity;
    if (reading.begunAt < deletedAt + this.#consistencyWindow) return false;
    this.#forgetUnreadable(shown.id);
    if (isPrimary(shown)) this.#forgetAnothers(shown.id);
    const held = this.#interfaces.get(shown.id);
    if (held === undefined) return this.#apply(shown.id, whenFirstShown(shown, reading), reading);
    const screened = this.#memory.screen(held, shown, reading.begunAt);
    this.#note(screened.isNews);
    if (screened.lookFrom !== undefined) this.doubt(screened.lookFrom);
    return this.#apply(shown.id, whenShown(held, screened.shown, reading), reading);
  }

  /**
   * An instance keeps its primary interface for life: what was recalled together with another one, and never was shown,
   * is another instance's, which had the name before.
   */
  #forgetAnothers(primaryId: string): void {
    if (this.#interfaces.has(primaryId)) return;
    const recalled = [...this.#interfaces].filter(([, { asOf }]) => asOf === -Infinity);
    if (!recalled.some(([, { record }]) => isPrimary(record))) return;
    for (const [id] of recalled) this.#interfaces.delete(id);
    this.#note(true);
  }

  #setInstance(instance: Instance): boolean {
    const same = isSame(this.#instance, instance);
    this.#instance = instance;
    return this.#note(!same);
  }

  /** The end of a complete answer: what it did not show is missing. */
  #complete(reading: Reading, isShown: (interfaceId: string) => boolean): boolean {
    const ids = [...this.#interfaces.keys(), ...this.#unreadable.keys()];
    // A listing that shows nothing of an instance may have been made too early, or in other networks.
    const answered = reading.scope === 'look' || ids.some(isShown);
    let changed = this.#note(!this.#read);
    if (answered) this.#read = true;
    else if (!this.#read) this.doubt(reading.begunAt);
    for (const [id, held] of this.#interfaces) {
      if (!isShown(id)) changed = this.#apply(id, whenAbsent(held, reading), reading) || changed;
    }
    for (const id of this.#unreadable.keys()) {
      if (!isShown(id)) changed = this.#dropUnreadable(id, reading) || changed;
    }
    return changed;
  }

  #endLook(reading: Reading, shown: ReadonlySet<string>): boolean {
    const state = this.#instance?.state ?? 'unknown';
    const isAlive = ['pending', 'running', 'stopping', 'stopped'].includes(state);
    const isFound = shown.size > 0 || !(isAlive || state === 'unknown');
    if (isFound) this.#missing = undefined;
    else this.#search(isAlive, reading);
    if (isFound || !isAlive) return this.#complete(reading, (id) => shown.has(id));
    // An instance has its primary interface for as long as it exists: this answer says nothing of its interfaces.
    const changed = this.#note(!this.#read);
    this.#read = true;
    return changed;
  }

  /**
   * An answer without the instance, or without any interface of it, proves nothing: it may have been launched a moment
   * ago, and pods may wait. It is looked for again soon, less and less often: for a consistency window, or as long as it
   * exists.
   */
  #search(isAlive: boolean, { begunAt, endedAt }: Reading): void {
    const missing = this.#missing?.isAlive === isAlive ? this.#missing : { isAlive, since: endedAt };
    this.#missing = missing;
    const window = this.#consistencyWindow;
    const end = missing.since + window;
    const pause = Math.max(endedAt - missing.since, window * firstPause);
    if (begunAt < end) this.#due(Math.min(endedAt + pause, Math.max(endedAt, end)));
    else if (isAlive) this.#due(endedAt + window);
  }

  #dropUnreadable(id: string, reading: Reading): boolean {
    if (reading.scope === 'listing') return this.doubt(reading.begunAt);
    this.#forgetUnreadable(id);
    return this.#note(true);
  }

  #forgetUnreadable(id: string): void {
    if (!this.#unreadable.has(id)) return;
    this.#unreadable = new Map([...this.#unreadable].filter(([other]) => other !== id));
  }

  #apply(id: string, { held, lookDue }: Verdict, reading: Reading): boolean {
    const before = this.#interfaces.get(id);
    const same = isSame(before?.record, held?.record);
    const changed = this.#note(!same || doubtsIn(before) !== doubtsIn(held));
    if (held === undefined) this.#interfaces.delete(id);
    // One record for all who hold it: a listing of thousands that are as they were leaves no copies behind.
    else this.#interfaces.set(id, same && before !== undefined ? { ...held, record: before.record } : held);
    if (lookDue === undefined) return changed;
    if (reading.scope === 'listing') return this.doubt(lookDue) || changed;
    // Whether the time of the next look changed is known once the whole look is folded in.
    this.#due(lookDue);
    return changed;
  }

  #due(at: number): boolean {
    const before = this.#lookDue;
    this.#lookDue = Math.min(before ?? Infinity, at);
    return this.#note(this.#lookDue !== before);
  }

  #note(changed: boolean): boolean {
    if (changed) this.#view = undefined;
    return changed;
  }
}

function doubtsIn(held: HeldInterface | undefined): string {
  return held === undefined ? '' : doubtsAbout(held).join();
}

function inOrder(interfaces: readonly NetworkInterface[]): NetworkInterface[] {
  const index = (item: NetworkInterface): number => item.attachment?.deviceIndex ?? Infinity;
  return interfaces.toSorted((a, b) => index(a) - index(b) || (a.id < b.id ? -1 : 1));
}

function isPrimary({ attachment }: NetworkInterface): boolean {
  return attachment?.deviceIndex === 0 && attachment.networkCard === 0;
}

function onlyWith(record: NetworkInterface, stays: (holding: string) => boolean): NetworkInterface {
  const { addresses, prefixes } = record;
  return { ...record, addresses: addresses.filter(stays), prefixes: prefixes.filter(stays) };
}

function interfaceOf(observation: Observation): string | undefined {
  return observation.kind === 'instance' ? undefined : observation.interface.id;
}

function isSame(a: object | undefined, b: object | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
