// Hands out the single addresses that a controller offers this node, of interfaces that its status shows. Interfaces and
// prefixes that have most addresses in use are filled first, so that others empty and can be released as a whole.
import { addressText, type Cidr, cidrText, contains, type Family, only } from '../../blocks/set/cidr.ts';
import type { Random } from '../../runtime/random.ts';
import { failed, ok, type Outcome } from '../ipam/ipam-error.ts';
import {
  type AddressDetails,
  type Allocator,
  type NextRequest,
  type PodNetwork,
  subnetOf,
} from './allocator.ts';

export interface OfferedAddress {
  /** The interface that has it. */
  readonly resource: string;
  /** The only owner that gets it; empty for any. */
  readonly owner: string;
  /** In hand-over: not to be given out. */
  readonly isLeaving: boolean;
}

export interface ShownInterface {
  readonly details: Readonly<Record<Family, AddressDetails>>;
  /** Blocks of addresses that come and go as a whole. */
  readonly prefixes: readonly Cidr[];
  /** The value that pods with its addresses need and it does not show yet; undefined if it shows all. */
  readonly lacks: Readonly<Record<Family, string | undefined>>;
}

export interface Offer {
  readonly addresses: ReadonlyMap<bigint, OfferedAddress>;
  /** By id; undefined where addresses belong to no interface that is shown. */
  readonly interfaces: ReadonlyMap<string, ShownInterface> | undefined;
}

export class CrdAllocator implements Allocator {
  readonly family: Family;
  readonly router = undefined;
  readonly #random: Random;
  readonly #taken = new Set<bigint>();
  readonly #excluded: Cidr[] = [];
  #offer: Offer;

  constructor(family: Family, offer: Offer, random: Random) {
    this.family = family;
    this.#offer = offer;
    this.#random = random;
  }

  /** Gives out what this offer has from now on. */
  take(offer: Offer): void {
    this.#offer = offer;
  }

  get cidrs(): readonly string[] {
    const shown = [...(this.#offer.interfaces?.values() ?? [])];
    const all = shown.flatMap(({ details }) => details[this.family].cidrs ?? []);
    return [...new Set(all)];
  }

  /** Addresses that are taken or may be. */
  get capacity(): bigint {
    const usable = [...this.#offer.addresses].filter(
      ([address, offered]) => this.#taken.has(address) || this.#isUsable(address, offered),
    );
    return BigInt(usable.length);
  }

  get taken(): number {
    return [...this.#taken].filter((address) => this.covers(address)).length;
  }

  covers(address: bigint): boolean {
    return this.#offer.addresses.has(address);
  }

  /** Held, or never given out. */
  isTaken(address: bigint): boolean {
    return this.#taken.has(address) || this.#isExcluded(address);
  }

  allocate(address: bigint): Outcome<bigint> {
    if (this.#taken.has(address)) return failed('inUse', 'IP already in use');
    const offered = this.#offer.addresses.get(address);
    const ip = addressText({ family: this.family, value: address });
    if (offered === undefined) return failed('outOfRange', `IP ${ip} is not available`);
    if (offered.isLeaving) return failed('inUse', 'IP not available, marked or ready for release');
    const why = this.#whyUnusable(offered);
    if (why !== undefined)
      return failed('poolNotReady', `failed to associate IP ${ip} inside CiliumNode: ${why}`);
    this.#taken.add(address);
    return ok(address);
  }

  allocateNext(request: NextRequest): Outcome<bigint> {
    const address = this.#next(request);
    if (address === undefined) return failed('exhausted', this.#dry);
    this.#taken.add(address);
    return ok(address);
  }

  /** The text of Cilium's agent from 1.20 on, which scripts match. */
  get #dry(): string {
    const source =
      this.#offer.interfaces === undefined
        ? 'IPs are added to CiliumNode spec.ipam.pool'
        : 'Cilium Operator allocates more IPs';
    return `no IPs currently available on the node, allocation will be retried once ${source}`;
  }

  exclude(network: Cidr): void {
    this.#excluded.push(network);
  }

  restore(address: bigint): void {
    this.#taken.add(address);
  }

  release(address: bigint): void {
    this.#taken.delete(address);
  }

  details(address: bigint): AddressDetails {
    const resource = this.#offer.addresses.get(address)?.resource ?? '';
    return this.#offer.interfaces?.get(resource)?.details[this.family] ?? {};
  }

  networkOf(address: bigint): PodNetwork | undefined {
    const found = subnetOf(this.details(address), this.family, address);
    return found?.gateway !== undefined && this.covers(found.gateway)
      ? { ...found, gateway: undefined }
      : found;
  }

  status(): string {
    return `${this.#taken.size}/${this.#offer.addresses.size} allocated`;
  }

  #next({ owner, rank }: NextRequest): bigint | undefined {
    const free = [...this.#offer.addresses].filter(
      ([address, offered]) => !this.#taken.has(address) && this.#isUsable(address, offered),
    );
    const reserved = free.find(([, offered]) => offered.owner !== '' && offered.owner === owner);
    if (reserved !== undefined) return reserved[0];
    const open = free.filter(([, offered]) => offered.owner === '');
    return this.#fullest(highest(open, ([address]) => -rank(address)));
  }

  /** Any address of the fullest part of the fullest interface. */
  #fullest(candidates: readonly Candidate[]): bigint | undefined {
    const used = this.#useByPlace();
    const resource = highest(candidates, ([, { resource: id }]) => used.get(id) ?? 0);
    const best = highest(resource, ([address, { resource: id }]) => this.#rank(id, address, used));
    return best.length === 0 ? undefined : this.#random.pick(best)[0];
  }

  /** A prefix in use stays anyhow; one that is empty comes last, because a single address is released alone. */
  #rank(resource: string, address: bigint, used: ReadonlyMap<string, number>): number {
    const prefix = this.#prefixOf(resource, address);
    if (prefix === undefined) return 0;
    return used.get(placeOf(resource, prefix)) ?? -1;
  }

  #useByPlace(): ReadonlyMap<string, number> {
    const used = new Map<string, number>();
    const count = (place: string): unknown => used.set(place, (used.get(place) ?? 0) + 1);
    for (const address of this.#taken) {
      const resource = this.#offer.addresses.get(address)?.resource;
      if (resource === undefined) continue;
      count(resource);
      const prefix = this.#prefixOf(resource, address);
      if (prefix !== undefined) count(placeOf(resource, prefix));
    }
    return used;
  }

  #isUsable(address: bigint, offered: OfferedAddress): boolean {
    return !this.#isExcluded(address) && this.#whyUnusable(offered) === undefined;
  }

  #isExcluded(address: bigint): boolean {
    return this.#excluded.some((network) => contains(network, this.#only(address)));
  }

  #prefixOf(resource: string, address: bigint): Cidr | undefined {
    const { prefixes = [] } = this.#offer.interfaces?.get(resource) ?? {};
    return prefixes.find((prefix) => contains(prefix, this.#only(address)));
  }

  #only(address: bigint): Cidr {
    return only({ family: this.family, value: address });
  }

  /** Undefined if a pod may get the address, as far as its offer says. */
  #whyUnusable({ resource, isLeaving }: OfferedAddress): string | undefined {
    if (isLeaving) return 'it is marked or ready for release';
    const { interfaces } = this.#offer;
    if (interfaces === undefined) return undefined;
    const shown = interfaces.get(resource);
    if (shown === undefined) return `unable to find ENI ${resource}`;
    const lacks = shown.lacks[this.family];
    return lacks === undefined ? undefined : `ENI ${resource} has no ${lacks} yet`;
  }
}

type Candidate = readonly [bigint, OfferedAddress];

function placeOf(resource: string, prefix: Cidr): string {
  return `${resource} ${cidrText(prefix)}`;
}

/** The candidates of the highest rank. */
function highest(
  candidates: readonly Candidate[],
  rankOf: (candidate: Candidate) => number,
): readonly Candidate[] {
  const ranks = candidates.map(rankOf);
  const max = Math.max(...ranks);
  return candidates.filter((_, index) => ranks[index] === max);
}
