// Gives addresses of pools to owners, and takes them back. It decides and remembers, and does no I/O: the record is a port. A
// request is served as a whole or not at all, and nothing counts that is not in the record.
import {
  type Address,
  addressText,
  families as allFamilies,
  type Family,
  familyOf,
  parseAddress,
} from '../../cidr/set/cidr.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Allocator } from '../allocators/allocator.ts';
import { Expirations } from './expirations.ts';
import type { Attachment, AttachmentName, Change, Expiry, Held, Holdings, Place } from './holdings.ts';
import { failed, type IpamError, ok, type Outcome } from './ipam-error.ts';

export const defaultPool = 'default';

export interface IpamOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly holdings: Holdings;
  /** Writes a change before it counts; returns what prevents it. */
  readonly record: (change: Change) => string | undefined;
  /** Whether a family is served; undefined: if it has a block. */
  readonly enabled: Readonly<Record<Family, boolean | undefined>>;
  readonly onEvent: (event: IpamEvent) => void;
}

export type IpamEvent =
  | { readonly kind: 'allocated' | 'released'; readonly family: Family }
  | { readonly kind: 'expired'; readonly ip: string; readonly owner: string }
  | { readonly kind: 'notExpired'; readonly ip: string; readonly owner: string; readonly problem: string };

/** What a requester asks for. It gets all of it, or an error and nothing. */
export interface Demand {
  readonly owner: string;
  /** Default: every family that is served. */
  readonly families?: readonly Family[];
  /** Default: `default`. */
  readonly pool?: string;
  /** Exactly these, for the families that they are of. */
  readonly fixed?: readonly string[];
  /** Released after so many ms, unless the timer is stopped. */
  readonly timeout?: number;
  /** What holds the addresses from then on. */
  readonly attachment?: Omit<Attachment, 'places' | 'owner'>;
}

export interface Allocated {
  readonly pool: string;
  readonly ip: string;
  readonly family: Family;
  readonly uuid?: string;
}

export interface PoolFigures {
  readonly pool: string;
  readonly family: Family;
  readonly cidrs: readonly string[];
  readonly capacity: number;
  readonly used: number;
  readonly available: number;
  readonly needed: number;
}

const familyName = { ipv4: 'IPv4', ipv6: 'IPv6' } as const;

export class Ipam {
  readonly holdings: Holdings;
  readonly #options: IpamOptions;
  readonly #expirations: Expirations;
  readonly #allocators = new Map<string, Map<Family, Allocator>>([[defaultPool, new Map()]]);
  /** Why an address is never given out, by its text. */
  readonly #excluded = new Map<string, string>();
  #changed = Promise.withResolvers<void>();

  constructor(options: IpamOptions) {
    this.#options = options;
    this.holdings = options.holdings;
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

  /** Gives out the addresses of this allocator from now on, and none of an earlier one. What is held stays held. */
  serve(allocator: Allocator, pool = defaultPool): void {
    const ofPool = this.#allocators.get(pool) ?? new Map<Family, Allocator>();
    ofPool.set(allocator.family, allocator);
    this.#allocators.set(pool, ofPool);
    if (allocator.router !== undefined) {
      this.excludeIP(addressText({ family: allocator.family, value: allocator.router }), 'router');
    }
    for (const ip of this.#excluded.keys()) takeIn(allocator, ip);
    for (const held of this.holdings.held()) if (held.pool === pool) takeIn(allocator, held.ip);
    this.#tellChange();
  }

  allocator(family: Family, pool = defaultPool): Allocator | undefined {
    return this.#allocators.get(pool)?.get(family);
  }

  /** Never gives this address out. One that is held stays held until it is released. */
  excludeIP(ip: string, owner: string): void {
    this.#excluded.set(ip, owner);
    for (const ofPool of this.#allocators.values()) {
      const allocator = ofPool.get(familyOf(ip));
      if (allocator !== undefined) takeIn(allocator, ip);
    }
  }

  /** The addresses that are never given out, with the reason. */
  get excluded(): ReadonlyMap<string, string> {
    return this.#excluded;
  }

  /** The families of a request that names none. */
  servedFamilies(pool = defaultPool): readonly Family[] {
    const { enabled } = this.#options;
    return allFamilies.filter((family) => enabled[family] ?? this.allocator(family, pool) !== undefined);
  }

  /** Serves a demand as a whole, with one entry in the record. */
  allocate(demand: Demand): Outcome<readonly Allocated[]> {
    const { pool = defaultPool, owner, attachment } = demand;
    const wanted = this.#wanted(demand, pool);
    if (wanted.kind === 'failed') return wanted;
    const taken = this.#takeAll(wanted.value, pool);
    if (taken.kind === 'failed') return taken;
    const hold = taken.value.map((address): Held => {
      const ip = addressText(address);
      return {
        pool,
        ip,
        owner,
        ...(demand.timeout !== undefined && { expiry: this.#expiry(demand.timeout) }),
      };
    });
    const places = hold.map(({ ip }) => ({ pool, ip }));
    const attach = attachment === undefined ? undefined : { ...attachment, owner, places };
    const problem = this.#commit({ hold, ...(attach !== undefined && { attach }) });
    if (problem !== undefined) {
      for (const address of taken.value) this.allocator(address.family, pool)?.release(address.value);
      return notRecorded(problem);
    }
    for (const held of hold) {
      this.#expirations.arm(held);
      this.#options.onEvent({ kind: 'allocated', family: familyOf(held.ip) });
    }
    return ok(
      hold.map(({ ip, expiry }) => ({
        pool,
        ip,
        family: familyOf(ip),
        ...(expiry !== undefined && { uuid: expiry.uuid }),
      })),
    );
  }

  /** Holds exactly this address. */
  allocateIP(ip: string, owner: string, pool = defaultPool): Outcome<readonly Allocated[]> {
    const family = familyOf(ip);
    return this.allocate({ owner, pool, families: [family], fixed: [ip] });
  }

  /** Releases an address. One that nobody holds is released already; one that an attachment holds is in use. */
  releaseIP(place: Place): Outcome<undefined> {
    const { pool, ip } = place;
    if (!this.#allocators.has(pool)) return unknownPool(pool);
    const attachment = this.holdings.attachmentOf(place);
    if (attachment !== undefined) return failed('inUse', `IP is in use by endpoint ${attachment.container}`);
    if (this.holdings.at(place) === undefined) {
      const owner = this.#excluded.get(ip);
      return owner === undefined ? ok(undefined) : excludedError(ip, owner);
    }
    return this.#release({ free: [place] });
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
    const { pool, ip, owner } = held;
    const problem = this.#commit({ hold: [{ pool, ip, owner }] });
    if (problem !== undefined) return notRecorded(problem);
    this.#expirations.cancel(place);
    return ok(undefined);
  }

  figures(): readonly PoolFigures[] {
    return [...this.#allocators].flatMap(([pool, ofPool]) =>
      [...ofPool.values()].map((allocator) => {
        const { family, cidrs, capacity, taken } = allocator;
        const used = this.#usedOf(allocator, pool);
        const usable = Number(capacity) - (taken - used);
        return { pool, family, cidrs, capacity: usable, used, available: usable - used, needed: 0 };
      }),
    );
  }

  /** `IPv4: <status>, IPv6: <status>`, of the families that are served. */
  status(): string {
    const parts = this.servedFamilies().map((family) => {
      const text = this.allocator(family)?.status() ?? 'no block yet';
      return `${familyName[family]}: ${text}`;
    });
    return parts.length === 0 ? 'Not running' : parts.join(', ');
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
    const excluded = [...this.#excluded].map(([ip, owner]) => `${ip}: never given out (${owner})`);
    return [this.status(), ...lines.toSorted(), ...excluded, ''].join('\n');
  }

  #usedOf(allocator: Allocator, pool: string): number {
    let used = 0;
    for (const held of this.holdings.held()) {
      const address = held.pool === pool ? parseAddress(held.ip) : undefined;
      if (address?.family === allocator.family && allocator.covers(address.value)) used++;
    }
    return used;
  }

  #wanted(
    { families, fixed = [] }: Demand,
    pool: string,
  ): Outcome<readonly { readonly family: Family; readonly fixed: Address | undefined }[]> {
    if (!this.#allocators.has(pool)) return unknownPool(pool);
    const wanted = families ?? this.servedFamilies(pool);
    if (wanted.length === 0) return failed('poolNotReady', 'no family has a block yet');
    const addresses = fixed.map((ip) => ({ ip, address: parseAddress(ip) }));
    const outside = addresses.find(
      ({ address }) => address === undefined || !wanted.includes(address.family),
    );
    if (outside !== undefined)
      return failed('outOfRange', `IP ${outside.ip} is of no family that is asked for`);
    const perFamily = new Set(addresses.map(({ address }) => address?.family));
    if (perFamily.size < addresses.length)
      return failed('outOfRange', 'more than one IP of a family is asked for');
    return ok(
      wanted.map((family) => ({
        family,
        fixed: addresses.find(({ address }) => address?.family === family)?.address,
      })),
    );
  }

  #takeAll(
    wanted: readonly { readonly family: Family; readonly fixed: Address | undefined }[],
    pool: string,
  ): Outcome<readonly Address[]> {
    const taken: Address[] = [];
    for (const { family, fixed } of wanted) {
      const outcome = this.#take(family, fixed, pool);
      if (outcome.kind === 'failed') {
        for (const address of taken) this.allocator(address.family, pool)?.release(address.value);
        return outcome;
      }
      taken.push({ family, value: outcome.value });
    }
    return ok(taken);
  }

  #take(family: Family, fixed: Address | undefined, pool: string): Outcome<bigint> {
    if (!this.servedFamilies(pool).includes(family))
      return this.servedFamilies(pool).length === 0
        ? failed('poolNotReady', 'no family has a block yet')
        : failed('familyDisabled', `${familyName[family]} allocation disabled`);
    const allocator = this.allocator(family, pool);
    if (allocator === undefined)
      return failed('poolNotReady', `required ${familyName[family]} PodCIDR not available`);
    if (fixed === undefined) return allocator.allocateNext();
    const ip = addressText(fixed);
    const excluder = this.#excluded.get(ip);
    return excluder === undefined ? allocator.allocate(fixed.value) : excludedError(ip, excluder);
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
    const problem = this.#commit(change);
    if (problem !== undefined) return notRecorded(problem);
    for (const { pool, ip } of change.free) {
      this.#expirations.cancel({ pool, ip });
      const address = parseAddress(ip);
      if (address !== undefined && !this.#excluded.has(ip))
        this.allocator(address.family, pool)?.release(address.value);
      this.#options.onEvent({ kind: 'released', family: familyOf(ip) });
    }
    this.#tellChange();
    return ok(undefined);
  }

  #commit(change: Change): string | undefined {
    const problem = this.#options.record(change);
    if (problem === undefined) this.holdings.apply(change);
    return problem;
  }

  #tellChange(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function takeIn(allocator: Allocator, ip: string): void {
  const address = parseAddress(ip);
  if (address?.family === allocator.family) allocator.allocate(address.value);
}

function excludedError(ip: string, owner: string): { readonly kind: 'failed'; readonly error: IpamError } {
  return failed('excluded', `IP ${ip} is excluded, owned by ${owner}`);
}

function unknownPool(pool: string): { readonly kind: 'failed'; readonly error: IpamError } {
  return failed('unknownPool', `there is no pool ${JSON.stringify(pool)}`);
}

function notRecorded(problem: string): { readonly kind: 'failed'; readonly error: IpamError } {
  return failed('notRecorded', problem);
}
