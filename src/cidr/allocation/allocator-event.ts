// What the allocator tells of each object.
import type { Cidr } from '../set/cidr.ts';
import type { Assignment, BlockCondition, Holder } from './block-holders.ts';
import type { Allocated, PoolCidr } from './block-ledger.ts';

export type AllocatorEvent =
  | { readonly kind: 'allocated'; readonly allocated: Allocated }
  /** Its object is gone. `pool`: undefined for a CIDR outside all pools. */
  | { readonly kind: 'freed'; readonly cidr: Cidr; readonly pool: PoolCidr | undefined }
  /** In a dry run: what would be written. */
  | { readonly kind: 'wouldAssign'; readonly holder: Holder; readonly blocks: readonly string[] }
  | { readonly kind: 'written'; readonly name: string; readonly outcome: Assignment }
  /** An object shows blocks that this allocator did not write, and had none before. */
  | { readonly kind: 'othersBlocks'; readonly holder: Holder }
  | {
      readonly kind: 'condition';
      readonly holder: Holder;
      readonly condition: BlockCondition | undefined;
    };
