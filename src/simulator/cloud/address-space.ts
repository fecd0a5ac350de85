// The IPv4 addresses of one subnet: which may be used for what, how many are free and which one is next. It
// knows no interfaces and never hands out an address twice.
import type { Random } from '../../runtime/random.ts';
import { type CloudRules, ec2Rules } from './cloud-rules.ts';
import { type Ipv4Block, contains, covers, sizeOf } from './ipv4.ts';
import { PickSet } from './pick-set.ts';

/** Addresses in a prefix: clouds delegate /28 blocks. */
export const prefixSize = 16;

/** How many freed addresses are remembered as candidates for immediate reuse. */
const remembered = 64;

export type ReservationType = 'explicit' | 'prefix';

/** The purpose that an address is reserved for. `system`: the cloud's own. */
type Purpose = 'open' | 'system' | ReservationType;

/** Why an explicitly requested address or prefix is unavailable. */
export type Obstacle = 'outside' | 'reserved' | 'held' | 'misaligned';

/** The thing that is missing: addresses, addresses for the prefixes, or whole blocks. */
export type Shortage = 'addresses' | 'prefixAddresses' | 'blocks';

export interface AddressSpaceOptions {
  readonly block: Ipv4Block;
  readonly random: Random;
  /** Chance that a recently freed address is preferred. */
  readonly reuse: number;
  /** The addresses of the cloud itself; EC2's five if absent. */
  readonly reservedOffsets?: CloudRules['reservedOffsets'];
}

export class AddressSpace {
  readonly #options: AddressSpaceOptions;
  readonly #held: Uint8Array;
  readonly #purposes: Purpose[];
  readonly #open: PickSet;
  readonly #openBlocks: PickSet;
  readonly #reservedBlocks: PickSet;
  #recent: number[] = [];

  constructor(options: AddressSpaceOptions) {
    const size = sizeOf(options.block);
    this.#options = options;
    this.#held = new Uint8Array(size);
    this.#purposes = Array<Purpose>(size).fill('open');
    this.#open = new PickSet(size);
    this.#openBlocks = new PickSet(Math.ceil(size / prefixSize));
    this.#reservedBlocks = new PickSet(Math.ceil(size / prefixSize));
    const { reservedOffsets = ec2Rules.reservedOffsets } = options;
    for (const offset of reservedOffsets(size)) this.#purposes[offset] = 'system';
    this.#refresh(0, size);
  }

  /** Addresses neither held nor reserved: what the cloud reports as available. */
  get available(): number {
    return this.#open.size;
  }

  /** The shortage if this many addresses and prefixes were taken together. */
  shortage(addresses: number, prefixes: number): Shortage | undefined {
    const fromReservations = Math.min(prefixes, this.#reservedBlocks.size);
    const fromOpen = prefixes - fromReservations;
    if (fromOpen * prefixSize > this.available) return 'prefixAddresses';
    if (fromOpen > this.#openBlocks.size) return 'blocks';
    return addresses > this.available - fromOpen * prefixSize ? 'addresses' : undefined;
  }

  /** Takes any free address; there must be one. */
  takeAddress(): number {
    const offset = this.#recentlyFreed() ?? this.#open.pick(this.#options.random);
    this.#mark(offset, 1, true);
    return this.#options.block.first + offset;
  }

  /** Takes any free aligned block, from a prefix reservation if possible; returns its first address. */
  takePrefix(): number {
    const blocks = this.#reservedBlocks.size > 0 ? this.#reservedBlocks : this.#openBlocks;
    const offset = blocks.pick(this.#options.random) * prefixSize;
    this.#mark(offset, prefixSize, true);
    return this.#options.block.first + offset;
  }

  /** Why a given address cannot be held; undefined if it can. */
  obstacleTo(address: number): Obstacle | undefined {
    if (!contains(this.#options.block, address)) return 'outside';
    const offset = address - this.#options.block.first;
    const purpose = this.#purposes[offset];
    if (purpose === 'system' || purpose === 'prefix') return 'reserved';
    return this.#held[offset] === 1 ? 'held' : undefined;
  }

  /** Why a given block cannot be held as a prefix; undefined if it can. */
  obstacleToPrefix(prefix: Ipv4Block): Obstacle | undefined {
    if (sizeOf(prefix) !== prefixSize) return 'misaligned';
    if (!covers(this.#options.block, prefix)) return 'outside';
    const start = prefix.first - this.#options.block.first;
    const end = start + prefixSize;
    if (this.#purposes.slice(start, end).includes('system')) return 'reserved';
    return this.#held.subarray(start, end).includes(1) ? 'held' : undefined;
  }

  holdAddress(address: number): void {
    this.#mark(address - this.#options.block.first, 1, true);
  }

  holdPrefix(first: number): void {
    this.#mark(first - this.#options.block.first, prefixSize, true);
  }

  releaseAddress(address: number): void {
    const offset = address - this.#options.block.first;
    this.#mark(offset, 1, false);
    this.#recent = [...this.#recent.slice(1 - remembered), offset];
  }

  releasePrefix(first: number): void {
    this.#mark(first - this.#options.block.first, prefixSize, false);
  }

  /** Reserves a block for explicit addresses or for prefixes only. */
  reserve(block: Ipv4Block, type: ReservationType): void {
    this.#dedicate(block, type);
  }

  /** Ends a reservation. */
  open(block: Ipv4Block): void {
    this.#dedicate(block, 'open');
  }

  #recentlyFreed(): number | undefined {
    if (this.#recent.length === 0 || !this.#options.random.chance(this.#options.reuse)) return undefined;
    this.#recent = this.#recent.filter((offset) => this.#open.has(offset));
    return this.#recent.at(-1);
  }

  #mark(start: number, count: number, held: boolean): void {
    const range = this.#held.subarray(start, start + count);
    if (range.includes(held ? 1 : 0)) throw new Error(`an address was ${held ? 'taken' : 'released'} twice`);
    range.fill(held ? 1 : 0);
    this.#refresh(start, count);
  }

  #dedicate(block: Ipv4Block, purpose: Purpose): void {
    const start = block.first - this.#options.block.first;
    for (let offset = start; offset < start + sizeOf(block); offset++) {
      if (this.#purposes[offset] !== 'system') this.#purposes[offset] = purpose;
    }
    this.#refresh(start, sizeOf(block));
  }

  /** Updates the sets after a change in [start, start + count). */
  #refresh(start: number, count: number): void {
    for (let offset = start; offset < start + count; offset++) {
      this.#open.set(offset, this.#held[offset] === 0 && this.#purposes[offset] === 'open');
    }
    const last = Math.floor((start + count - 1) / prefixSize);
    for (let block = Math.floor(start / prefixSize); block <= last; block++) {
      const purpose = this.#purposeOfFree(block * prefixSize);
      this.#openBlocks.set(block, purpose === 'open');
      this.#reservedBlocks.set(block, purpose === 'prefix');
    }
  }

  /** The common purpose of the 16 addresses from `start` on, if none is held and all have the same purpose. */
  #purposeOfFree(start: number): Purpose | undefined {
    const end = start + prefixSize;
    if (end > this.#held.length || this.#held.subarray(start, end).includes(1)) return undefined;
    const purpose = this.#purposes[start];
    return this.#purposes.slice(start, end).every((other) => other === purpose) ? purpose : undefined;
  }
}
