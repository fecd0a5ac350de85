// What objects get where nodes have one block of each family, composed from the options.
import {
  BlockOfEachFamily,
  type BlockOfEachFamilyDeps,
  onlyPool,
} from '../allocation/block-of-each-family.ts';
import type { Holder } from '../allocation/block-holders.ts';
import { BlockLedger } from '../allocation/block-ledger.ts';
import type { BlockSettings } from '../settings/block-pools.ts';
import type { PolicyBook } from './block-session.ts';

interface BlockRules<H extends Holder>
  extends Pick<BlockOfEachFamilyDeps<H>, 'words' | 'canGrow' | 'askedBy' | 'biggerShare'> {
  /** What objects hold of what they show, and what they leave. Default: all of it, and nothing. */
  readonly holdingsOn?: (ledger: BlockLedger) => Pick<BlockOfEachFamilyDeps<H>, 'claims' | 'left'>;
}

/** `limit`: the most blocks that one CIDR of an object takes. */
export function blockOfEachFamilyBook<H extends Holder>(
  { pools, reserved }: BlockSettings,
  { holdingsOn, ...rules }: BlockRules<H>,
  limit?: number,
): PolicyBook<H, readonly string[]> {
  const ledger = new BlockLedger(
    pools.map((pool) => ({ pool: onlyPool, ...pool })),
    limit,
  );
  for (const cidr of reserved) ledger.reserve(cidr);
  const own = [...new Set(pools.map(({ cidr }) => cidr.family))];
  const policy = new BlockOfEachFamily({ ledger, families: own, ...holdingsOn?.(ledger), ...rules });
  return { ledger, policy, writesInARow: 0 };
}
