// Assigns the account's public addresses to nodes that request one with given tags. Nodes share one listing, and each
// address goes to one node only. Lists again only when nothing is free, with growing delays.
import { raceAbort } from '../../runtime/race-abort.ts';
import { Backoff, type BackoffPolicy } from '../../runtime/backoff.ts';
import type { CloudReader } from '../contract/cloud.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import type { Tags, PublicAddress } from '../contract/network-interface.ts';
import { type Caller, type Priority, priorities, rankOf } from '../contract/priority.ts';

export interface PublicAddressWish {
  readonly tags: Tags;
  readonly interfaceId: string;
  /** How urgent it is now. */
  readonly caller: Caller;
}

/** `free`: the address can go to another node at once. `refused`: the cloud does not give it to anyone now. */
export type EndOfClaim = 'free' | 'taken' | 'refused';

export type PublicAddressClaim =
  | {
      readonly kind: 'claimed';
      readonly address: PublicAddress;
      /** Call once. */
      readonly settle: (as: EndOfClaim) => void;
    }
  /** The cloud shows that the interface already has this address. */
  | { readonly kind: 'held'; readonly address: PublicAddress }
  /** `retryAt`: the earliest time of the next listing, in monotonic ms. */
  | { readonly kind: 'noneMatches' | 'noneFree'; readonly retryAt: number }
  | { readonly kind: 'failed'; readonly failure: CloudFailure; readonly retryAt: number };

/** Known addresses for one set of tags. */
interface Shelf {
  addresses: readonly PublicAddress[];
  /** When the listing that showed them was requested, in monotonic ms. */
  startedAt: number;
  failure: CloudFailure | undefined;
  /** Backoff between listings; grows with consecutive listings without a free address. */
  readonly vain: Backoff;
  listing: Promise<void> | undefined;
  /** Those who wait for the listing. It is as urgent as the most urgent of them. */
  readonly waiting: Set<PublicAddressWish>;
}

const policy: BackoffPolicy = { base: 30_000, cap: 600_000 };
/** Maximum age of a listing, in ms: others take addresses too. */
const freshFor = 60_000;

export class PublicAddressPool {
  readonly #reader: CloudReader;
  readonly #consistencyWindow: number;
  readonly #shelves = new Map<string, Shelf>();
  /** Ids of addresses assigned but not settled. */
  readonly #claimed = new Set<string>();
  /** Ids of addresses in use, and sources with none left, whatever a listing that began before the given time shows. */
  readonly #takenUntil = new Map<string, number>();
  readonly #stopping = new AbortController();

  /** `consistencyWindow`: how long the cloud may take to show a change, in ms. */
  constructor(reader: CloudReader, consistencyWindow: number) {
    this.#reader = reader;
    this.#consistencyWindow = consistencyWindow;
  }

  /** Claims an address with all of these tags for an interface. Rejects with the reason of `signal`. */
  async claim(wish: PublicAddressWish, signal: AbortSignal): Promise<PublicAddressClaim> {
    const { tags, interfaceId } = wish;
    const shelf = this.#shelfOf(tags);
    const isMoreUrgent = rankOf(wish.caller.priority) < rankOf(highestOf(shelf.waiting));
    shelf.waiting.add(wish);
    if (shelf.listing !== undefined && isMoreUrgent) this.#reader.implementation.reconsider();
    try {
      if (!this.#offers(shelf, interfaceId) && !shelf.vain.isPausing) {
        shelf.listing ??= this.#list(shelf, tags).finally(() => (shelf.listing = undefined));
      }
      if (shelf.listing !== undefined) await raceAbort(shelf.listing, signal);
    } finally {
      shelf.waiting.delete(wish);
    }
    signal.throwIfAborted();
    return this.#take(shelf, interfaceId);
  }

  /** Aborts the listings in flight and starts no other. Resolves once they have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled([...this.#shelves.values()].flatMap(({ listing }) => listing ?? []));
  }

  #take(shelf: Shelf, interfaceId: string): PublicAddressClaim {
    const retryAt = Math.max(shelf.vain.until, this.#reader.clock.monotonic());
    if (shelf.failure !== undefined) return { kind: 'failed', failure: shelf.failure, retryAt };
    const held = this.#heldBy(shelf, interfaceId);
    if (held !== undefined) return { kind: 'held', address: held };
    const address = this.#free(shelf);
    if (address === undefined)
      return { kind: shelf.addresses.length === 0 ? 'noneMatches' : 'noneFree', retryAt };
    this.#claimed.add(address.id);
    return { kind: 'claimed', address, settle: (as) => this.#settle(address, as) };
  }

  #settle({ id, source }: PublicAddress, as: EndOfClaim): void {
    const { clock } = this.#reader;
    const consistencyWindow = this.#consistencyWindow;
    this.#claimed.delete(id);
    if (as === 'free') return;
    const taken = as === 'refused' ? (source ?? id) : id;
    this.#takenUntil.set(taken, clock.monotonic() + consistencyWindow);
  }

  /** Whether the interface can be answered without a listing. */
  #offers(shelf: Shelf, interfaceId: string): boolean {
    if (shelf.failure !== undefined) return false;
    return this.#heldBy(shelf, interfaceId) !== undefined || this.#free(shelf) !== undefined;
  }

  #heldBy(shelf: Shelf, interfaceId: string): PublicAddress | undefined {
    return this.#fresh(shelf).find((item) => item.interfaceId === interfaceId);
  }

  #fresh({ addresses, startedAt }: Shelf): readonly PublicAddress[] {
    return this.#reader.clock.monotonic() < startedAt + freshFor ? addresses : [];
  }

  #free(shelf: Shelf): PublicAddress | undefined {
    return this.#fresh(shelf).find(
      ({ id, taken, source = id }) =>
        !taken &&
        !this.#claimed.has(id) &&
        [id, source].every((each) => shelf.startedAt >= (this.#takenUntil.get(each) ?? -Infinity)),
    );
  }

  async #list(shelf: Shelf, tags: Tags): Promise<void> {
    const { implementation } = this.#reader;
    const { signal } = this.#stopping;
    const caller = {
      get priority() {
        return highestOf(shelf.waiting);
      },
    };
    try {
      const { startedAt, addresses } = await implementation.readPublicAddresses(tags, { caller, signal });
      shelf.startedAt = startedAt;
      shelf.addresses = addresses;
      shelf.failure = undefined;
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      shelf.failure = error.failure;
    }
    const found = shelf.failure === undefined && this.#free(shelf) !== undefined;
    // After a successful listing too, wait at least the shortest delay.
    if (found) shelf.vain.forget();
    shelf.vain.fail();
    this.#forget();
  }

  #shelfOf(tags: Tags): Shelf {
    const key = JSON.stringify(Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1)));
    const known = this.#shelves.get(key);
    if (known !== undefined) return known;
    const shelf: Shelf = {
      addresses: [],
      startedAt: -Infinity,
      failure: undefined,
      vain: new Backoff(policy, this.#reader),
      listing: undefined,
      waiting: new Set(),
    };
    this.#shelves.set(key, shelf);
    return shelf;
  }

  /** Forgets tags and addresses that no node has asked for recently. */
  #forget(): void {
    const now = this.#reader.clock.monotonic();
    for (const [key, { vain, listing }] of this.#shelves) {
      if (listing === undefined && now >= vain.until + policy.cap) this.#shelves.delete(key);
    }
    for (const [id, until] of this.#takenUntil) if (now >= until + freshFor) this.#takenUntil.delete(id);
  }
}

function highestOf(wishes: Iterable<PublicAddressWish>): Priority {
  const asked = new Set([...wishes].map(({ caller }) => caller.priority));
  return priorities.find((each) => asked.has(each)) ?? 'housekeeping';
}
