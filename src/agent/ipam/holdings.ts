// Which addresses are held, by which owner, for which attachment. Holdings change only by changes that the record can
// repeat: each is applied as a whole, and applying one twice is the same as applying it once.
import type { Family } from '../../blocks/set/cidr.ts';
import type { AddressDetails } from '../allocators/allocator.ts';

/** An address of a pool. */
export interface Place {
  readonly pool: string;
  readonly ip: string;
}

export interface Expiry {
  readonly uuid: string;
  /** Wall clock, in ms. */
  readonly at: number;
  /** From start to end, in ms: a bound for clocks that are set back. */
  readonly timeout: number;
}

export interface Held extends Place {
  readonly owner: string;
  /** When the address is released, unless its timer is stopped before. */
  readonly expiry?: Expiry;
  /**
   * The uid of the pod that shows the address, if nothing else is known about it. The address is held until that pod is
   * gone or a DEL names it.
   */
  readonly uid?: string;
}

/** An interface of a container in a network, as CNI names it. */
export interface AttachmentName {
  readonly network: string;
  readonly container: string;
  readonly interface: string;
}

export interface Attachment extends AttachmentName {
  readonly owner: string;
  /** Uid of the pod, if the runtime names it. */
  readonly uid?: string;
  readonly netns?: string;
  /** Wall clock, in ms. */
  readonly since: number;
  readonly places: readonly Place[];
}

export type Blocks = Readonly<Partial<Record<Family, string>>>;

/** The gateway of each block that pods have or may have addresses of. */
export type Routers = Readonly<Record<string, string>>;

/** A block of a pool that pods may get addresses of. */
export interface RememberedBlock {
  readonly cidr: string;
  readonly allowsFirst: boolean;
  readonly allowsLast: boolean;
  readonly details: AddressDetails;
}

export interface RememberedPool {
  readonly pool: string;
  /** The families of which each pod gets an address. */
  readonly families: readonly Family[];
  readonly blocks: readonly RememberedBlock[];
}

/** Blocks that this node stops using with a write that may have arrived or may yet. */
export interface Leaving {
  /** The version of the object that the write was computed from. */
  readonly version: string;
  readonly blocks: readonly string[];
}

/** How long an address rests after its release. Wall clock, in ms. */
export interface Rest {
  readonly since: number;
  readonly until: number;
}

/** Members are applied in this order. */
export interface Change {
  readonly free?: readonly Place[];
  /** How long the addresses in `free` rest. */
  readonly rest?: Rest;
  readonly detach?: readonly AttachmentName[];
  readonly hold?: readonly Held[];
  readonly attach?: Attachment;
  /** Replaces the blocks of this node. */
  readonly blocks?: Blocks;
  /** Replaces the routers known before. */
  readonly routers?: Routers;
  /** Replaces the pools known before. */
  readonly pools?: readonly RememberedPool[];
  /** Replaces the leaving blocks known before. */
  readonly leaving?: Leaving;
  /** Whether holdings are still to be learned from the pods of this node. */
  readonly rebuilding?: boolean;
}

export function attachmentKey({ network, container, interface: name }: AttachmentName): string {
  return `${network}/${container}/${name}`;
}

export function placeKey({ pool, ip }: Place): string {
  return `${pool}/${ip}`;
}

export class Holdings {
  readonly #held = new Map<string, Held>();
  readonly #attachments = new Map<string, Attachment>();
  /** The attachment of each address that has one. */
  readonly #attachedTo = new Map<string, Attachment>();
  /** Addresses that are free, and are given last for a while. */
  readonly #resting = new Map<string, Rest & Place>();
  #blocks: Blocks = {};
  #routers: Routers = {};
  #pools: readonly RememberedPool[] = [];
  #leaving: Leaving = { version: '', blocks: [] };
  #isRebuilding = false;

  get size(): number {
    return this.#held.size;
  }

  get blocks(): Blocks {
    return this.#blocks;
  }

  get routers(): Routers {
    return this.#routers;
  }

  get pools(): readonly RememberedPool[] {
    return this.#pools;
  }

  get leaving(): Leaving {
    return this.#leaving;
  }

  /** Whether the addresses that pods hold are not known yet. No address may be given out until they are. */
  get isRebuilding(): boolean {
    return this.#isRebuilding;
  }

  held(): Iterable<Held> {
    return this.#held.values();
  }

  attachments(): Iterable<Attachment> {
    return this.#attachments.values();
  }

  at(place: Place): Held | undefined {
    return this.#held.get(placeKey(place));
  }

  /**
   * When the rest of an address ends; undefined if the address may be given out. A wall clock that was set back ends the
   * rest.
   */
  restOf(place: Place, now: number): number | undefined {
    const rest = this.#resting.get(placeKey(place));
    return rest !== undefined && now >= rest.since && now < rest.until ? rest.until : undefined;
  }

  attachment(name: AttachmentName): Attachment | undefined {
    return this.#attachments.get(attachmentKey(name));
  }

  /** The attachment that holds the address; undefined if only an owner does. */
  attachmentOf(place: Place): Attachment | undefined {
    return this.#attachedTo.get(placeKey(place));
  }

  apply({ free = [], rest, detach = [], hold = [], attach, ...others }: Change): void {
    for (const place of free) this.#held.delete(placeKey(place));
    if (rest !== undefined) this.#rest(free, rest);
    for (const name of detach) this.#detach(name);
    for (const held of hold) this.#hold(held);
    if (attach !== undefined) this.#attach(attach);
    this.#replace(others);
  }

  #hold(held: Held): void {
    this.#held.set(placeKey(held), held);
    this.#resting.delete(placeKey(held));
  }

  /** Lets released addresses rest, and forgets those that have rested long enough. */
  #rest(places: readonly Place[], { since, until }: Rest): void {
    for (const [key, earlier] of this.#resting) if (earlier.until <= since) this.#resting.delete(key);
    for (const { pool, ip } of places) this.#resting.set(placeKey({ pool, ip }), { pool, ip, since, until });
  }

  #replace({ blocks, routers, pools, leaving, rebuilding }: Change): void {
    this.#blocks = blocks ?? this.#blocks;
    this.#routers = routers ?? this.#routers;
    this.#pools = pools ?? this.#pools;
    this.#leaving = leaving ?? this.#leaving;
    this.#isRebuilding = rebuilding ?? this.#isRebuilding;
  }

  /** Changes that lead from nothing to this state. */
  *changes(): Generator<Change> {
    yield {
      blocks: this.#blocks,
      routers: this.#routers,
      pools: this.#pools,
      leaving: this.#leaving,
      rebuilding: this.#isRebuilding,
    };
    for (const { pool, ip, since, until } of this.#resting.values())
      yield { free: [{ pool, ip }], rest: { since, until } };
    for (const held of this.#held.values()) if (this.attachmentOf(held) === undefined) yield { hold: [held] };
    for (const attach of this.#attachments.values())
      yield { hold: attach.places.flatMap((place) => this.at(place) ?? []), attach };
  }

  #attach(attachment: Attachment): void {
    this.#detach(attachment);
    this.#attachments.set(attachmentKey(attachment), attachment);
    for (const place of attachment.places) this.#attachedTo.set(placeKey(place), attachment);
  }

  #detach(name: AttachmentName): void {
    const known = this.#attachments.get(attachmentKey(name));
    if (known === undefined) return;
    this.#attachments.delete(attachmentKey(name));
    for (const place of known.places) {
      if (this.#attachedTo.get(placeKey(place)) === known) this.#attachedTo.delete(placeKey(place));
    }
  }
}
