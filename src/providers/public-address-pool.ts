// Hands the account's public addresses out to the nodes that want one of certain tags. Many nodes share one listing, and
// what one node was handed no other gets. It asks the cloud rarely: again only when a listing has nothing left to hand
// out, and ever more rarely as long as there is nothing.
import type { Clock } from '../scheduling/clock.ts';
import { doneOrAborted } from '../scheduling/done-or-aborted.ts';
import type { BackoffPolicy } from '../scheduling/exponential-backoff.ts';
import { FailureStreak } from '../scheduling/failure-streak.ts';
import type { Random } from '../scheduling/random.ts';
import type { AllocationImplementation } from './allocation-implementation.ts';
import { CloudError, type CloudFailure } from './cloud-failure.ts';
import type { Tags } from './network-interface.ts';
import type { PublicAddress } from './public-address.ts';

export interface PublicAddressPoolOptions {
  readonly implementation: Pick<AllocationImplementation, 'readPublicAddresses'>;
  readonly clock: Clock;
  readonly random: Random;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
}

export type PublicAddressClaim =
  | {
      readonly kind: 'claimed';
      readonly address: PublicAddress;
      /** To be called once: `free` when the address may be handed to others at once. */
      readonly settle: (as: 'free' | 'taken') => void;
    }
  /** The interface has this one already, as the cloud shows it. */
  | { readonly kind: 'held'; readonly address: PublicAddress }
  /** `retryAt`: when the cloud is asked again at the earliest, in monotonic ms. */
  | { readonly kind: 'noneMatches' | 'noneFree'; readonly retryAt: number }
  | { readonly kind: 'failed'; readonly failure: CloudFailure; readonly retryAt: number };

/** What is known of the addresses of one set of tags. */
interface Shelf {
  addresses: readonly PublicAddress[];
  /** When the listing that showed them was asked for, in monotonic ms. */
  begunAt: number;
  failure: CloudFailure | undefined;
  /** Listings in a row that had nothing to hand out: ever longer between them. */
  readonly vain: FailureStreak;
  listing: Promise<void> | undefined;
}

const policy: BackoffPolicy = { base: 30_000, cap: 600_000 };
/** A listing is not handed out of for longer than this, in ms: others take addresses too. */
const freshFor = 60_000;
const urgency = (): 'housekeeping' => 'housekeeping';

export class PublicAddressPool {
  readonly #options: PublicAddressPoolOptions;
  readonly #shelves = new Map<string, Shelf>();
  /** Ids of addresses that are handed out and not settled. */
  readonly #claimed = new Set<string>();
  /** Ids of addresses that are taken whatever a listing shows that began before that time. */
  readonly #takenUntil = new Map<string, number>();
  readonly #stopping = new AbortController();

  constructor(options: PublicAddressPoolOptions) {
    this.#options = options;
  }

  /** An address with all of these tags for an interface. Rejects with the reason of `signal`. */
  async claim(tags: Tags, interfaceId: string, signal: AbortSignal): Promise<PublicAddressClaim> {
    const shelf = this.#shelfOf(tags);
    if (!this.#offers(shelf, interfaceId) && !shelf.vain.isPausing) {
      shelf.listing ??= this.#list(shelf, tags).finally(() => (shelf.listing = undefined));
    }
    if (shelf.listing !== undefined) await doneOrAborted(shelf.listing, signal);
    signal.throwIfAborted();
    return this.#take(shelf, interfaceId);
  }

  /** Ends the listings under way and begins no other; resolves once they have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled([...this.#shelves.values()].flatMap(({ listing }) => listing ?? []));
  }

  #take(shelf: Shelf, interfaceId: string): PublicAddressClaim {
    const retryAt = Math.max(shelf.vain.until, this.#options.clock.monotonic());
    if (shelf.failure !== undefined) return { kind: 'failed', failure: shelf.failure, retryAt };
    const held = this.#heldBy(shelf, interfaceId);
    if (held !== undefined) return { kind: 'held', address: held };
    const address = this.#free(shelf);
    if (address === undefined)
      return { kind: shelf.addresses.length === 0 ? 'noneMatches' : 'noneFree', retryAt };
    this.#claimed.add(address.id);
    return { kind: 'claimed', address, settle: (as) => this.#settle(address.id, as) };
  }

  #settle(id: string, as: 'free' | 'taken'): void {
    const { clock, consistencyWindow } = this.#options;
    this.#claimed.delete(id);
    if (as === 'taken') this.#takenUntil.set(id, clock.monotonic() + consistencyWindow);
  }

  /** Whether there is an answer for the interface without asking the cloud. */
  #offers(shelf: Shelf, interfaceId: string): boolean {
    if (shelf.failure !== undefined) return false;
    return this.#heldBy(shelf, interfaceId) !== undefined || this.#free(shelf) !== undefined;
  }

  #heldBy(shelf: Shelf, interfaceId: string): PublicAddress | undefined {
    return this.#fresh(shelf).find((item) => item.interfaceId === interfaceId);
  }

  #fresh({ addresses, begunAt }: Shelf): readonly PublicAddress[] {
    return this.#options.clock.monotonic() < begunAt + freshFor ? addresses : [];
  }

  #free(shelf: Shelf): PublicAddress | undefined {
    return this.#fresh(shelf).find(
      ({ id, taken }) =>
        !taken && !this.#claimed.has(id) && shelf.begunAt >= (this.#takenUntil.get(id) ?? -Infinity),
    );
  }

  async #list(shelf: Shelf, tags: Tags): Promise<void> {
    const { implementation } = this.#options;
    const { signal } = this.#stopping;
    try {
      Object.assign(shelf, await implementation.readPublicAddresses(tags, { urgency, signal }), {
        failure: undefined,
      });
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      shelf.failure = error.failure;
    }
    const found = shelf.failure === undefined && this.#free(shelf) !== undefined;
    // What had something is asked for again too, after the shortest pause.
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
      begunAt: -Infinity,
      failure: undefined,
      vain: new FailureStreak(policy, this.#options),
      listing: undefined,
    };
    this.#shelves.set(key, shelf);
    return shelf;
  }

  /** What nobody has asked for in a long while. */
  #forget(): void {
    const now = this.#options.clock.monotonic();
    for (const [key, { vain, listing }] of this.#shelves) {
      if (listing === undefined && now >= vain.until + policy.cap) this.#shelves.delete(key);
    }
    for (const [id, until] of this.#takenUntil) if (now >= until + freshFor) this.#takenUntil.delete(id);
  }
}
