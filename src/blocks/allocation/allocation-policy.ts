// The port to what objects should get: a block of each family, or blocks of pools as their agents ask. An implementation knows
// who holds what and decides, without waiting for anything; the allocator carries out what it decides.
import type { Family } from '../set/cidr.ts';
import type { Assignment, BlockCondition, Holder } from './block-holders.ts';
import type { Allocated, Freed } from './block-ledger.ts';

/** A block that an object lacks. */
export interface MissingBlock {
  readonly pool: string;
  readonly family: Family;
}

export interface Change {
  /** Uids of other objects whose condition it may change. */
  readonly others: readonly string[];
  readonly freed: readonly Freed[];
  /** The object is to be read after so many ms, and what it then shows confirmed. */
  readonly confirmIn?: { readonly ms: number; readonly episode: number };
}

/** The blocks that are taken for an object, and how they are written to it. */
export interface Reservation {
  /** Writes to the object in the state in which this was reserved. Rejects only with the signal's reason. */
  write(signal: AbortSignal): Promise<Assignment>;
  /** The blocks that it then shows. */
  readonly blocks: readonly string[];
  /** Those of them that it never showed: only a second allocator can have given them to it. */
  readonly fresh: readonly string[];
  /** Whether an earlier write, or dry run, took the same. */
  readonly isKnown: boolean;
  readonly allocated: readonly Allocated[];
}

/** `H`: the objects, with all that it decides on. */
export interface AllocationPolicy<H extends Holder> {
  /** Writes that one object may need in a row. */
  readonly writesInARow: number;
  /** Takes in what an object shows: it holds that from now on, even if another one does, too. `before`: undefined for a new object. */
  hold(holder: H, before: H | undefined): Change;
  /** The object was read and taken in again, as an earlier change asked for. */
  confirm?(holder: H, episode: number): Change;
  /** The object is gone: only now everything is free that it held. */
  release(holder: H): Change;
  /** Whether all that it shows may come from a write of this process, or is what it had before. */
  isOurs(holder: H): boolean;
  /** Whether it shows or asks for something else than before. */
  isNews(holder: H, before: H): boolean;
  /** Whether it asks for something else than before. Default: no. */
  asksOtherwise?(holder: H, before: H): boolean;
  /** Blocks that it lacks; empty if it can get nothing. */
  missingBlocks(holder: H): readonly MissingBlock[];
  /** Takes what the object lacks and is free; undefined if that is nothing. */
  reserve(holder: H): Reservation | undefined;
  /** The blocks that were reserved for it are not going to be written. */
  cancel(holder: H): void;
  /** The fault of the object; undefined if it has none. */
  conditionOf(holder: H, facts: ServiceFacts): BlockCondition | undefined;
}

/** How the object is served. */
export interface ServiceFacts {
  /** Whether the holder lacks something that it should get. */
  readonly isWaiting: boolean;
  /** Why its last write failed for good. */
  readonly refused: string | undefined;
  /** Another program gives out blocks. */
  readonly isPaused: boolean;
}
