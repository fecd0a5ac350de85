// The port to what gives objects their blocks while a process leads.
import type { MissingBlock } from './allocation-policy.ts';
import type { Standing } from './allocator-entry.ts';
import type { AllocatorEvent } from './allocator-event.ts';
import type { Holder } from './block-holders.ts';
import type { ProcessPorts } from '../../runtime/process-ports.ts';

export interface BlockAllocator {
  /** Call it when what an object should get may have changed, although the object did not. */
  reassess(name: string): void;
  /** Starts what may be written by now. Call it when `refusal` may have changed. `uids`: as far as it concerns these. Default: all. */
  resume(uids?: Iterable<string>): void;
  /** Resolves once no write can take effect any more, at `deadline` at the latest. `unended`: one may still take effect. */
  stop(deadline: AbortSignal): Promise<'ended' | 'unended'>;
  standings(): readonly Standing[];
  standing(name: string): Standing | undefined;
  /** Blocks that waiting objects lack. */
  waiting(): readonly MissingBlock[];
}

/** An allocator of objects of one kind, to which their watch tells each change. */
export interface AllocatorOf<H extends Holder> extends BlockAllocator {
  /**
   * Starts with a complete list: what it shows is held before anything is given out. `mayFormerWrite`: a write of the former
   * leader may still be under way. Call it once.
   */
  takeOverHolders(holders: Iterable<H>, mayFormerWrite: boolean): void;
  /** Applies the newest state of an object; `undefined` once it is gone. */
  apply(name: string, holder: H | undefined): void;
}

/** `listing`: a part of a list is known. `otherAllocator`: another program gives out blocks. */
export type AllocationRefusal = 'dryRun' | 'listing' | 'paused' | 'otherAllocator' | 'notLeading';

/** The session that an allocator serves. */
export interface AllocatorPorts extends ProcessPorts {
  /** Why nothing may be written now; undefined if it may. Called before each write. */
  refusal(): AllocationRefusal | undefined;
  emit(event: AllocatorEvent): void;
  /** Writes in flight. */
  readonly workers: number;
  /** How long after its start a write without an answer may still take effect, in ms. */
  readonly writeTime: number;
}
