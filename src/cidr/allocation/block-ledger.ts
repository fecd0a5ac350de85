// Who holds which block. Every part that is taken knows its holders, so that an overlap has a name, and freeing one
// holder does not free another's.
import { BlockSet, type BlockRange } from '../set/block-set.ts';
import { type Cidr, type Family, contains, isSame, overlaps } from '../set/cidr.ts';

/** One CIDR of a pool, and the prefix length of its blocks. */
export interface PoolCidr {
  /** Name of the pool. */
  readonly pool: string;
  readonly cidr: Cidr;
  readonly maskSize: number;
}

interface Holding {
  readonly holder: string;
  readonly cidr: Cidr;
  /** Undefined outside all pools: it takes no block. */
  readonly place: { readonly shelf: Shelf; readonly range: BlockRange } | undefined;
}

/** The blocks of one CIDR, and who holds them. */
interface Shelf {
  readonly pool: PoolCidr;
  readonly set: BlockSet;
  /** Holdings within one block, by its index: nearly all. */
  readonly narrow: Map<number, readonly Holding[]>;
  /** Holdings over several blocks. */
  readonly wide: Set<Holding>;
}

/** What one CIDR of a pool has. */
export interface PoolFigures extends PoolCidr {
  readonly capacity: number;
  /** Blocks, of which any part is held. */
  readonly held: number;
}

export interface Allocated {
  readonly cidr: Cidr;
  readonly pool: PoolCidr;
  /** Taken blocks that were passed over. */
  readonly passed: number;
}

/**
 * The most blocks that one CIDR of an object takes. A larger one cannot be the pod CIDR of a node, and whoever may write one
 * object could take a whole pool.
 */
export const mostBlocksOfOne = 256;

export class BlockLedger {
  readonly #shelves: readonly Shelf[];
  readonly #byHolder = new Map<string, readonly Holding[]>();
  /** Holdings that take no block. */
  readonly #outside = new Set<Holding>();

  /** The CIDRs of a family are used in this order. */
  constructor(pools: readonly PoolCidr[]) {
    this.#shelves = pools.map((pool) => ({
      pool,
      set: new BlockSet(pool.cidr, pool.maskSize),
      narrow: new Map(),
      wide: new Set(),
    }));
  }

  /** Takes the next free block of a family for `holder`; undefined if none is free. */
  allocate(family: Family, holder: string): Allocated | undefined {
    const shelf = this.#shelves.find(({ pool, set }) => pool.cidr.family === family && !set.isFull);
    const allocation = shelf?.set.allocate();
    if (shelf === undefined || allocation === undefined) return undefined;
    const { index, passed } = allocation;
    const cidr = shelf.set.blockAt(index);
    this.#note({ holder, cidr, place: { shelf, range: { first: index, last: index } } });
    return { cidr, pool: shelf.pool, passed };
  }

  hasFree(family: Family): boolean {
    return this.#shelves.some(({ pool, set }) => pool.cidr.family === family && !set.isFull);
  }

  /** Records that `holder` holds a CIDR, whoever else does. */
  hold(holder: string, cidr: Cidr): void {
    if (this.heldBy(holder).some((each) => isSame(each, cidr))) return;
    this.#note({ holder, cidr, place: this.#placeOf(cidr) });
  }

  /** Never gives out what is within `cidr`, or overlaps it. */
  reserve(cidr: Cidr): void {
    for (const { set } of this.#shelves) {
      const range = set.rangeOf(cidr);
      for (let index = range?.first ?? 0; index <= (range?.last ?? -1); index++) set.take(index);
      if (range !== undefined) this.#reserved.push(cidr);
    }
  }

  readonly #reserved: Cidr[] = [];

  /** Frees one CIDR of `holder`. */
  release(holder: string, cidr: Cidr): void {
    const holdings = this.#byHolder.get(holder) ?? [];
    const holding = holdings.find((each) => isSame(each.cidr, cidr));
    if (holding === undefined) return;
    const rest = holdings.filter((each) => each !== holding);
    if (rest.length === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, rest);
    this.#strike(holding);
  }

  heldBy(holder: string): readonly Cidr[] {
    return (this.#byHolder.get(holder) ?? []).map(({ cidr }) => cidr);
  }

  /** Other holders of any part of `cidr`. */
  othersHolding(cidr: Cidr, holder: string): readonly string[] {
    const place = this.#placeOf(cidr);
    const near = place === undefined ? this.#outside : this.#within(place.shelf, place.range);
    const names = new Set<string>();
    for (const each of near) if (each.holder !== holder && overlaps(each.cidr, cidr)) names.add(each.holder);
    return [...names];
  }

  /** The pool of which `cidr` takes blocks; undefined if it takes none. */
  poolOf(cidr: Cidr): PoolCidr | undefined {
    return this.#placeOf(cidr)?.shelf.pool;
  }

  /** Whether `cidr` is, in part, not to be given out. */
  isReserved(cidr: Cidr): boolean {
    return this.#reserved.some((each) => overlaps(each, cidr));
  }

  figures(): readonly PoolFigures[] {
    return this.#shelves.map(({ pool, set }) => ({ ...pool, capacity: set.capacity, held: set.count }));
  }

  #placeOf(cidr: Cidr): Holding['place'] {
    for (const shelf of this.#shelves) {
      const isLarger = contains(cidr, shelf.pool.cidr) && cidr.length < shelf.pool.cidr.length;
      const range = isLarger ? undefined : shelf.set.rangeOf(cidr);
      if (range !== undefined)
        return range.last - range.first < mostBlocksOfOne ? { shelf, range } : undefined;
    }
    return undefined;
  }

  #note(holding: Holding): void {
    const { holder, place } = holding;
    this.#byHolder.set(holder, [...(this.#byHolder.get(holder) ?? []), holding]);
    if (place === undefined) {
      this.#outside.add(holding);
      return;
    }
    const { shelf, range } = place;
    if (range.first === range.last)
      shelf.narrow.set(range.first, [...(shelf.narrow.get(range.first) ?? []), holding]);
    else shelf.wide.add(holding);
    for (let index = range.first; index <= range.last; index++) shelf.set.take(index);
  }

  #strike(holding: Holding): void {
    const { place } = holding;
    if (place === undefined) {
      this.#outside.delete(holding);
      return;
    }
    const { shelf, range } = place;
    shelf.wide.delete(holding);
    const rest = (shelf.narrow.get(range.first) ?? []).filter((each) => each !== holding);
    if (rest.length === 0) shelf.narrow.delete(range.first);
    else shelf.narrow.set(range.first, rest);
    for (let index = range.first; index <= range.last; index++)
      if (!this.#isHeld(shelf, index)) shelf.set.free(index);
  }

  #isHeld(shelf: Shelf, index: number): boolean {
    if (shelf.narrow.has(index)) return true;
    for (const { place } of shelf.wide)
      if (place !== undefined && place.range.first <= index && index <= place.range.last) return true;
    return this.#reserved.some((each) => overlaps(each, shelf.set.blockAt(index)));
  }

  *#within({ narrow, wide }: Shelf, { first, last }: BlockRange): Generator<Holding> {
    for (let index = first; index <= last; index++) yield* narrow.get(index) ?? [];
    for (const holding of wide) {
      const range = holding.place?.range;
      if (range !== undefined && range.first <= last && first <= range.last) yield holding;
    }
  }
}
