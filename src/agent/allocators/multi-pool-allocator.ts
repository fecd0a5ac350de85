// Hands out the addresses of one family of a pool, block by block in the order in which this node has them. A block that is
// gone, or is to go, gives nothing new, and stays as long as an address of it is in use.
import { addressText, type Cidr, cidrText, type Family, widthOf } from '../../blocks/set/cidr.ts';
import type { Random } from '../../runtime/random.ts';
import { failed, type Outcome } from '../ipam/ipam-error.ts';
import {
  type AddressDetails,
  type Allocator,
  type NextRequest,
  type PodNetwork,
  subnetOf,
} from './allocator.ts';
import { type BlockEnds, HostScopeAllocator, type Ranked } from './host-scope-allocator.ts';

export interface OfferedBlock extends BlockEnds {
  readonly cidr: Cidr;
  readonly details: AddressDetails;
  /** Whether pods may get addresses of it now. */
  readonly isUsable: boolean;
}

/** A block that is offered, or in use. */
export interface BlockUse extends BlockEnds {
  readonly cidr: string;
  readonly used: number;
  readonly free: number;
  readonly isUsable: boolean;
  /** False if it is here only for what is in use. */
  readonly isOffered: boolean;
}

interface Block extends OfferedBlock {
  readonly addresses: HostScopeAllocator;
  readonly isOffered: boolean;
}

export class MultiPoolAllocator implements Allocator {
  readonly family: Family;
  readonly router = undefined;
  readonly #random: Random;
  readonly #held: () => Iterable<bigint>;
  #blocks: ReadonlyMap<string, Block> = new Map();
  readonly #excluded: Cidr[] = [];
  /** Held, and in no block, or an end of one whose pool allowed it when it was given. */
  readonly #elsewhere = new Set<bigint>();

  /** `held`: what pods have of whatever pool, which a block that comes gives to nobody. */
  constructor(family: Family, random: Random, held: () => Iterable<bigint> = () => []) {
    this.family = family;
    this.#random = random;
    this.#held = held;
  }

  /** Gives out what these blocks have from now on. */
  take(offered: readonly OfferedBlock[]): void {
    const before = this.#blocks;
    const blocks = new Map<string, Block>();
    const isNew = offered.some(({ cidr }) => !before.has(cidrText(cidr)));
    const held = isNew ? [...this.#elsewhere, ...this.#held()] : [];
    for (const each of offered) {
      const text = cidrText(each.cidr);
      const known = before.get(text);
      const ends = known !== undefined && this.#keepsEnds(known, each) ? known : each;
      const addresses = ends === known ? known.addresses : this.#newBlock(each, text, held);
      const { allowsFirst, allowsLast } = ends;
      blocks.set(text, { ...each, allowsFirst, allowsLast, addresses, isOffered: true });
    }
    for (const [text, block] of before)
      if (!blocks.has(text) && this.#usedIn(block) > 0)
        blocks.set(text, { ...block, isUsable: false, isOffered: false });
    this.#blocks = blocks;
  }

  get blocks(): readonly BlockUse[] {
    return Array.from(this.#blocks, ([cidr, block]) => {
      const { addresses, isUsable, isOffered, allowsFirst, allowsLast } = block;
      const free = Number(addresses.capacity) - addresses.taken;
      return { cidr, used: this.#usedIn(block), free, isUsable, isOffered, allowsFirst, allowsLast };
    });
  }

  get cidrs(): readonly string[] {
    return [...this.#blocks.keys()];
  }

  get capacity(): bigint {
    return this.#all().reduce((sum, block) => {
      const { addresses, isUsable } = block;
      const used = this.#usedIn(block);
      return sum + (isUsable ? addresses.capacity + BigInt(used - addresses.taken) : BigInt(used));
    }, 0n);
  }

  get taken(): number {
    return this.#all().reduce((sum, block) => sum + this.#usedIn(block), 0);
  }

  covers(address: bigint): boolean {
    return this.#blockOf(address) !== undefined;
  }

  allocate(address: bigint): Outcome<bigint> {
    const ip = addressText({ family: this.family, value: address });
    const block = this.#blockOf(address);
    if (this.#elsewhere.has(address)) return failed('inUse', 'provided IP is already allocated');
    if (block?.isUsable !== true) return failed('outOfRange', `IP ${ip} not in range of any CIDR`);
    return this.#take(block, address);
  }

  allocateNext(request: NextRequest): Outcome<bigint> {
    const next = nextOf(
      this.#all().filter(({ isUsable }) => isUsable),
      request.rank,
    );
    return next === undefined
      ? failed('exhausted', 'all CIDR ranges are exhausted')
      : this.#take(next, next.address);
  }

  exclude(network: Cidr): void {
    this.#excluded.push(network);
    for (const { addresses } of this.#blocks.values()) addresses.exclude(network);
  }

  restore(address: bigint): void {
    const outcome = this.#blockOf(address)?.addresses.allocate(address);
    if (outcome === undefined || (outcome.kind === 'failed' && outcome.error.kind !== 'inUse'))
      this.#elsewhere.add(address);
  }

  release(address: bigint): void {
    this.#elsewhere.delete(address);
    for (const { addresses } of this.#blocks.values()) addresses.release(address);
  }

  details(address: bigint): AddressDetails {
    return this.#blockOf(address)?.details ?? {};
  }

  networkOf(address: bigint): PodNetwork | undefined {
    const block = this.#blockOf(address);
    if (block === undefined) return undefined;
    const { details, addresses, cidr } = block;
    const isSingle = details.mac !== undefined && cidr.length === widthOf[this.family];
    if (isSingle || details.subnet !== undefined) return subnetOf(details, this.family, address);
    const { length, gateway } = addresses.networkOf();
    // An earlier pod may have what its pool allows no longer.
    const isHeld = gateway !== undefined && this.#elsewhere.has(gateway);
    return { length, gateway: isHeld ? undefined : gateway };
  }

  status(): string {
    return `${this.taken}/${this.capacity} allocated from ${this.#blocks.size} blocks`;
  }

  #all(): readonly Block[] {
    return [...this.#blocks.values()];
  }

  /** Pods that live have the first address as their gateway, or one of them has it. */
  #keepsEnds(known: Block, { allowsFirst, allowsLast }: BlockEnds): boolean {
    const areSame = known.allowsFirst === allowsFirst && known.allowsLast === allowsLast;
    return areSame || this.#usedIn(known) > 0;
  }

  #usedIn({ addresses }: Block): number {
    let ends = 0;
    for (const address of this.#elsewhere) if (addresses.covers(address)) ends++;
    return addresses.taken + ends;
  }

  #blockOf(address: bigint): Block | undefined {
    return this.#all().find(({ addresses }) => addresses.covers(address));
  }

  /** A block that is gone may come back, so it knows what one that overlaps it gives. */
  #take({ addresses }: Pick<Block, 'addresses'>, address: bigint): Outcome<bigint> {
    const outcome = addresses.allocate(address);
    if (outcome.kind === 'ok')
      for (const other of this.#all()) if (other.addresses.covers(address)) other.addresses.restore(address);
    return outcome;
  }

  #newBlock(block: OfferedBlock, text: string, held: readonly bigint[]): HostScopeAllocator {
    const addresses = new HostScopeAllocator(block.cidr, this.#random.fork(text), block);
    for (const network of this.#excluded) addresses.exclude(network);
    for (const address of held.filter((each) => addresses.covers(each))) {
      const outcome = addresses.allocate(address);
      if (outcome.kind === 'ok') this.#elsewhere.delete(address);
      else if (outcome.error.kind === 'outOfRange') this.#elsewhere.add(address);
    }
    return addresses;
  }
}

/** The next address of the first block that has one of rank 0, else the address of the lowest rank. */
function nextOf(
  blocks: readonly Block[],
  rank: NextRequest['rank'],
): (Ranked & Pick<Block, 'addresses'>) | undefined {
  let lowest: (Ranked & Pick<Block, 'addresses'>) | undefined;
  for (const { addresses } of blocks) {
    const next = addresses.next(rank);
    if (next?.rank === 0) return { ...next, addresses };
    if (next !== undefined && (lowest === undefined || next.rank < lowest.rank))
      lowest = { ...next, addresses };
  }
  return lowest;
}
