// An object, as an allocator knows it.
import type { Backoff } from '../../runtime/backoff.ts';
import type { BlockCondition, Holder } from './block-holders.ts';

/** How an object is served. */
export interface Standing {
  readonly holder: Holder;
  /** `leftAlone`: it lacks a block and gets none, because its owner asks for that or it is being deleted. */
  readonly standing: 'served' | 'waiting' | 'leftAlone';
  readonly condition: BlockCondition | undefined;
  /** Since when it waits, in monotonic ms; undefined unless it does. */
  readonly waitsSince: number | undefined;
}

export interface Entry<H extends Holder> {
  holder: H;
  /** The state that the last write without an answer is bound to, and until when it may take effect, in monotonic ms. */
  unanswered: { readonly version: string; readonly until: number } | undefined;
  /** Writes that met another state of the object. */
  conflicts: number;
  /** Writes that took effect, less those that time makes up for, and when the last one did, in monotonic ms. */
  inARow: number;
  lastAt: number;
  refused: string | undefined;
  condition: BlockCondition | undefined;
  /** The blocks that it would show after the write that a dry run did not make; undefined if there was none. */
  planned: readonly string[] | undefined;
  /** As in its standing. */
  waitsSince: number | undefined;
  readonly backoff: Backoff;
}

export function newEntry<H extends Holder>(holder: H, backoff: Backoff): Entry<H> {
  return {
    holder,
    unanswered: undefined,
    conflicts: 0,
    inARow: 0,
    lastAt: -Infinity,
    refused: undefined,
    condition: undefined,
    planned: undefined,
    waitsSince: undefined,
    backoff,
  };
}

/** Whether a write without an answer may still take effect. One that is bound to an older state cannot. */
export function isUnanswered({ unanswered, holder }: Pick<Entry<Holder>, 'holder' | 'unanswered'>): boolean {
  return unanswered?.version === holder.version;
}

/** When the time limits of the last writes without an answer end, in monotonic ms. */
export function answersEnd(entries: Iterable<Pick<Entry<Holder>, 'holder' | 'unanswered'>>): number {
  let end = -Infinity;
  for (const entry of entries) if (isUnanswered(entry)) end = Math.max(end, entry.unanswered?.until ?? end);
  return end;
}
