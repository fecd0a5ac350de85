// What objects get where nodes have one block of each family, composed from the options.
import {
  BlockOfEachFamily,
  type BlockOfEachFamilyDeps,
  onlyPool,
} from '../../cidr/allocation/block-of-each-family.ts';
import type { Holder } from '../../cidr/allocation/block-holders.ts';
import { BlockLedger } from '../../cidr/allocation/block-ledger.ts';
import { families } from '../../cidr/set/cidr.ts';
import type { BlockSettings } from '../../config/block-pools.ts';
import type { BlockBook } from '../cidr-session.ts';

export function blockOfEachFamilyBook<H extends Holder>(
  { pools, reserved }: BlockSettings,
  rules: Pick<BlockOfEachFamilyDeps<H>, 'words' | 'canGrow' | 'askedBy'>,
): BlockBook<H, readonly string[]> {
  const ledger = new BlockLedger(pools.map((pool) => ({ pool: onlyPool, ...pool })));
  for (const cidr of reserved) ledger.reserve(cidr);
  const own = families.filter((family) => pools.some(({ cidr }) => cidr.family === family));
  return { ledger, allotment: new BlockOfEachFamily({ ledger, families: own, ...rules }), writesInARow: 0 };
}
