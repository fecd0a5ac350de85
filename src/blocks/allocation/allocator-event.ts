// The events that an allocator tells of each object.
import type { Assignment, BlockCondition, Holder } from './block-holders.ts';
import type { Allocated, Freed } from './block-ledger.ts';

/** The blocks that an object would show after the write that a dry run does not make, and why they are no more. */
export interface DryRunPlan {
  readonly blocks: readonly string[];
  readonly why: string | undefined;
}

/**
 * An object that shows other blocks than before. `plan`: before that. `isOwn`: whether all that it shows is its own, or was to be.
 * `sharing`: others that may have a part of its blocks.
 */
export interface GivenBlocks<H = Pick<Holder, 'blocks' | 'uid'>> {
  readonly holder: H;
  readonly before: H;
  readonly plan: DryRunPlan;
  readonly isOwn: boolean;
  readonly sharing: readonly Pick<Holder, 'blocks' | 'name' | 'uid'>[];
}

export type AllocatorEvent =
  | { readonly kind: 'allocated'; readonly allocated: Allocated }
  /** The object that held the block is gone, or no longer lists the block. */
  | ({ readonly kind: 'freed' } & Freed)
  /** In a dry run: what would be written. */
  | { readonly kind: 'wouldAssign'; readonly holder: Holder; readonly blocks: readonly string[] }
  /** `holder`: as last read, with what the write answered. */
  | { readonly kind: 'written'; readonly holder: Holder; readonly outcome: Assignment }
  /** An object shows blocks that it did not show before, and that this allocator did not write. */
  | { readonly kind: 'othersBlocks'; readonly holder: Holder }
  /** An object is gone. Another one may come under its name. */
  | { readonly kind: 'gone'; readonly holder: Holder }
  /** An object shows other blocks than before, which may be the work of another program beside a dry run. */
  | ({ readonly kind: 'shown' } & GivenBlocks<Holder>)
  | {
      readonly kind: 'condition';
      readonly holder: Holder;
      readonly condition: BlockCondition | undefined;
      readonly before: BlockCondition | undefined;
    }
  /** An object has what it waited for. */
  | { readonly kind: 'served'; readonly afterMs: number };
