// The pools of this node: which allocator serves a family of a pool, which pool an owner gets, and which addresses are never
// given out. Taking is by whole requests: all of it, or an error and nothing.
import {
  type Address,
  addressText,
  type Cidr,
  cidrText,
  contains,
  families as allFamilies,
  type Family,
  familyNames,
  familyOf,
  only,
  parseAddress,
  widthOf,
} from '../../blocks/set/cidr.ts';
import type { Allocator } from '../allocators/allocator.ts';
import type { Held, Place } from './holdings.ts';
import { failed, type Failed, ok, type Outcome } from './ipam-error.ts';

/** Which pools there are beyond those that have addresses here. */
export interface PoolDirectory {
  readonly defaultPool: string;
  /** The pool of an owner that names none. `uid`: that of the pod, which may be another one than that of the same name before. */
  poolFor(owner: string, family: Family, uid?: string): Outcome<string>;
  /** The families that a pool has, or is to get; undefined: those that have addresses here. */
  familiesOf(pool: string): readonly Family[] | undefined;
  /** Why a pool without addresses here has none. */
  absence(pool: string, family: Family): Failed;
  /** Addresses that this node asks for; 0 where it asks for none. */
  needed(pool: string, family: Family): number;
}

export interface PoolsOptions {
  /** Whether a family is served; undefined: if the pool has it. */
  readonly enabled: Readonly<Record<Family, boolean | undefined>>;
  readonly directory: PoolDirectory;
  /** 0: an address may be given. Others are given only if none of these is free, and of them the lowest first. */
  readonly rank: (place: Place) => number;
}

export interface FamilyOfPool {
  readonly family: Family;
  readonly pool: string;
}

/** A family of a request. */
export interface Wanted extends FamilyOfPool {
  readonly fixed: Address | undefined;
}

export interface PoolRequest {
  readonly owner: string;
  /** Default: every family that is served. */
  readonly families?: readonly Family[];
  /** Default: that of the owner. */
  readonly pool?: string;
  /** Exactly these, for the families that they are of. */
  readonly fixed?: readonly string[];
  readonly attachment?: { readonly uid?: string };
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

/** Addresses that are never given out. */
export interface Exclusion {
  readonly network: Cidr;
  readonly owner: string;
  /** Default: every pool. */
  readonly pool?: string;
}

/** The only pool is `default`. */
export const onlyDefault: PoolDirectory = {
  defaultPool: 'default',
  poolFor: () => ok('default'),
  familiesOf: () => undefined,
  absence: (pool, family) =>
    pool === 'default'
      ? failed('poolNotReady', `required ${familyNames[family]} PodCIDR not available`)
      : failed('unknownPool', `there is no pool ${JSON.stringify(pool)}`),
  needed: () => 0,
};

export class Pools {
  readonly #options: PoolsOptions;
  /** With those of a family that is off, which give nothing, and have what is held. */
  readonly #allocators = new Map<string, Map<Family, Allocator>>();
  /** By what it excludes. */
  readonly #exclusions = new Map<string, Exclusion>();

  constructor(options: PoolsOptions) {
    this.#options = options;
  }

  get defaultPool(): string {
    return this.#options.directory.defaultPool;
  }

  /** Gives out the addresses of this allocator from now on, and none of an earlier one. One of a family that is off gives none. */
  serve(allocator: Allocator, pool: string, held: Iterable<Held>): void {
    const { family, router } = allocator;
    const ofPool = this.#allocators.get(pool) ?? new Map<Family, Allocator>();
    ofPool.set(family, allocator);
    this.#allocators.set(pool, ofPool);
    if (router !== undefined) {
      this.exclude({ network: only({ family, value: router }), owner: 'router' });
      allocator.restore(router);
    }
    for (const exclusion of this.#exclusions.values())
      if ((exclusion.pool ?? pool) === pool) allocator.exclude(exclusion.network);
    for (const each of held)
      if (each.pool === pool || covers(allocator, each.ip)) restore(allocator, each.ip);
  }

  /** Undefined for a family that is off. */
  allocator(family: Family, pool = this.defaultPool): Allocator | undefined {
    return this.#isOff(family) ? undefined : this.#allocators.get(pool)?.get(family);
  }

  /** Never gives these addresses out. What is held of them stays held until it is released. */
  exclude(exclusion: Exclusion): void {
    this.#exclusions.set(exclusionText(exclusion), exclusion);
    for (const [pool, ofPool] of this.#allocators)
      if ((exclusion.pool ?? pool) === pool) ofPool.get(exclusion.network.family)?.exclude(exclusion.network);
  }

  /** Why addresses are never given out, by what `exclusionText` says of them. */
  get excluded(): ReadonlyMap<string, string> {
    return new Map(Array.from(this.#exclusions, ([text, { owner }]) => [text, owner]));
  }

  /** Why this address is never given out. */
  excluderOf({ pool, ip }: Place): string | undefined {
    const address = parseAddress(ip);
    if (address === undefined) return undefined;
    const found = [...this.#exclusions.values()].find(
      (each) => (each.pool ?? pool) === pool && contains(each.network, only(address)),
    );
    return found?.owner;
  }

  /** The families of a request that names none. */
  servedFamilies(pool = this.defaultPool): readonly Family[] {
    return allFamilies.filter((family) => this.#serves({ family, pool }));
  }

  /** Why a pool that serves no family serves none. */
  absence(pool: string): Failed {
    const { directory } = this.#options;
    const why = directory.absence(pool, 'ipv4');
    return why.error.kind === 'unknownPool' || directory.familiesOf(pool) !== undefined
      ? why
      : failed('poolNotReady', 'no family has a block yet');
  }

  /** Takes an address of each family, all or none. */
  take(request: PoolRequest): Outcome<readonly (Address & { readonly pool: string })[]> {
    const wanted = this.wanted(request);
    if (wanted.kind === 'failed') return wanted;
    const taken: (Address & { readonly pool: string })[] = [];
    for (const each of wanted.value) {
      const outcome = this.#take(each, request.owner);
      if (outcome.kind === 'failed') {
        for (const { family, value } of taken) this.#release({ family, value });
        return outcome;
      }
      const address = { family: each.family, pool: each.pool, value: outcome.value };
      this.#restore(address);
      taken.push(address);
    }
    return ok(taken);
  }

  /** The pool that has the address; the default one for an address of none. */
  poolOf(ip: string): string {
    const family = familyOf(ip);
    const found = [...this.#allocators].find(([, ofPool]) => {
      const allocator = ofPool.get(family);
      return allocator !== undefined && covers(allocator, ip);
    });
    return found?.[0] ?? this.defaultPool;
  }

  restore({ pool, ip }: Place): void {
    const address = parseAddress(ip);
    if (address !== undefined) this.#restore({ ...address, pool });
  }

  free({ ip }: Pick<Place, 'ip'>): void {
    const address = parseAddress(ip);
    if (address !== undefined) this.#release(address);
  }

  /** Which families of which pools a request means. */
  wanted(request: PoolRequest): Outcome<readonly Wanted[]> {
    const chosen = this.#choosePools(request);
    if (chosen.kind === 'failed') return chosen;
    const { families, fixed = [] } = request;
    const meant = families === undefined ? chosen.value.filter((each) => this.#serves(each)) : chosen.value;
    const addresses = fixed.map((ip) => ({ ip, address: parseAddress(ip) }));
    const problem = fixedProblem(addresses, meant);
    if (problem !== undefined) return failed('outOfRange', problem);
    const fixedOf = (family: Family): Address | undefined =>
      addresses.find(({ address }) => address?.family === family)?.address;
    return meant.length === 0
      ? this.absence(chosen.value[0]?.pool ?? this.defaultPool)
      : ok(meant.map((each) => ({ ...each, fixed: fixedOf(each.family) })));
  }

  figures(held: Iterable<Held>): readonly PoolFigures[] {
    const all = [...held];
    return [...this.#allocators].flatMap(([pool, ofPool]) => {
      const shown = [...ofPool.values()].filter(({ family }) => !this.#isOff(family));
      return shown.map((allocator) => {
        const { family, cidrs, capacity, taken } = allocator;
        const used = all.filter((each) => each.pool === pool && covers(allocator, each.ip)).length;
        const usable = Number(capacity) - (taken - used);
        const needed = this.#options.directory.needed(pool, family);
        return { pool, family, cidrs, capacity: usable, used, available: usable - used, needed };
      });
    });
  }

  /** `IPv4: <status>, IPv6: <status>`, of the families that are served. */
  status(): string {
    const parts = this.servedFamilies().map((family) => {
      const text = this.allocator(family)?.status() ?? 'no block yet';
      return `${familyNames[family]}: ${text}`;
    });
    return parts.length === 0 ? 'Not running' : parts.join(', ');
  }

  /** In every pool that has the address: a block may have come in a pool while pods held addresses of it in another. */
  #restore({ pool, family, value }: Address & { readonly pool: string }): void {
    for (const [name, ofPool] of this.#allocators) {
      const allocator = ofPool.get(family);
      if (name === pool || allocator?.covers(value) === true) allocator?.restore(value);
    }
  }

  #release({ family, value }: Address): void {
    for (const ofPool of this.#allocators.values()) ofPool.get(family)?.release(value);
  }

  #isOff(family: Family): boolean {
    return this.#options.enabled[family] === false;
  }

  #choosePools(request: PoolRequest): Outcome<readonly FamilyOfPool[]> {
    const { owner, families = allFamilies, pool, attachment } = request;
    const { directory } = this.#options;
    const chosen: FamilyOfPool[] = [];
    for (const family of families) {
      const named = pool === undefined ? directory.poolFor(owner, family, attachment?.uid) : ok(pool);
      if (named.kind === 'failed') return named;
      chosen.push({ family, pool: named.value });
    }
    return ok(chosen);
  }

  #serves({ family, pool }: FamilyOfPool): boolean {
    const { enabled, directory } = this.#options;
    const ofPool = directory.familiesOf(pool);
    if (ofPool !== undefined) return !this.#isOff(family) && ofPool.includes(family);
    return enabled[family] ?? this.allocator(family, pool) !== undefined;
  }

  #take({ family, pool, fixed }: Wanted, owner: string): Outcome<bigint> {
    const allocator = this.allocator(family, pool);
    if (!this.#serves({ family, pool }) && this.servedFamilies(pool).length > 0)
      return failed('familyDisabled', `${familyNames[family]} allocation disabled`);
    if (allocator === undefined) return this.#options.directory.absence(pool, family);
    if (fixed === undefined) {
      const { rank } = this.#options;
      return allocator.allocateNext({
        owner,
        rank: (value) => rank({ pool, ip: addressText({ family, value }) }),
      });
    }
    const ip = addressText(fixed);
    const excluder = this.excluderOf({ pool, ip });
    return excluder === undefined ? allocator.allocate(fixed.value) : excludedError(ip, excluder);
  }
}

function fixedProblem(
  addresses: readonly { readonly ip: string; readonly address: Address | undefined }[],
  wanted: readonly FamilyOfPool[],
): string | undefined {
  const outside = addresses.find(
    ({ address }) => address === undefined || !wanted.some(({ family }) => family === address.family),
  );
  if (outside !== undefined) return `IP ${outside.ip} is of no family that is asked for`;
  const perFamily = new Set(addresses.map(({ address }) => address?.family));
  return perFamily.size < addresses.length ? 'more than one IP of a family is asked for' : undefined;
}

/** The exclusion in the form of the option `exclude-ips`. */
export function exclusionText({ network, pool }: Omit<Exclusion, 'owner'>): string {
  const { family, base: value, length } = network;
  const text = length === widthOf[family] ? addressText({ family, value }) : cidrText(network);
  return pool === undefined ? text : `${pool}=${text}`;
}

export function excludedError(ip: string, owner: string): Failed {
  return failed('excluded', `IP ${ip} is excluded, owned by ${owner}`);
}

function covers(allocator: Allocator, ip: string): boolean {
  const address = parseAddress(ip);
  return address?.family === allocator.family && allocator.covers(address.value);
}

function restore(allocator: Allocator, ip: string): void {
  const address = parseAddress(ip);
  if (address?.family === allocator.family) allocator.restore(address.value);
}
