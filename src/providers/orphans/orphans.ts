// Remembers the orphaned interfaces of this cluster and what this process is doing with them. Makes no calls: reads are
// applied, and a caller claims an interface before it acts on it.
import type { NetworkInterface } from '../contract/network-interface.ts';
import { type CollectionLimits, dueForCollection, fitnessOf, type Orphan } from './orphan-eligibility.ts';
import { instanceTag, operationTag } from './ownership-tags.ts';

export interface InstanceOrphans {
  /** False while a pending read may still show some: create no new interface until then. */
  readonly read: boolean;
  /** To attach instead of creating a new interface, ordered by id. */
  readonly fit: readonly NetworkInterface[];
  /**
   * Seen once, or no longer: another process may have attached them. The next read shows the former; a read of the
   * instance, the latter.
   */
  readonly unclear: readonly NetworkInterface[];
}

/** A complete read of the detached interfaces. */
export interface OrphanReading {
  /** When it began and when its answer was complete, in monotonic ms. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly interfaces: readonly NetworkInterface[];
}

/** Exclusive right within this process to act on an interface, until released. */
export interface OrphanClaim {
  readonly interface: NetworkInterface;
  /** `gone`: it is attached or no longer exists. `unfit`: it cannot be attached. `kept`: it is unchanged. */
  release(end: 'gone' | 'unfit' | 'kept'): void;
}

export interface OrphansOptions {
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
  /** When our own call last changed the addresses of an interface, in monotonic ms; -Infinity if none did recently. */
  readonly changedAt: (interfaceId: string) => number;
  /**
   * Whether an instance is believed to still hold the interface. Called for each interface that a read shows detached;
   * `startedAt` is when that read began, in monotonic ms.
   */
  readonly isHeld: (interfaceId: string, startedAt: number) => boolean;
  /** Our creation ended and may have left an interface: a read must show it. */
  readonly onLeft: () => void;
}

interface Sighting {
  readonly interface: NetworkInterface;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly held: boolean;
  /** Our own creation was in flight: we attach it. */
  readonly isOurs: boolean;
}

/** No longer shown, from `at` on, in monotonic ms. */
interface Missed {
  readonly interface: NetworkInterface;
  readonly at: number;
}

const nothing: InstanceOrphans = { read: true, fit: [], unclear: [] };
/** Maximum number of remembered creations that may have left an interface. */
const maxEndedCreations = 1000;

export class Orphans {
  readonly #options: OrphansOptions;
  #sightings: ReadonlyMap<string, Sighting> = new Map();
  #byInstance: ReadonlyMap<string, readonly Sighting[]> = new Map();
  #missed: ReadonlyMap<string, Missed> = new Map();
  readonly #claimed = new Set<string>();
  readonly #unfit = new Set<string>();
  readonly #inFlight = new Set<string>();
  /** Our creations that ended and may have left an interface, oldest first. */
  readonly #ended = new Set<string>();
  /** Instances whose creation may have left an interface, with the time since when a read is needed. */
  readonly #open = new Map<string, number>();
  /** When the newest ended read began, with or without success. */
  #answeredAt: number | undefined;

  constructor(options: OrphansOptions) {
    this.#options = options;
  }

  /**
   * Returns the instances of interfaces that this read no longer shows, though we did nothing with them: another process,
   * such as a former leader whose call took effect late, may have attached them.
   */
  apply({ startedAt, endedAt, interfaces }: OrphanReading): ReadonlySet<string> {
    const before = this.#sightings;
    const sightings = interfaces.map((item): [string, Sighting] => {
      const firstAt = before.get(item.id)?.firstAt ?? endedAt;
      const held = this.#options.isHeld(item.id, startedAt);
      const isOurs = this.#inFlight.has(operationOf(item));
      return [item.id, { interface: item, firstAt, lastAt: startedAt, held, isOurs }];
    });
    this.#replace(new Map(sightings));
    for (const id of this.#unfit) if (!this.#sightings.has(id)) this.#unfit.delete(id);
    this.#answered(startedAt);
    return this.#miss(before, { startedAt, endedAt });
  }

  /** A read that began at `startedAt` failed: nodes stop waiting for it. */
  failed(startedAt: number): void {
    this.#answered(startedAt);
  }

  /**
   * Starts a creation. The returned function ends it; pass the instance id and time if it may have left an interface.
   */
  beginCreation(operationId: string): (left?: { readonly instanceId: string; readonly at: number }) => void {
    this.#inFlight.add(operationId);
    return (left) => {
      this.#inFlight.delete(operationId);
      if (left === undefined) return;
      this.#ended.add(operationId);
      const [oldest] = this.#ended;
      if (this.#ended.size > maxEndedCreations && oldest !== undefined) this.#ended.delete(oldest);
      this.#open.set(left.instanceId, left.at);
      this.#options.onLeft();
    };
  }

  /** Orphaned interfaces of an instance. */
  of(instanceId: string): InstanceOrphans {
    const answeredAt = this.#answeredAt ?? -Infinity;
    const read = this.#answeredAt !== undefined && answeredAt >= (this.#open.get(instanceId) ?? -Infinity);
    const sightings = this.#byInstance.get(instanceId) ?? [];
    const missed = [...this.#missed.values()].filter((each) => instanceOf(each.interface) === instanceId);
    if (read && sightings.length === 0 && missed.length === 0) return nothing;
    const { consistencyWindow } = this.#options;
    const orphans = sightings.map((sighting) => this.#orphan(sighting));
    const having = (fitness: string): readonly Orphan[] =>
      orphans.filter((orphan) => fitnessOf(orphan, consistencyWindow) === fitness);
    return {
      read,
      fit: having('fit').map((orphan) => orphan.interface),
      // If the confirming read failed, do not wait for another one.
      unclear: [...having('unclear').map((each) => ({ ...each, at: each.firstAt })), ...missed]
        .filter(({ at }) => answeredAt < at + consistencyWindow)
        .map((each) => each.interface),
    };
  }

  /** Undefined if the interface is unknown or already claimed. */
  claim(interfaceId: string): OrphanClaim | undefined {
    const sighting = this.#sightings.get(interfaceId);
    if (sighting === undefined || this.#claimed.has(interfaceId)) return undefined;
    this.#claimed.add(interfaceId);
    return {
      interface: sighting.interface,
      release: (end) => {
        this.#claimed.delete(interfaceId);
        if (end === 'unfit') this.#unfit.add(interfaceId);
        if (end === 'gone') this.#forget(interfaceId);
      },
    };
  }

  /** Whether a node may be waiting for the next read. */
  get isAwaited(): boolean {
    return this.#answeredAt === undefined || this.#open.size > 0 || this.hasUnclear;
  }

  /** Whether a read one consistency window later must confirm some interfaces before nodes go on. */
  get hasUnclear(): boolean {
    const { consistencyWindow } = this.#options;
    if (this.#missed.size > 0) return true;
    return this.all().some((orphan) => fitnessOf(orphan, consistencyWindow) === 'unclear');
  }

  /** The orphaned interfaces to delete now. */
  due(limits: CollectionLimits): readonly Orphan[] {
    return dueForCollection(this.all(), limits);
  }

  all(): readonly Orphan[] {
    return [...this.#sightings.values()].map((sighting) => this.#orphan(sighting));
  }

  #orphan(sighting: Sighting): Orphan {
    const { id } = sighting.interface;
    const operationId = operationOf(sighting.interface);
    const ours = this.#ended.has(operationId) ? 'ended' : 'unknown';
    return {
      ...sighting,
      changedAt: this.#options.changedAt(id),
      claimed: this.#claimed.has(id),
      unfit: this.#unfit.has(id),
      operation: this.#inFlight.has(operationId) ? 'inFlight' : ours,
    };
  }

  #answered(startedAt: number): void {
    this.#answeredAt = startedAt;
    for (const [instanceId, since] of this.#open) if (since <= startedAt) this.#open.delete(instanceId);
  }

  #miss(
    before: ReadonlyMap<string, Sighting>,
    { startedAt, endedAt }: Pick<OrphanReading, 'startedAt' | 'endedAt'>,
  ): ReadonlySet<string> {
    const isShown = (id: string): boolean => this.#sightings.has(id);
    const isUntouched = ([id, { held, isOurs }]: [string, Sighting]): boolean =>
      !isShown(id) && !held && !isOurs && !this.#claimed.has(id);
    const missed = [...before].filter(isUntouched);
    const { consistencyWindow } = this.#options;
    const still = [...this.#missed].filter(
      ([id, { at }]) => !isShown(id) && startedAt < at + consistencyWindow,
    );
    const now = missed.map(([id, { interface: item }]) => [id, { interface: item, at: endedAt }] as const);
    this.#missed = new Map([...still, ...now]);
    return new Set(missed.map(([, { interface: item }]) => instanceOf(item)).filter((id) => id !== ''));
  }

  #forget(interfaceId: string): void {
    const rest = new Map(this.#sightings);
    rest.delete(interfaceId);
    this.#replace(rest);
  }

  #replace(sightings: ReadonlyMap<string, Sighting>): void {
    this.#sightings = sightings;
    const all = [...sightings.values()].sort((a, b) => (a.interface.id < b.interface.id ? -1 : 1));
    this.#byInstance = Map.groupBy(all, (sighting) => instanceOf(sighting.interface));
  }
}

/** The instance that it was made for; empty if its tags name none. */
function instanceOf({ tags }: NetworkInterface): string {
  return tags[instanceTag] ?? '';
}

/** The operation that made it; empty if its tags name none. */
function operationOf({ tags }: NetworkInterface): string {
  return tags[operationTag] ?? '';
}
