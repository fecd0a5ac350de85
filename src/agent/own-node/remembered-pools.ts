// The blocks of pools that this node may give addresses of, as the record has them: a restart without an API server serves
// them. A block that this node gives up leaves the record with the entry that says so. Pure.
import { cidrOf, cidrText, type Family } from '../../blocks/set/cidr.ts';
import type { OfferedBlock } from '../allocators/multi-pool-allocator.ts';
import type { RememberedBlock, RememberedPool } from '../ipam/holdings.ts';

/** A block and its pool. */
export interface BlockOfPool extends Omit<OfferedBlock, 'isUsable'> {
  readonly pool: string;
}

/** Names a block in the record. */
export function blockKey({ pool, cidr }: Pick<BlockOfPool, 'pool' | 'cidr'>): string {
  return keyOf(pool, cidrText(cidr));
}

/** The memory of these blocks, which pods may get addresses of. */
export function remembered(
  blocks: readonly BlockOfPool[],
  familiesOf: (pool: string) => readonly Family[],
): readonly RememberedPool[] {
  const byPool = Object.entries(Object.groupBy(blocks, ({ pool }) => pool));
  return byPool.map(([pool, ofPool = []]) => ({
    pool,
    families: familiesOf(pool),
    blocks: ofPool.map(({ cidr, allowsFirst, allowsLast, details }) => ({
      cidr: cidrText(cidr),
      allowsFirst,
      allowsLast,
      details,
    })),
  }));
}

/** The pools without the blocks of these names. */
export function withoutBlocks(
  pools: readonly RememberedPool[],
  keys: readonly string[],
): readonly RememberedPool[] {
  const stays = (pool: string, { cidr }: RememberedBlock): boolean => !keys.includes(keyOf(pool, cidr));
  return pools
    .map((each) => ({ ...each, blocks: each.blocks.filter((block) => stays(each.pool, block)) }))
    .filter(({ blocks }) => blocks.length > 0);
}

/** The blocks that the record has. */
export function blocksIn(pools: readonly RememberedPool[]): readonly BlockOfPool[] {
  return pools.flatMap(({ pool, blocks }) =>
    blocks.flatMap(({ cidr: text, ...rest }) => {
      const cidr = cidrOf(text);
      return cidr === undefined ? [] : [{ pool, cidr, ...rest }];
    }),
  );
}

function keyOf(pool: string, cidr: string): string {
  return `${pool} ${cidr}`;
}
