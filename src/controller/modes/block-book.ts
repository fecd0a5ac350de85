// What objects get where nodes have one block of each family, composed from the options.
import {
  BlockOfEachFamily,
  type BlockOfEachFamilyDeps,
  onlyPool,
} from '../../cidr/allocation/block-of-each-family.ts';
import type { Holder } from '../../cidr/allocation/block-holders.ts';
import { BlockLedger } from '../../cidr/allocation/block-ledger.ts';
import type { BlockSettings } from '../../config/block-pools.ts';
import type { AllotmentBook } from '../cidr-session.ts';

/** `limit`: the most blocks that one CIDR of an object takes. */
export function blockOfEachFamilyBook<H extends Holder>(
  { pools, reserved }: BlockSettings,
  rules: Pick<BlockOfEachFamilyDeps<H>, 'words' | 'canGrow' | 'askedBy'>,
  limit?: number,
): AllotmentBook<H, readonly string[]> {
  const ledger = new BlockLedger(
    pools.map((pool) => ({ pool: onlyPool, ...pool })),
    limit,
  );
  for (const cidr of reserved) ledger.reserve(cidr);
  const own = [...new Set(pools.map(({ cidr }) => cidr.family))];
  return { ledger, allotment: new BlockOfEachFamily({ ledger, families: own, ...rules }), writesInARow: 0 };
}
