// Resyncs the whole cloud state. Runs rarely, because answers to our own calls and refreshes of single instances cover
// what happens in between. A failed resync only delays updates.
import type { CloudError } from '../providers/contract/cloud-failure.ts';
import type { AllocationImplementation, CallContext, ObservedPage } from '../providers/contract/cloud.ts';
import { BlockCensus } from '../providers/contract/block-census.ts';
import {
  emptyInfrastructure,
  type Infrastructure,
  type KnownNetwork,
  type UnreadablePart,
  isUnread,
  withMemory,
  withNews,
} from '../providers/contract/infrastructure.ts';
import { maxPause } from '../providers/contract/cloud-failure.ts';
import type { Inventory, Listing } from '../providers/inventory/inventory.ts';
import type { NodeSummary } from '../node/reconcile/node-summary.ts';
import { takenIn, unreadableIn } from './listed-page.ts';
import { missingDataOf } from './missing-data.ts';
import type { SubnetLedger } from '../providers/catalog/subnet-ledger.ts';
import { Backoff } from '../runtime/backoff.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { untilAborted } from '../runtime/race-abort.ts';
import type { Random } from '../runtime/random.ts';

export interface ResyncOptions {
  readonly implementation: AllocationImplementation;
  readonly inventory: Inventory;
  readonly ledger: SubnetLedger;
  readonly clock: Clock;
  readonly random: Random;
  /** Delay between the end of one resync and the start of the next, in ms. */
  readonly interval: number;
  readonly nodes: ResyncedNodes;
  readonly emit: (event: ResyncEvent) => void;
}

/** The nodes that are served. */
export interface ResyncedNodes {
  networkIds(): readonly string[];
  /** The instances that they name. */
  instanceIds(): readonly string[];
  /** The zone that each of them names. */
  zones(): readonly string[];
  figures(): Iterable<NodeSummary>;
}

export type ResyncEvent =
  /** Instances that the listing changed, read for the first time, or left unconfirmed. */
  | { readonly kind: 'changed'; readonly instanceIds: ReadonlySet<string> }
  /** A listing ended. It could not read these instances. */
  | { readonly kind: 'listed'; readonly unread: ReadonlyMap<string, CloudError> }
  /** `reshaped`: more than the free address counts changed. */
  | {
      readonly kind: 'infrastructure';
      readonly reshaped: boolean;
      readonly problems: readonly UnreadablePart[];
    }
  /** A resync is due or was requested. */
  | { readonly kind: 'requested' }
  | { readonly kind: 'ended'; readonly resync: FinishedResync }
  /** Reading the network between two resyncs failed. */
  | { readonly kind: 'networkFailed'; readonly error: unknown };

export interface FinishedResync {
  readonly duration: number;
  /** Delay from when it was due or requested until it started, in ms. */
  readonly latency: number;
  /** Additional requests that it answered. */
  readonly folds: number;
  /** Whether there was nothing to read: no node is served. */
  readonly isEmpty: boolean;
  /** Networks of which something could not be read, while others were read. */
  readonly unreadNetworks: readonly string[];
  /** Items of the last listing, and parts of the network, that could not be read and were skipped. */
  readonly unreadableItems: number;
  /** Undefined if it succeeded. */
  readonly error: unknown;
}

const backoffPolicy = { base: 1000, cap: 60_000 };
/** Minimum delay between a resync and a requested one, in ms. */
const minInterval = 5000;
/** Delay between reads of the network while nodes lack something, in ms. */
const countInterval = 60_000;
/** Delay between looks at whether a count is awaited before that, in ms. */
const countPause = 5000;

export class Resync {
  readonly #options: ResyncOptions;
  #infrastructure: Infrastructure = emptyInfrastructure;
  #wholeBlocks = new Map<string, number>();
  /** When the current infrastructure was requested, in monotonic ms. */
  #infrastructureAsOf = -Infinity;
  /** Networks that the last listing left out. */
  #unlistedNetworks: readonly string[] = [];
  /** Counts of items of the last listing, and of parts of the network, that could not be read. */
  readonly #unreadable = { items: 0, parts: 0 };
  #listing: Listing | 'about to begin' | undefined = 'about to begin';
  readonly #backoff: Backoff;
  #lastStartedAt: number | undefined;
  #currentAt: number | undefined;
  #requested = Promise.withResolvers<void>();
  #requests = 0;
  #firstRequestAt: number | undefined;

  constructor(options: ResyncOptions) {
    this.#options = options;
    this.#backoff = new Backoff(backoffPolicy, options);
  }

  get infrastructure(): Infrastructure {
    return this.#infrastructure;
  }

  /**
   * Whole /28 blocks by subnet, from the last complete listing minus prefixes created since. Subnets unknown to that
   * listing are left out.
   */
  get wholeBlocks(): ReadonlyMap<string, number> {
    return this.#wholeBlocks;
  }

  /** `count` prefixes were assigned from the subnet, each from a whole block. */
  prefixesTaken(subnetId: string, count: number): void {
    const known = this.#wholeBlocks.get(subnetId);
    if (known !== undefined) this.#wholeBlocks.set(subnetId, Math.max(0, known - count));
  }

  /** Whether no served node gives anything to read. */
  get hasNothingToRead(): boolean {
    return isEmpty(this.#toRead());
  }

  /** When the last successful resync began, in monotonic ms. */
  get lastStartedAt(): number | undefined {
    return this.#lastStartedAt;
  }

  /** When everything was current last, in monotonic ms: without any network to read, nothing is stale. */
  get currentAt(): number | undefined {
    return this.#currentAt;
  }

  /** Whether the end of a current or imminent listing counts as a complete answer for this instance. */
  covers(instanceId: string): boolean {
    return this.#listing === 'about to begin' || (this.#listing?.covers(instanceId) ?? false);
  }

  /** Adds what was known of the network before this process started. */
  remember(known: KnownNetwork): void {
    const { subnets, networks } = this.#infrastructure;
    const isNew = [...known.subnets.keys()].some((id) => !subnets.has(id));
    if (!isNew && [...known.networks.keys()].every((id) => networks.has(id))) return;
    this.#infrastructure = withMemory(this.#infrastructure, known);
  }

  /** Adds the networks and subnets that were read together with instances. */
  learnNetwork({ network, startedAt }: Pick<ObservedPage, 'network' | 'startedAt'>): void {
    this.#requestFirst();
    if (network === undefined) return;
    const { ledger, emit } = this.#options;
    const next = withNews(this.#infrastructure, network);
    const reshaped = !sameShape(next, this.#infrastructure);
    this.#infrastructure = next;
    ledger.observe(freeAddressesOf(network), startedAt, () => false);
    emit({ kind: 'infrastructure', reshaped, problems: [] });
  }

  /** Requests a resync soon: a node appeared in a network that was never read. */
  request(): void {
    this.#note();
    this.#requested.resolve();
  }

  /** The cloud shows an instance in this network, which may never have been read. */
  shownIn(networkId: string): void {
    if (!this.#infrastructure.networkIds.has(networkId)) this.request();
  }

  /** An instance was read, or could not be, and no resync has read anything: the first one came before all nodes. */
  #requestFirst(): void {
    const isWaiting = this.#listing === undefined && this.#requests === 0;
    if (this.#lastStartedAt === undefined && isWaiting && !this.#isListedByNetwork) this.request();
  }

  #note(): void {
    this.#requests++;
    this.#firstRequestAt ??= this.#options.clock.monotonic();
    this.#options.emit({ kind: 'requested' });
  }

  /** Resyncs periodically until `signal` is aborted, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    await untilAborted(signal, () => Promise.all([this.#resyncs(signal), this.#between(signal)]));
  }

  async #resyncs(signal: AbortSignal): Promise<void> {
    const { clock, interval, emit } = this.#options;
    for (;;) {
      const startedAt = clock.monotonic();
      if (this.#requests === 0) this.#note();
      const [folds, latency] = [this.#requests - 1, startedAt - (this.#firstRequestAt ?? startedAt)];
      this.#requests = 0;
      this.#firstRequestAt = undefined;
      this.#requested = Promise.withResolvers();
      const what = this.#toRead();
      const error = await this.#resync(what, startedAt, signal).catch((reason: unknown) => {
        signal.throwIfAborted();
        return reason ?? new Error('unknown');
      });
      const duration = clock.monotonic() - startedAt;
      const unreadNetworks = this.#unreadNetworks();
      const unreadableItems = this.#unreadable.items + this.#unreadable.parts;
      const figures = { duration, latency, folds, unreadableItems };
      emit({ kind: 'ended', resync: { ...figures, isEmpty: isEmpty(what), unreadNetworks, error } });
      if (error === undefined) {
        this.#backoff.forget();
        await this.#pause(interval, signal);
      } else await sleep(clock, this.#backoff.fail(maxPause(error)), signal);
    }
  }

  #unreadNetworks(): readonly string[] {
    const unread: readonly string[] = [...(this.#infrastructure.unreadNetworks?.keys() ?? [])];
    return [...new Set([...unread, ...this.#unlistedNetworks])].sort();
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const early = new AbortController();
    const end = (): void => early.abort();
    signal.addEventListener('abort', end, { once: true });
    // A resync without any network to read does not delay the next one.
    const earliest = this.#lastStartedAt === undefined ? 0 : clock.monotonic() + minInterval;
    const asked = this.#requested.promise.then(() =>
      sleep(clock, Math.max(0, earliest - clock.monotonic()), early.signal),
    );
    await Promise.race([asked, sleep(clock, ms, early.signal)]).finally(() => {
      signal.removeEventListener('abort', end);
      early.abort();
      asked.catch(() => undefined);
    });
  }

  /** A cloud whose nodes name no network shows it with the instances. */
  #toRead(): ReadScope {
    const { nodes } = this.#options;
    const instanceIds = this.#isListedByNetwork ? [] : nodes.instanceIds();
    return { networkIds: nodes.networkIds(), instanceIds };
  }

  get #isListedByNetwork(): boolean {
    return this.#options.implementation.traits.interfaces === 'made';
  }

  async #resync(what: ReadScope, startedAt: number, signal: AbortSignal): Promise<undefined> {
    const context: CallContext = { caller: { priority: 'normal' }, signal };
    this.#listing = 'about to begin';
    try {
      if (what.networkIds.length > 0) await this.#readInfrastructure(what.networkIds, context);
      if (!isEmpty(what)) await this.#list(what, startedAt, context);
      this.#currentAt = startedAt;
    } finally {
      this.#listing = undefined;
    }
    return undefined;
  }

  async #readInfrastructure(networks: readonly string[], context: CallContext): Promise<void> {
    const { implementation, ledger, emit, nodes } = this.#options;
    const read = await implementation.readInfrastructure(networks, context, nodes.zones());
    // Two reads may overlap: the one that started later counts.
    if (read.startedAt < this.#infrastructureAsOf) return;
    this.#infrastructureAsOf = read.startedAt;
    this.#unreadable.parts = read.problems.length;
    const next = withMemory(read.infrastructure, this.#infrastructure);
    const reshaped = !sameShape(next, this.#infrastructure);
    this.#infrastructure = next;
    const isRead = (id: string): boolean => {
      const { zone = '', networkId = '' } = next.subnets.get(id) ?? {};
      return !isUnread(read.infrastructure, { id, zone, networkId });
    };
    ledger.observe(freeAddressesOf(read.infrastructure), read.startedAt, isRead);
    emit({ kind: 'infrastructure', reshaped, problems: read.problems });
  }

  async #list(what: ReadScope, startedAt: number, context: CallContext): Promise<void> {
    const { implementation, inventory, clock, emit } = this.#options;
    const listing = inventory.beginListing(startedAt);
    const census = new BlockCensus();
    this.#listing = listing;
    const turn = (): Promise<void> => sleep(clock, 0, context.signal);
    const unread = new Map<string, CloudError>();
    const unlistedNetworks: string[] = [];
    let unreadable = 0;
    for await (const page of implementation.observe({ kind: 'all', ...what }, context)) {
      for (const { instanceId, error } of page.failed ?? []) {
        listing.leaveOut(instanceId);
        unread.set(instanceId, error);
      }
      unlistedNetworks.push(...(page.unreadNetworks ?? []));
      unreadable += unreadableIn(page);
      listing.apply(page.observations, page.startedAt);
      this.learnNetwork(page);
      for (const taken of takenIn(page)) census.take(taken);
      await turn();
    }
    const changed = await interleaved(listing.end(), turn);
    this.#lastStartedAt = startedAt;
    this.#unlistedNetworks = unlistedNetworks;
    this.#unreadable.items = unreadable;
    this.#wholeBlocks = new Map(
      [...this.#infrastructure.subnets.values()].map(({ id, cidr }) => [id, census.wholeBlocks(id, cidr)]),
    );
    emit({ kind: 'listed', unread });
    emit({ kind: 'changed', instanceIds: changed });
  }

  /** Reads between resyncs while some node lacks addresses or infrastructure. */
  async #between(signal: AbortSignal): Promise<void> {
    const { clock, nodes, ledger, emit } = this.#options;
    const context: CallContext = { caller: { priority: 'normal' }, signal };
    for (let due = clock.monotonic() + countInterval; ; ) {
      await sleep(clock, countPause, signal);
      const now = clock.monotonic();
      if (now < due && !ledger.awaitsCount(now)) continue;
      due = now + countInterval;
      const networks = nodes.networkIds();
      const what = missingDataOf(nodes.figures());
      if (what === 'nothing' || networks.length === 0) continue;
      try {
        if (what === 'addresses') await this.#count(networks, context);
        else await this.#readInfrastructure(networks, context);
      } catch (error) {
        signal.throwIfAborted();
        emit({ kind: 'networkFailed', error });
      }
    }
  }

  async #count(networks: readonly string[], context: CallContext): Promise<void> {
    const { implementation, ledger, emit } = this.#options;
    const read = await implementation.readSubnetCounts(networks, context);
    const networkOf = (id: string): string => this.#infrastructure.subnets.get(id)?.networkId ?? '';
    const isRead = (id: string): boolean =>
      read.unread?.has(id) !== true && read.unreadNetworks?.has(networkOf(id)) !== true;
    ledger.observe(read.counts, read.startedAt, isRead);
    emit({ kind: 'infrastructure', reshaped: false, problems: [] });
  }
}

interface ReadScope {
  readonly networkIds: readonly string[];
  readonly instanceIds: readonly string[];
}

function isEmpty({ networkIds, instanceIds }: ReadScope): boolean {
  return networkIds.length === 0 && instanceIds.length === 0;
}

/** Runs the work in pieces and lets other work run in between. */
async function interleaved<T>(pieces: Iterator<undefined, T>, turn: () => Promise<void>): Promise<T> {
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return value;
    await turn();
  }
}

function freeAddressesOf({ subnets }: Pick<Infrastructure, 'subnets'>): ReadonlyMap<string, number> {
  return new Map([...subnets.values()].map(({ id, freeAddresses }) => [id, freeAddresses]));
}

function sameShape(a: Infrastructure, b: Infrastructure): boolean {
  return shapeOf(a) === shapeOf(b);
}

function shapeOf({ subnets, networks, routeTables, securityGroups }: Infrastructure): string {
  const withoutCounts = [...subnets.values()].map((subnet) => ({ ...subnet, freeAddresses: 0 }));
  return JSON.stringify([withoutCounts, [...networks.values()], routeTables, securityGroups]);
}
