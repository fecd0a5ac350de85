// Gives addresses of pools to owners, and takes them back. It decides and remembers, and does no I/O: the record is a port. A
// request is served as a whole or not at all, and nothing counts that is not in the record.
import { addressText, canonicalAddress, type Family, familyOf, parseAddress } from '../../blocks/set/cidr.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { AddressDetails, Allocator } from '../allocators/allocator.ts';
import { Expirations } from './expirations.ts';
import type { Attachment, AttachmentName, Change, Expiry, Held, Holdings, Place } from './holdings.ts';
import { failed, type Failed, type IpamErrorKind, ok, type Outcome } from './ipam-error.ts';
import {
  excludedError,
  type PoolFigures,
  type PoolRequest,
  Pools,
  type PoolsOptions,
  type Wanted,
} from './pools.ts';

export interface IpamOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly holdings: Holdings;
  readonly pools: Omit<PoolsOptions, 'rank'>;
  /** How long a released address rests while others are free, in ms. */
  readonly cooldown: number;
  /** Whether a pod shows an address that nobody holds. It is given only if there is no other. */
  readonly isShown: (ip: string) => boolean;
  readonly record: RecordPort;
  readonly onEvent: (event: IpamEvent) => void;
}

export interface RecordPort {
  /** Writes a change before it counts; returns what prevents it. */
  write(change: Change): string | undefined;
  /** Why nothing but a release can be written. */
  full(): string | undefined;
}

export type IpamEvent =
  | { readonly kind: 'allocated' | 'released'; readonly family: Family; readonly held: Held }
  /** A request got nothing; `wanted` is what it meant, if that is known. */
  | {
      readonly kind: 'refused';
      readonly owner: string;
      readonly why: IpamErrorKind;
      readonly wanted: readonly Wanted[];
    }
  | { readonly kind: 'expired'; readonly ip: string; readonly owner: string }
  | { readonly kind: 'notExpired'; readonly ip: string; readonly owner: string; readonly problem: string };

/** The demand of a requester. It gets all of it, or an error and nothing. */
export interface Demand extends PoolRequest {
  /** Released after so many ms, unless the timer is stopped. */
  readonly timeout?: number;
  /** The attachment that holds the addresses from then on. */
  readonly attachment?: Omit<Attachment, 'places' | 'owner'>;
}

export interface Allocated {
  readonly pool: string;
  readonly ip: string;
  readonly family: Family;
  readonly uuid?: string;
}

export class Ipam {
  readonly holdings: Holdings;
  /** Who holds what changes only here, and with the record. */
  readonly pools: Omit<Pools, 'free' | 'restore' | 'serve' | 'take'>;
  readonly #options: IpamOptions;
  readonly #expirations: Expirations;
  readonly #pools: Pools;
  #changed = Promise.withResolvers<void>();

  constructor(options: IpamOptions) {
    this.#options = options;
    this.holdings = options.holdings;
    this.#pools = new Pools({ ...options.pools, rank: (place) => this.#rank(place) });
    this.pools = this.#pools;
    this.#expirations = new Expirations(options.clock, (held, uuid) => this.#expire(held, uuid));
  }

  /** Starts the timers that the record has. */
  start(): void {
    for (const held of this.holdings.held()) this.#expirations.arm(held);
  }

  stop(): void {
    this.#expirations.stop();
  }

  /** Resolves with the next change that may serve a request that failed. */
  get changed(): Promise<void> {
    return this.#changed.promise;
  }

  /** Has requests that wait try again. */
  retry(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Gives out the addresses of this allocator from now on, and none of an earlier one. What is held stays held. */
  serve(allocator: Allocator, pool = this.#pools.defaultPool): void {
    this.#pools.serve(allocator, pool, this.holdings.held());
    this.retry();
  }

  /** The details of an address that the network needs. */
  details({ pool, ip }: Place): AddressDetails {
    const address = parseAddress(ip);
    return (address && this.#pools.allocator(address.family, pool)?.details(address.value)) ?? {};
  }

  /** Serves a demand as a whole, with one entry in the record. */
  allocate(demand: Demand): Outcome<readonly Allocated[]> {
    const outcome = this.#allocate(demand);
    if (outcome.kind === 'failed') {
      const wanted = this.#pools.wanted(demand);
      this.#options.onEvent({
        kind: 'refused',
        owner: demand.owner,
        why: outcome.error.kind,
        wanted: wanted.kind === 'ok' ? wanted.value : [],
      });
    }
    return outcome;
  }

  /** Holds exactly this address. */
  allocateIP(ip: string, owner: string, pool = this.#pools.defaultPool): Outcome<readonly Allocated[]> {
    const family = familyOf(ip);
    return this.allocate({ owner, pool, families: [family], fixed: [ip] });
  }

  /** Releases an address. One that nobody holds is released already; one that an attachment holds is in use. */
  releaseIP(place: Place): Outcome<undefined> {
    const { pool, ip } = place;
    const attachment = this.holdings.attachmentOf(place);
    if (attachment !== undefined) return failed('inUse', `IP is in use by endpoint ${attachment.container}`);
    if (this.holdings.at(place) !== undefined) return this.#release({ free: [place] });
    const absence = this.#options.pools.directory.absence(pool, familyOf(ip));
    if (absence.error.kind === 'unknownPool') return absence;
    const owner = this.#pools.excluderOf(place);
    return owner === undefined ? ok(undefined) : excludedError(ip, owner);
  }

  /** Releases an address, or all that an owner has; of several failures, the last one counts. Default: in every pool. */
  releaseIPString(text: string, pool?: string): Outcome<undefined> {
    const ip = canonicalAddress(text);
    if (ip !== undefined) return this.releaseIP({ pool: pool ?? this.#pools.defaultPool, ip });
    const owned = [...this.holdings.held()].filter(
      (held) => held.owner === text && (pool ?? held.pool) === held.pool,
    );
    if (owned.length === 0)
      return failed('notAllocated', `Invalid IP address or owner name: ${text.slice(0, 100)}`);
    const outcomes = owned.map((held) => this.releaseIP({ pool: held.pool, ip: held.ip }));
    return outcomes.findLast(({ kind }) => kind === 'failed') ?? ok(undefined);
  }

  /** Releases what these attachments hold. Unknown ones hold nothing. */
  detach(names: readonly AttachmentName[]): Outcome<undefined> {
    const known = names.flatMap((name) => this.holdings.attachment(name) ?? []);
    if (known.length === 0) return ok(undefined);
    const detach = known.map(({ network, container, interface: name }) => ({
      network,
      container,
      interface: name,
    }));
    const free = known.flatMap(({ places }) => places);
    return this.#release({ free, detach });
  }

  /** Releases what this pod is known to show, if nothing else is known of it. */
  forgetPod(owner: string, uid: string): Outcome<undefined> {
    const shown = [...this.holdings.held()].filter(
      (held) => held.owner === owner && held.uid === uid && this.holdings.attachmentOf(held) === undefined,
    );
    return shown.length === 0
      ? ok(undefined)
      : this.#release({ free: shown.map(({ pool, ip }) => ({ pool, ip })) });
  }

  /** Holds what pods show, and gives out addresses again; returns what prevents it. */
  rebuild(held: readonly Held[]): string | undefined {
    const unknown = held.filter((place) => this.holdings.at(place) === undefined);
    const problem = this.#commit({ hold: unknown, rebuilding: false });
    if (problem !== undefined) return problem;
    for (const place of unknown) this.#pools.restore(place);
    this.retry();
    return undefined;
  }

  /** Remembers this beside what is held; returns what prevents it. */
  remember(change: Pick<Change, 'blocks' | 'leaving' | 'pools' | 'routers'>): string | undefined {
    return this.#commit(change);
  }

  /** Resolves to the UUID that stops the timer. */
  startExpirationTimer(place: Place, timeout: number): Outcome<string> {
    const held = this.holdings.at(place);
    if (held === undefined) return failed('notAllocated', `IP ${place.ip} is not allocated`);
    if (this.holdings.attachmentOf(place) !== undefined)
      return failed('inUse', `IP ${place.ip} is in use by an attachment`);
    if (held.expiry !== undefined) return failed('timerExists', 'expiration timer already registered');
    const expiry = this.#expiry(timeout);
    const timed = { ...held, expiry };
    const problem = this.#commit({ hold: [timed] });
    if (problem !== undefined) return notRecorded(problem);
    this.#expirations.arm(timed);
    return ok(expiry.uuid);
  }

  stopExpirationTimer(place: Place, uuid: string): Outcome<undefined> {
    const held = this.holdings.at(place);
    if (held?.expiry === undefined) return failed('timerMissing', 'no expiration timer registered');
    if (held.expiry.uuid !== uuid)
      return failed('uuidMismatch', 'UUID mismatch, not stopping expiration timer');
    const { pool, ip, owner, uid } = held;
    const problem = this.#commit({ hold: [{ pool, ip, owner, ...(uid !== undefined && { uid }) }] });
    if (problem !== undefined) return notRecorded(problem);
    this.#expirations.cancel(place);
    return ok(undefined);
  }

  /** Why no address can be given out, whichever is free. */
  get unrecordable(): string | undefined {
    return this.#options.record.full();
  }

  figures(): readonly PoolFigures[] {
    return this.#pools.figures(this.holdings.held());
  }

  /** Owners and timers as text, for support. */
  debugStatus(): string {
    const lines = [...this.holdings.held()].map((held) => {
      const { pool, ip, owner, expiry } = held;
      const attachment = this.holdings.attachmentOf(held);
      const timer = expiry === undefined ? '' : `, expires ${new Date(expiry.at).toISOString()}`;
      const attached = attachment === undefined ? '' : `, ${attachment.network} ${attachment.container}`;
      return `${pool}/${ip}: ${owner}${attached}${timer}`;
    });
    const excluded = [...this.#pools.excluded].map(([text, owner]) => `${text}: never given out (${owner})`);
    return [this.#pools.status(), ...lines.toSorted(), ...excluded, ''].join('\n');
  }

  #allocate(demand: Demand): Outcome<readonly Allocated[]> {
    const { owner, attachment, timeout } = demand;
    if (this.holdings.isRebuilding)
      return failed('poolNotReady', 'what pods hold is being read again: the record was damaged');
    const taken = this.#pools.take(demand);
    if (taken.kind === 'failed') return taken;
    const hold = taken.value.map((address): Held => {
      const place = { pool: address.pool, ip: addressText(address) };
      return { ...place, owner, ...(timeout !== undefined && { expiry: this.#expiry(timeout) }) };
    });
    const places = hold.map(({ pool, ip }) => ({ pool, ip }));
    const attach = attachment === undefined ? undefined : { ...attachment, owner, places };
    const problem = this.#commit({ hold, ...(attach !== undefined && { attach }) });
    if (problem !== undefined) {
      for (const place of places) this.#pools.free(place);
      return notRecorded(problem);
    }
    for (const held of hold) {
      this.#expirations.arm(held);
      this.#options.onEvent({ kind: 'allocated', family: familyOf(held.ip), held });
    }
    return ok(
      hold.map(({ pool, ip, expiry }) => ({
        pool,
        ip,
        family: familyOf(ip),
        ...(expiry !== undefined && { uuid: expiry.uuid }),
      })),
    );
  }

  /** The address that has rested longest comes first of those that rest. */
  #rank(place: Place): number {
    const { isShown, clock } = this.#options;
    return isShown(place.ip) ? Infinity : (this.holdings.restOf(place, clock.wall()) ?? 0);
  }

  #expiry(timeout: number): Expiry {
    const { clock, random } = this.#options;
    return { uuid: random.uuid(), at: clock.wall() + timeout, timeout };
  }

  #expire(held: Held, uuid: string): boolean {
    const { pool, ip, owner } = held;
    if (this.holdings.at({ pool, ip })?.expiry?.uuid !== uuid) return true;
    const released = this.#release({ free: [{ pool, ip }] });
    if (released.kind === 'ok') this.#options.onEvent({ kind: 'expired', ip, owner });
    else this.#options.onEvent({ kind: 'notExpired', ip, owner, problem: released.error.message });
    return released.kind === 'ok';
  }

  #release(change: Change & { readonly free: readonly Place[] }): Outcome<undefined> {
    const { clock, cooldown } = this.#options;
    const held = change.free.flatMap((place) => this.holdings.at(place) ?? []);
    const since = clock.wall();
    const rest = { since, until: since + cooldown };
    const problem = this.#commit(cooldown > 0 ? { ...change, rest } : change);
    if (problem !== undefined) return notRecorded(problem);
    for (const each of held) {
      this.#expirations.cancel(each);
      this.#pools.free(each);
      this.#options.onEvent({ kind: 'released', family: familyOf(each.ip), held: each });
    }
    this.retry();
    return ok(undefined);
  }

  #commit(change: Change): string | undefined {
    const problem = this.#options.record.write(change);
    if (problem === undefined) this.holdings.apply(change);
    return problem;
  }
}

function notRecorded(problem: string): Failed {
  return failed('notRecorded', problem);
}
