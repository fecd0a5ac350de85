// Reads the cloud as a whole: rarely, because everything between is learnt from our own calls and from looks at single
// instances. A resync that fails costs nobody anything but time.
import type { AllocationImplementation, CallContext } from '../providers/allocation-implementation.ts';
import {
  emptyInfrastructure,
  type Infrastructure,
  type KnownNetwork,
  type UnreadablePart,
  withMemory,
} from '../providers/infrastructure.ts';
import type { Inventory, Listing } from '../providers/inventory.ts';
import type { SubnetLedger } from '../providers/subnet-ledger.ts';
import { type Backoff, backOff } from '../scheduling/exponential-backoff.ts';
import { type Clock, sleep } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';

export interface ResyncOptions {
  readonly implementation: AllocationImplementation;
  readonly inventory: Inventory;
  readonly ledger: SubnetLedger;
  readonly clock: Clock;
  readonly random: Random;
  /** Between the end of one resync and the start of the next, in ms. */
  readonly interval: number;
  /** The networks that nodes are in now. */
  readonly networkIds: () => readonly string[];
  /** What is worth asking for between two resyncs, because some node lacks it. */
  readonly lacking: () => Lacking;
  readonly hooks: ResyncHooks;
}

export type Lacking =
  | 'nothing'
  /** Addresses: it helps to know what the subnets have left. */
  | 'addresses'
  /** What somebody could add to the network, or tag there: the node is held back by the lack of it. */
  | 'infrastructure';

export interface ResyncHooks {
  /** Instances that the listing changed, read for the first time, or cast doubt on. */
  readonly onChanged: (instanceIds: ReadonlySet<string>) => void;
  /** `reshaped`: more than the numbers of free addresses changed. */
  readonly onInfrastructure: (reshaped: boolean, problems: readonly UnreadablePart[]) => void;
  /** A resync is due, or was asked for. */
  readonly onRequested: () => void;
  readonly onEnd: (resync: FinishedResync) => void;
  /** The network could not be read between two resyncs. */
  readonly onNetworkFailed: (error: unknown) => void;
}

export interface FinishedResync {
  readonly duration: number;
  /** From the time that it was due, or asked for, to its beginning, in ms. */
  readonly latency: number;
  /** Requests that it answered beyond the first. */
  readonly folds: number;
  /** Undefined when it succeeded. */
  readonly error: unknown;
}

const backoffPolicy = { base: 1000, cap: 60_000 };
/** Least time between a resync and one that was asked for, in ms. */
const leastInterval = 5000;
/** Between two readings of the network while nodes are short, in ms. */
const countInterval = 60_000;

export class Resync {
  readonly #options: ResyncOptions;
  #infrastructure: Infrastructure = emptyInfrastructure;
  /** When it was asked for, in monotonic ms. */
  #infrastructureAsOf = -Infinity;
  #listing: Listing | 'about to begin' | undefined = 'about to begin';
  #backoff: Backoff | undefined;
  #lastBegunAt: number | undefined;
  #requested = Promise.withResolvers<void>();
  #requests = 0;
  #firstRequestAt: number | undefined;

  constructor(options: ResyncOptions) {
    this.#options = options;
  }

  get infrastructure(): Infrastructure {
    return this.#infrastructure;
  }

  /** When the last resync that succeeded began, in monotonic ms. */
  get lastBegunAt(): number | undefined {
    return this.#lastBegunAt;
  }

  /** Whether a listing is about to begin, or under way, whose end will answer for this instance. */
  covers(instanceId: string): boolean {
    return this.#listing === 'about to begin' || (this.#listing?.covers(instanceId) ?? false);
  }

  /** Takes over what was known of the network before this process began. */
  remember(known: KnownNetwork): void {
    this.#infrastructure = withMemory(this.#infrastructure, known);
  }

  /** Asks for a resync soon: a node turned up in a network that was never read. */
  request(): void {
    this.#note();
    this.#requested.resolve();
  }

  #note(): void {
    this.#requests++;
    this.#firstRequestAt ??= this.#options.clock.monotonic();
    this.#options.hooks.onRequested();
  }

  /** Resyncs now and then until `signal` is aborted; resolves then. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all([this.#resyncs(signal), this.#between(signal)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #resyncs(signal: AbortSignal): Promise<void> {
    const { clock, random, interval, hooks } = this.#options;
    for (;;) {
      const begunAt = clock.monotonic();
      if (this.#requests === 0) this.#note();
      const [folds, latency] = [this.#requests - 1, begunAt - (this.#firstRequestAt ?? begunAt)];
      this.#requests = 0;
      this.#firstRequestAt = undefined;
      this.#requested = Promise.withResolvers();
      const error = await this.#resync(begunAt, signal).catch((reason: unknown) => {
        signal.throwIfAborted();
        return reason ?? new Error('unknown');
      });
      const now = clock.monotonic();
      this.#backoff = error === undefined ? undefined : backOff(this.#backoff, backoffPolicy, now, random);
      hooks.onEnd({ duration: now - begunAt, latency, folds, error });
      if (this.#backoff !== undefined) await sleep(clock, this.#backoff.until - now, signal);
      else await this.#pause(interval, signal);
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const early = new AbortController();
    const end = (): void => early.abort();
    signal.addEventListener('abort', end, { once: true });
    // One that had nothing to read yet holds nothing back.
    const earliest = this.#lastBegunAt === undefined ? 0 : clock.monotonic() + leastInterval;
    const asked = this.#requested.promise.then(() =>
      sleep(clock, Math.max(0, earliest - clock.monotonic()), early.signal),
    );
    await Promise.race([asked, sleep(clock, ms, early.signal)]).finally(() => {
      signal.removeEventListener('abort', end);
      early.abort();
      asked.catch(() => undefined);
    });
  }

  async #resync(begunAt: number, signal: AbortSignal): Promise<undefined> {
    const networks = this.#options.networkIds();
    const context: CallContext = { urgency: () => 'toppingUp', signal };
    this.#listing = 'about to begin';
    try {
      if (networks.length === 0) return undefined;
      await this.#readInfrastructure(networks, context);
      await this.#list(networks, begunAt, context);
    } finally {
      this.#listing = undefined;
    }
    return undefined;
  }

  async #readInfrastructure(networks: readonly string[], context: CallContext): Promise<void> {
    const { implementation, ledger, hooks } = this.#options;
    const read = await implementation.readInfrastructure(networks, context);
    // Two readings may overlap: the one that was asked for later counts.
    if (read.begunAt < this.#infrastructureAsOf) return;
    this.#infrastructureAsOf = read.begunAt;
    const next = withMemory(read.infrastructure, this.#infrastructure);
    const reshaped = !sameShape(next, this.#infrastructure);
    this.#infrastructure = next;
    ledger.observe(freeAddressesOf(read.infrastructure), read.begunAt);
    hooks.onInfrastructure(reshaped, read.problems);
  }

  async #list(networkIds: readonly string[], begunAt: number, context: CallContext): Promise<void> {
    const { implementation, inventory, clock, hooks } = this.#options;
    const listing = inventory.beginListing(begunAt);
    this.#listing = listing;
    const turn = (): Promise<void> => sleep(clock, 0, context.signal);
    for await (const page of implementation.observe({ kind: 'networks', networkIds }, context)) {
      listing.fold(page.observations, page.begunAt);
      await turn();
    }
    const changed = await inTurns(listing.end(), turn);
    this.#lastBegunAt = begunAt;
    hooks.onChanged(changed);
  }

  /** Between resyncs, for as long as some node is short. */
  async #between(signal: AbortSignal): Promise<void> {
    const { clock, networkIds, lacking, hooks } = this.#options;
    const context: CallContext = { urgency: () => 'toppingUp', signal };
    for (;;) {
      await sleep(clock, countInterval, signal);
      const networks = networkIds();
      const what = lacking();
      if (what === 'nothing' || networks.length === 0) continue;
      try {
        if (what === 'addresses') await this.#count(networks, context);
        else await this.#readInfrastructure(networks, context);
      } catch (error) {
        signal.throwIfAborted();
        hooks.onNetworkFailed(error);
      }
    }
  }

  async #count(networks: readonly string[], context: CallContext): Promise<void> {
    const { implementation, ledger, hooks } = this.#options;
    const { counts, begunAt } = await implementation.readSubnetCounts(networks, context);
    ledger.observe(counts, begunAt);
    hooks.onInfrastructure(false, []);
  }
}

/** Does the work piece by piece, with a turn for others in between. */
async function inTurns<T>(pieces: Iterator<undefined, T>, turn: () => Promise<void>): Promise<T> {
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return value;
    await turn();
  }
}

function freeAddressesOf({ subnets }: Infrastructure): ReadonlyMap<string, number> {
  return new Map([...subnets.values()].map(({ id, freeAddresses }) => [id, freeAddresses]));
}

function sameShape(a: Infrastructure, b: Infrastructure): boolean {
  return shapeOf(a) === shapeOf(b);
}

function shapeOf({ subnets, networks, routeTables, securityGroups }: Infrastructure): string {
  const withoutCounts = [...subnets.values()].map((subnet) => ({ ...subnet, freeAddresses: 0 }));
  return JSON.stringify([withoutCounts, [...networks.values()], routeTables, securityGroups]);
}
