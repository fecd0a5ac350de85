// Records who holds which block. Every taken part knows its holders, so that an overlap can be named, and freeing one
// holder does not free the blocks of another.
import { OutsideHoldings } from './outside-holdings.ts';
import {
  type BlockCount,
  type BlockWish,
  counted,
  emptyShelf,
  hasRoom,
  type Holding,
  narrowWithin,
  type Place,
  type PoolCidr,
  shapeOf,
  type Shelf,
  widen,
} from './shelf.ts';
import { type Cidr, type Family, isAmong, isSame, network, overlaps } from '../set/cidr.ts';
import { NetworkIndex } from '../set/network-index.ts';

/** The blocks of one CIDR of a pool. */
export interface PoolFigures extends PoolCidr {
  readonly capacity: number;
  /** Blocks, of which any part is held. */
  readonly held: number;
}

/** The blocks of a pool in all its networks of one family. */
export interface PoolTotal {
  readonly pool: string;
  readonly family: Family;
  readonly capacity: number;
  /** Blocks, of which any part is held. */
  readonly held: number;
}

/** A block that nobody holds any more. `pool`: undefined for a CIDR outside all pools. */
export interface Freed {
  readonly cidr: Cidr;
  readonly pool: PoolCidr | undefined;
}

export interface Allocated {
  readonly cidr: Cidr;
  readonly pool: PoolCidr;
  /** Blocks that were passed over. */
  readonly passed: number;
}

/**
 * The most blocks that one CIDR of an object takes which its owner may write. A larger one cannot be the pod CIDR of a node, and
 * a writer of one object could take a whole pool.
 */
export const maxBlocksOfHolder = 256;

/** The name of the only pool where pools have none. */
export const onlyPool = 'default';

/** Holders that stand for all. */
const maxNamed = 3;

export class BlockLedger {
  /** By pool. */
  readonly #shelves = new Map<string, readonly Shelf[]>();
  readonly #networks = new NetworkIndex<Shelf>();
  readonly #limit: number;
  /** The holders with the most blocks, cached until anything changes: many nodes wait for one pool. */
  readonly #largest = new Map<string, readonly string[]>();
  /** CIDRs that are held whole, however large they are, by holder. */
  readonly #trusted = new Map<string, readonly Cidr[]>();
  readonly #byHolder = new Map<string, readonly Holding[]>();
  /** Holdings that take no block. */
  readonly #outside = new OutsideHoldings<Holding>();

  /** The CIDRs of a family are used in this order. `limit`: the most blocks that one CIDR of an object takes. */
  constructor(pools: readonly PoolCidr[], limit = maxBlocksOfHolder) {
    this.#limit = limit;
    this.change(Map.groupBy(pools, ({ pool }) => pool));
  }

  /** `pools`: networks of one pool. `reserved`: what is kept for something else. `limit`: as above. */
  static ofOnePool(
    {
      pools,
      reserved,
    }: { readonly pools: readonly Omit<PoolCidr, 'pool'>[]; readonly reserved: readonly Cidr[] },
    limit?: number,
  ): BlockLedger {
    const ledger = new BlockLedger(
      pools.map((pool) => ({ pool: onlyPool, ...pool })),
      limit,
    );
    for (const cidr of reserved) ledger.reserve(cidr);
    return ledger;
  }

  /** `holder` did not write this CIDR: it is held whole. Call it before `hold`. */
  trust(holder: string, cidr: Cidr): void {
    this.#trusted.set(holder, [...(this.#trusted.get(holder) ?? []), cidr]);
  }

  isTrusted(holder: string, cidr: Cidr): boolean {
    return isAmong(this.#trusted.get(holder) ?? [], cidr);
  }

  /** Counts the blocks of all pools that `cidr` covers, without the limit that applies to holdings. */
  blocksIn(cidr: Cidr): number {
    return counted(this.#placesOf(cidr, Infinity)).reduce((sum, { blocks }) => sum + blocks, 0);
  }

  /** Counts the blocks of each pool that `holder` has, or those of its `cidr` alone. */
  blocksOf(holder: string, cidr?: Cidr): readonly BlockCount[] {
    const own = this.#byHolder.get(holder) ?? [];
    const these = cidr === undefined ? own : own.filter((each) => isSame(each.cidr, cidr));
    return counted(these.flatMap(({ places }) => places));
  }

  /**
   * Replaces the networks of these pools, which must not overlap. Holdings stay held, and networks that stay keep the
   * order of their blocks. Returns the holders that have a CIDR that entered or left a pool.
   */
  change(pools: ReadonlyMap<string, readonly PoolCidr[]>): ReadonlySet<string> {
    this.#largest.clear();
    const [gone, added] = [new Set<Shelf>(), new Set<Shelf>()];
    for (const [name, networks] of pools) this.#replace(name, networks, { gone, added });
    for (const { pool } of gone) this.#networks.delete(pool.cidr);
    for (const shelf of added) this.#networks.add(shelf.pool.cidr, shelf);
    const loose = [
      ...this.#outside,
      ...[...gone].flatMap(({ narrow, wide }) => [...[...narrow.values()].flat(), ...wide.keys()]),
    ];
    this.#outside.clear();
    const moved = new Set<string>();
    for (const holding of new Set(loose)) {
      const before = holding.places.length;
      this.#put(holding);
      if (before + holding.places.length > 0) moved.add(holding.holder);
    }
    return moved;
  }

  #replace(
    name: string,
    networks: readonly PoolCidr[],
    { gone, added }: Readonly<Record<'added' | 'gone', Set<Shelf>>>,
  ): void {
    const before = new Map((this.#shelves.get(name) ?? []).map((shelf) => [shapeOf(shelf.pool), shelf]));
    const after = networks.map((pool) => before.get(shapeOf(pool)) ?? emptyShelf(pool));
    for (const shelf of before.values()) if (!after.includes(shelf)) gone.add(shelf);
    for (const shelf of after) if (before.get(shapeOf(shelf.pool)) !== shelf) added.add(shelf);
    if (after.length === 0) this.#shelves.delete(name);
    else this.#shelves.set(name, after);
  }

  /** The shelves of one pool, or of all pools. */
  #of(pool: string | undefined): readonly Shelf[] {
    return pool === undefined ? [...this.#shelves.values()].flat() : (this.#shelves.get(pool) ?? []);
  }

  /** Takes the next free block of a family for `holder`; undefined if none is free. */
  allocate(family: Family, holder: string, wish: BlockWish = {}): Allocated | undefined {
    const shelf = this.#of(wish.pool).find((each) => hasRoom(each, family, wish));
    if (shelf === undefined) return undefined;
    const { pool, set } = shelf;
    const { maskSize = pool.maskSize } = wish;
    const allocation = set.allocate(pool.maskSize - maskSize);
    if (allocation === undefined) return undefined;
    const { index, passed } = allocation;
    const cidr = network(family, set.blockAt(index).base, maskSize);
    this.#note({ holder, cidr, limit: this.#limit, places: [] });
    return { cidr, pool, passed };
  }

  hasFree(family: Family, wish: BlockWish = {}): boolean {
    return this.#of(wish.pool).some((each) => hasRoom(each, family, wish));
  }

  /** How many blocks of a family lie in holdings over several, and how many there are. */
  wideShare(family: Family): { readonly wide: number; readonly capacity: number } {
    let [wide, capacity] = [0, 0];
    for (const { pool, set, wideBlocks } of this.#of(undefined)) {
      if (pool.cidr.family !== family) continue;
      wide += wideBlocks;
      capacity += set.capacity;
    }
    return { wide, capacity };
  }

  /** Records that `holder` holds a CIDR, even if another one does, too. */
  hold(holder: string, cidr: Cidr): void {
    if (this.heldBy(holder).some((each) => isSame(each, cidr))) return;
    const limit = this.isTrusted(holder, cidr) ? Infinity : this.#limit;
    this.#note({ holder, cidr, limit, places: [] });
  }

  /** Never gives out what is within `cidr`, or overlaps it. */
  reserve(cidr: Cidr): void {
    for (const { set } of this.#networks.sharing(cidr)) {
      const range = set.rangeOf(cidr);
      for (let index = range?.first ?? 0; index <= (range?.last ?? -1); index++) set.take(index);
      if (range !== undefined) this.#reserved.push(cidr);
    }
  }

  readonly #reserved: Cidr[] = [];

  /** Holds these, and nothing else. */
  holdOnly(holder: string, cidrs: readonly Cidr[]): void {
    this.release(
      holder,
      this.heldBy(holder).filter((cidr) => !isAmong(cidrs, cidr)),
    );
    for (const cidr of cidrs) this.hold(holder, cidr);
  }

  /** Frees CIDRs of `holder`. */
  release(holder: string, cidrs: readonly Cidr[]): readonly Freed[] {
    for (const cidr of cidrs) this.#drop(holder, cidr);
    return cidrs.map((cidr) => ({ cidr, pool: this.poolOf(cidr) }));
  }

  #drop(holder: string, cidr: Cidr): void {
    const holdings = this.#byHolder.get(holder) ?? [];
    const holding = holdings.find((each) => isSame(each.cidr, cidr));
    if (holding === undefined) return;
    const rest = holdings.filter((each) => each !== holding);
    if (rest.length === 0) {
      this.#byHolder.delete(holder);
      this.#trusted.delete(holder);
    } else this.#byHolder.set(holder, rest);
    this.#strike(holding);
  }

  heldBy(holder: string): readonly Cidr[] {
    return (this.#byHolder.get(holder) ?? []).map(({ cidr }) => cidr);
  }

  /** Other holders of any part of `cidrs`. */
  othersHolding(cidrs: readonly Cidr[], holder: string): readonly string[] {
    const names = new Set<string>();
    for (const cidr of cidrs)
      for (const each of this.#near(cidr, holder))
        if (each.holder !== holder && overlaps(each.cidr, cidr)) names.add(each.holder);
    return [...names];
  }

  /** Holdings that may have a part of a CIDR of `holder`. */
  #near(cidr: Cidr, holder: string): Iterable<Holding> {
    const own = this.#byHolder.get(holder)?.find((each) => isSame(each.cidr, cidr));
    const places = own?.places ?? this.#placesOf(cidr, this.#limit);
    return places.length === 0 ? this.#outside.sharing(cidr) : this.#within(places);
  }

  /** Everything that is held and takes no block. */
  outside(): readonly { readonly holder: string; readonly cidr: Cidr }[] {
    return [...this.#outside];
  }

  /**
   * The holders of at least a quarter of a pool in a family, and of two blocks at least. The largest come first, and at
   * most three.
   */
  largestHolders(family: Family, pool: string): readonly string[] {
    const key = `${family} ${pool}`;
    const known = this.#largest.get(key) ?? this.#findLargest(family, pool);
    this.#largest.set(key, known);
    return known;
  }

  #findLargest(family: Family, pool: string): readonly string[] {
    const counts = new Map<string, number>();
    const note = ({ holder }: Holding, blocks: number): void =>
      void counts.set(holder, (counts.get(holder) ?? 0) + blocks);
    let capacity = 0;
    for (const { pool: own, set, narrow, wide } of this.#of(pool)) {
      if (own.cidr.family !== family) continue;
      capacity += set.capacity;
      for (const near of narrow.values()) for (const each of near) note(each, 1);
      for (const [each, { first, last }] of wide) note(each, last - first + 1);
    }
    return [...counts]
      .filter(([, count]) => count >= Math.max(2, capacity / 4))
      .toSorted(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
      .slice(0, maxNamed)
      .map(([holder]) => holder);
  }

  /** The pool of which `cidr` takes blocks; undefined if it takes none. */
  poolOf(cidr: Cidr): PoolCidr | undefined {
    return this.#placesOf(cidr, maxBlocksOfHolder)[0]?.shelf.pool;
  }

  /** The first of these that takes no block of a pool, and the first that is kept for something else. */
  misplaced(cidrs: readonly Cidr[]): Readonly<Record<'outside' | 'reserved', Cidr | undefined>> {
    return {
      outside: cidrs.find((cidr) => this.poolOf(cidr) === undefined),
      reserved: cidrs.find((cidr) => this.isReserved(cidr)),
    };
  }

  /** Whether `cidr` is, in part, not to be given out. */
  isReserved(cidr: Cidr): boolean {
    return this.#reserved.some((each) => overlaps(each, cidr));
  }

  figures(): readonly PoolFigures[] {
    return this.#of(undefined).map(({ pool, set }) => ({ ...pool, capacity: set.capacity, held: set.count }));
  }

  totals(): readonly PoolTotal[] {
    const totals = new Map<string, PoolTotal>();
    for (const { pool, set } of this.#of(undefined)) {
      const { family } = pool.cidr;
      const key = `${family} ${pool.pool}`;
      const { capacity = 0, held = 0 } = totals.get(key) ?? {};
      totals.set(key, { pool: pool.pool, family, capacity: capacity + set.capacity, held: held + set.count });
    }
    return [...totals.values()];
  }

  /** A CIDR that takes more blocks than `limit`, or is larger than a network, takes none of it. */
  #placesOf(cidr: Cidr, limit: number): readonly Place[] {
    const around = this.#networks.holding(cidr);
    const shelves = limit < Infinity ? (around === undefined ? [] : [around]) : this.#networks.sharing(cidr);
    return [...shelves].flatMap((shelf) => {
      const range = shelf.set.rangeOf(cidr);
      return range === undefined || range.last - range.first >= limit ? [] : [{ shelf, range }];
    });
  }

  #note(holding: Holding): void {
    const { holder } = holding;
    this.#byHolder.set(holder, [...(this.#byHolder.get(holder) ?? []), holding]);
    this.#put(holding);
  }

  #put(holding: Holding): void {
    this.#largest.clear();
    const places = this.#placesOf(holding.cidr, holding.limit);
    holding.places = places;
    if (places.length === 0) this.#outside.add(holding);
    for (const { shelf, range } of places) {
      if (range.first === range.last)
        shelf.narrow.set(range.first, [...(shelf.narrow.get(range.first) ?? []), holding]);
      else widen(shelf, holding, range);
      for (let index = range.first; index <= range.last; index++) shelf.set.take(index);
    }
  }

  #strike(holding: Holding): void {
    this.#largest.clear();
    if (holding.places.length === 0) this.#outside.delete(holding);
    for (const place of holding.places) this.#strikeAt(place, holding);
  }

  #strikeAt({ shelf, range }: Place, holding: Holding): void {
    if (shelf.wide.delete(holding)) shelf.wideBlocks -= range.last - range.first + 1;
    const rest = (shelf.narrow.get(range.first) ?? []).filter((each) => each !== holding);
    if (rest.length === 0) shelf.narrow.delete(range.first);
    else shelf.narrow.set(range.first, rest);
    for (let index = range.first; index <= range.last; index++)
      if (!this.#isHeld(shelf, index)) shelf.set.free(index);
  }

  #isHeld(shelf: Shelf, index: number): boolean {
    if (shelf.narrow.has(index)) return true;
    for (const { first, last } of shelf.wide.values()) if (first <= index && index <= last) return true;
    return this.#reserved.some((each) => overlaps(each, shelf.set.blockAt(index)));
  }

  *#within(places: readonly Place[]): Generator<Holding> {
    for (const { shelf, range } of places) {
      for (const index of narrowWithin(shelf, range)) yield* shelf.narrow.get(index) ?? [];
      for (const [holding, { first, last }] of shelf.wide)
        if (first <= range.last && range.first <= last) yield holding;
    }
  }
}
