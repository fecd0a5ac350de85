// The blocks of one network, and who holds them.
import { BlockSet, type BlockRange, maxTogetherBits } from '../set/block-set.ts';
import type { Cidr, Family } from '../set/cidr.ts';

/** A CIDR of a pool, and the prefix length of its blocks. */
export interface PoolCidr {
  /** Name of the pool. */
  readonly pool: string;
  readonly cidr: Cidr;
  readonly maskSize: number;
}

export interface Holding {
  readonly holder: string;
  readonly cidr: Cidr;
  /** The most blocks that it takes of a network; if it would take more, it takes none. */
  readonly limit: number;
  /** Where it takes blocks: nowhere outside all pools, in several networks if it covers them. */
  places: readonly Place[];
}

export interface Place {
  readonly shelf: Shelf;
  readonly range: BlockRange;
}

/** The blocks of one CIDR, and who holds them. */
export interface Shelf {
  readonly pool: PoolCidr;
  readonly set: BlockSet;
  /** Holdings within one block, by its index: nearly all. */
  readonly narrow: Map<number, readonly Holding[]>;
  /** Holdings over several blocks. */
  readonly wide: Map<Holding, BlockRange>;
  /** Blocks that these take. */
  wideBlocks: number;
}

/** How many blocks of a pool and family something takes. */
export interface BlockCount {
  readonly pool: string;
  readonly family: Family;
  readonly blocks: number;
}

/** The block that is asked for. */
export interface BlockWish {
  /** The only one to take it from. */
  readonly pool?: string;
  /** The prefix length, if the block is to be bigger than those of its pool. */
  readonly maskSize?: number;
}

export function counted(places: readonly Place[]): readonly BlockCount[] {
  const counts: { pool: string; family: Family; blocks: number }[] = [];
  for (const { shelf, range } of places) {
    const { pool, cidr } = shelf.pool;
    const known = counts.find((each) => each.pool === pool && each.family === cidr.family);
    const blocks = range.last - range.first + 1;
    if (known === undefined) counts.push({ pool, family: cidr.family, blocks });
    else known.blocks += blocks;
  }
  return counts;
}

/** Blocks with holdings of their own, by the shorter way. */
export function* narrowWithin({ narrow }: Shelf, { first, last }: BlockRange): Generator<number> {
  if (last - first < narrow.size) for (let index = first; index <= last; index++) yield index;
  else yield* [...narrow.keys()].filter((index) => first <= index && index <= last);
}

export function emptyShelf(pool: PoolCidr): Shelf {
  return {
    pool,
    set: new BlockSet(pool.cidr, pool.maskSize),
    narrow: new Map(),
    wide: new Map(),
    wideBlocks: 0,
  };
}

export function widen(shelf: Shelf, holding: Holding, range: BlockRange): void {
  shelf.wide.set(holding, range);
  shelf.wideBlocks += range.last - range.first + 1;
}

export function shapeOf({ cidr: { family, base, length }, maskSize }: PoolCidr): string {
  return `${family} ${base} ${length} ${maskSize}`;
}

export function hasRoom({ pool, set }: Shelf, family: Family, wish: BlockWish): boolean {
  const { pool: only = pool.pool, maskSize = pool.maskSize } = wish;
  const bits = pool.maskSize - maskSize;
  if (pool.cidr.family !== family || pool.pool !== only || bits < 0 || bits > maxTogetherBits) return false;
  return set.hasFree(bits);
}
