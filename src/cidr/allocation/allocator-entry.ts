// What the allocator knows of one object.
import type { Backoff } from '../../runtime/backoff.ts';
import type { Cidr, Family } from '../set/cidr.ts';
import { shownBlocks, type ShownBlocks } from './block-condition.ts';
import type { BlockCondition, Holder } from './block-holders.ts';

/** How an object is served. */
export interface Standing {
  readonly holder: Holder;
  /** `leftAlone`: it has no block and gets none, because its owner asks for that or it is being deleted. */
  readonly standing: 'served' | 'waiting' | 'leftAlone';
  readonly missing: readonly Family[];
  readonly condition: BlockCondition | undefined;
}

export interface Entry {
  holder: Holder;
  shown: ShownBlocks;
  /** Blocks of a write without a definite answer, or that a dry run would write. */
  reserved: readonly Cidr[];
  /** The state that the last write without an answer is bound to, and until when it may take effect, in monotonic ms. */
  unanswered: { readonly version: string; readonly until: number } | undefined;
  /** Writes that met another state of the object. */
  conflicts: number;
  isWriting: boolean;
  refused: string | undefined;
  condition: BlockCondition | undefined;
  readonly backoff: Backoff;
  cancelTimer: (() => void) | undefined;
}

export function newEntry(holder: Holder, backoff: Backoff): Entry {
  return {
    holder,
    shown: shownBlocks(holder),
    reserved: [],
    unanswered: undefined,
    conflicts: 0,
    isWriting: false,
    refused: undefined,
    condition: undefined,
    backoff,
    cancelTimer: undefined,
  };
}

/** When the last write without an answer can no longer take effect, in monotonic ms. One that is bound to an older state cannot. */
export function answersEnd(entries: Iterable<Entry>): number {
  let end = -Infinity;
  for (const { unanswered, holder } of entries)
    if (unanswered?.version === holder.version) end = Math.max(end, unanswered.until);
  return end;
}
