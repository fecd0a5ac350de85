// The memory of interfaces that belong to this cluster and are attached to nothing, and of what this process has under
// way with them. It asks nobody anything: readings are folded in, and who acts on an interface claims it first.
import type { NetworkInterface } from './network-interface.ts';
import { dueForCollection, fitnessOf, type Orphan } from './orphan-standing.ts';
import { instanceTag, operationTag } from './ownership-tags.ts';

/** What may be left of one instance. */
export interface InstanceOrphans {
  /** False while a reading is still to tell what is left of it: until then nothing new is to be made. */
  readonly read: boolean;
  /** To be attached rather than that a new one is created, in order of their ids. */
  readonly fit: readonly NetworkInterface[];
  /** Seen once: the next reading tells whether somebody else is attaching them. */
  readonly unclear: readonly NetworkInterface[];
}

/** A complete reading of the detached interfaces. */
export interface OrphanReading {
  /** When it was begun, and when its answer was complete, in monotonic ms. */
  readonly begunAt: number;
  readonly endedAt: number;
  readonly interfaces: readonly NetworkInterface[];
}

/** An interface that nobody else of this process acts on until it is released. */
export interface OrphanClaim {
  readonly interface: NetworkInterface;
  /**
   * `gone`: it is attached, or does not exist any more. `unfit`: it cannot be attached. `kept`: it is as it was.
   */
  release(end: 'gone' | 'unfit' | 'kept'): void;
}

export interface OrphansOptions {
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
  /** When a call of ours last changed what an interface has, in monotonic ms; -Infinity where none did of late. */
  readonly changedAt: (interfaceId: string) => number;
  /**
   * Whether an instance still has it, as far as is known. Asked of each interface that a reading shows attached to nothing;
   * `begunAt` is that of the reading, in monotonic ms.
   */
  readonly isHeld: (interfaceId: string, begunAt: number) => boolean;
  /** A creation of ours ended and may have left an interface: a reading has to tell. */
  readonly onLeft: () => void;
}

interface Sighting {
  readonly interface: NetworkInterface;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly held: boolean;
}

const nothing: InstanceOrphans = { read: true, fit: [], unclear: [] };
/** Creations that left something and are remembered. */
const mostEnded = 1000;

export class Orphans {
  readonly #options: OrphansOptions;
  #sightings: ReadonlyMap<string, Sighting> = new Map();
  #byInstance: ReadonlyMap<string, readonly Sighting[]> = new Map();
  readonly #claimed = new Set<string>();
  readonly #unfit = new Set<string>();
  readonly #underway = new Set<string>();
  /** Creations of ours that ended and may have left an interface, the oldest first. */
  readonly #ended = new Set<string>();
  /** Since when it is open what a creation left of an instance. */
  readonly #open = new Map<string, number>();
  /** When the newest reading that ended was begun, whether or not it succeeded. */
  #answeredAt: number | undefined;

  constructor(options: OrphansOptions) {
    this.#options = options;
  }

  fold({ begunAt, endedAt, interfaces }: OrphanReading): void {
    const before = this.#sightings;
    const sightings = interfaces.map((item): [string, Sighting] => {
      const firstAt = before.get(item.id)?.firstAt ?? endedAt;
      const held = this.#options.isHeld(item.id, begunAt);
      return [item.id, { interface: item, firstAt, lastAt: begunAt, held }];
    });
    this.#replace(new Map(sightings));
    for (const id of this.#unfit) if (!this.#sightings.has(id)) this.#unfit.delete(id);
    this.#answered(begunAt);
  }

  /** A reading that was begun then failed: nobody waits for it any longer. */
  failed(begunAt: number): void {
    this.#answered(begunAt);
  }

  /** A creation begins. The function it returns ends it: with the id of the instance where it may have left something. */
  begin(operationId: string): (left?: { readonly instanceId: string; readonly at: number }) => void {
    this.#underway.add(operationId);
    return (left) => {
      this.#underway.delete(operationId);
      if (left === undefined) return;
      this.#ended.add(operationId);
      const [oldest] = this.#ended;
      if (this.#ended.size > mostEnded && oldest !== undefined) this.#ended.delete(oldest);
      this.#open.set(left.instanceId, left.at);
      this.#options.onLeft();
    };
  }

  /** What may be left of an instance. */
  of(instanceId: string): InstanceOrphans {
    const answeredAt = this.#answeredAt ?? -Infinity;
    const read = this.#answeredAt !== undefined && answeredAt >= (this.#open.get(instanceId) ?? -Infinity);
    const sightings = this.#byInstance.get(instanceId) ?? [];
    if (read && sightings.length === 0) return nothing;
    const { consistencyWindow } = this.#options;
    const orphans = sightings.map((sighting) => this.#orphan(sighting));
    const having = (fitness: string): readonly Orphan[] =>
      orphans.filter((orphan) => fitnessOf(orphan, consistencyWindow) === fitness);
    return {
      read,
      fit: having('fit').map((orphan) => orphan.interface),
      // Where the reading that was to tell has failed, nobody waits for another.
      unclear: having('unclear')
        .filter(({ firstAt }) => answeredAt < firstAt + consistencyWindow)
        .map((orphan) => orphan.interface),
    };
  }

  /** Undefined where it is not known, or somebody else of this process acts on it. */
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

  /** Whether a node may be waiting for the next reading. */
  get isAwaited(): boolean {
    return this.#answeredAt === undefined || this.#open.size > 0 || this.hasUnclear;
  }

  /** Whether only a reading one consistency window later tells whether some of them may be attached. */
  get hasUnclear(): boolean {
    const { consistencyWindow } = this.#options;
    return this.all().some((orphan) => fitnessOf(orphan, consistencyWindow) === 'unclear');
  }

  /** Those to be deleted now. */
  due(limits: { readonly interval: number; readonly most: number }): readonly Orphan[] {
    return dueForCollection(this.all(), limits);
  }

  all(): readonly Orphan[] {
    return [...this.#sightings.values()].map((sighting) => this.#orphan(sighting));
  }

  #orphan(sighting: Sighting): Orphan {
    const { id, tags } = sighting.interface;
    const operationId = tags[operationTag] ?? '';
    const ours = this.#ended.has(operationId) ? 'ended' : 'unknown';
    return {
      ...sighting,
      changedAt: this.#options.changedAt(id),
      claimed: this.#claimed.has(id),
      unfit: this.#unfit.has(id),
      operation: this.#underway.has(operationId) ? 'underway' : ours,
    };
  }

  #answered(begunAt: number): void {
    this.#answeredAt = begunAt;
    for (const [instanceId, since] of this.#open) if (since <= begunAt) this.#open.delete(instanceId);
  }

  #forget(interfaceId: string): void {
    const rest = new Map(this.#sightings);
    rest.delete(interfaceId);
    this.#replace(rest);
  }

  #replace(sightings: ReadonlyMap<string, Sighting>): void {
    this.#sightings = sightings;
    const all = [...sightings.values()].sort((a, b) => (a.interface.id < b.interface.id ? -1 : 1));
    this.#byInstance = Map.groupBy(all, (sighting) => sighting.interface.tags[instanceTag] ?? '');
  }
}
