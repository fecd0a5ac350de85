// The port to the objects that hold blocks: CiliumNodes, or Nodes. An implementation reads and writes them; which object gets
// which block is decided here.
import type { Family } from '../set/cidr.ts';

/** An object that holds blocks, as last read. */
export interface Holder {
  readonly name: string;
  readonly uid: string;
  /** The resource version of the object, to which each write is bound. */
  readonly version: string;
  /** The API server's wall clock, in ms; Infinity if unreadable. */
  readonly createdAt: number;
  /**
   * Whether the object keeps its blocks and gets no others, because its owner asks for that or because it is being
   * deleted.
   */
  readonly isLeftAlone: boolean;
  /** The blocks as the object shows them: any text. */
  readonly blocks: readonly string[];
  /**
   * When a known block allocator other than Headwater wrote them last: the start of a second of the API server's wall clock, in
   * ms. Undefined if another program did.
   */
  readonly allocatorWroteAt?: number | undefined;
  /** CIDRs that count as held by it, too, and are no blocks of this mode: any text. */
  readonly alsoHeld?: readonly string[];
  /** Those of them that it gets as its blocks before any other. */
  readonly kept?: readonly string[];
  /** Why its blocks are only read in part, so that it gets no others; undefined if they are read in full. */
  readonly problem?: string;
  /** The error that its status shows; undefined if it shows none. */
  readonly error?: string;
  /** Whether its owner asks that nothing is written to it. */
  readonly isIgnored?: boolean;
  /** The uid of the Node that owns it; undefined if none does. */
  readonly nodeUid?: string | undefined;
  /** Labels of the object, where they decide whether it is ours. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Sizes of blocks that its labels ask for. Default: none. */
  readonly asked?: AskedMaskSizes;
}

/** Names an object, whether it is still there or not. */
export type HolderName = Pick<Holder, 'name' | 'uid'>;

/** The values of the labels that ask for a size: any text. */
export type AskedMaskSizes = Readonly<Partial<Record<Family, string>>>;

export type Assignment =
  /** The answer of the API server is applied to what is known. `version`: the resource version of the answer. */
  | { readonly kind: 'written'; readonly version: string }
  /** Nothing was written, because the object has another state: read it again. */
  | { readonly kind: 'conflict'; readonly message: string }
  | { readonly kind: 'gone' }
  /** Nothing was written, and a repetition will not change that. */
  | { readonly kind: 'denied' | 'invalid'; readonly message: string }
  /** The write may have taken effect, or may still do so. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly retryAfterMs?: number };

export type HolderReading =
  /** The live object is applied to what is known. */
  | { readonly kind: 'found' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unavailable'; readonly message: string; readonly retryAfterMs?: number };

/** Why an object has no block, or should not have the one it has, and what to do. */
export interface BlockCondition {
  readonly reason: BlockReason;
  /** A text without times and counters. */
  readonly message: string;
}

export type BlockReason =
  | 'PodCIDRsExhausted'
  | 'PodCIDRConflict'
  | 'PodCIDROutsidePools'
  | 'PodCIDRIncomplete'
  | 'PodCIDRUnused'
  | 'PodCIDRUnreadable'
  | 'BlocksUnconfirmed'
  | 'BlocksExcessive'
  | 'MaskSizeInvalid'
  | 'MaskSizeIgnored'
  | 'NodeUnknown'
  | 'AllocatorConflict'
  | 'PoolMissing'
  | 'PoolInvalid'
  | 'PoolExhausted'
  | 'BlockOrphaned'
  | 'ReleasedAddressesInUse'
  | 'PodsUnreadable'
  | 'AliasMissing'
  | 'InvalidSyncMode'
  | 'PodCIDRMismatch'
  | 'WriteRefused'
  | CloudReason;

/** Why a cloud does not say what it routes to an instance. */
export type CloudReason =
  | 'ProviderIDUnreadable'
  | 'InstanceNotFound'
  | 'InstanceTerminated'
  | 'AccessDenied'
  | 'CredentialsExpired'
  | 'CredentialsInvalid'
  | 'ClockWrong'
  | 'Throttled'
  | 'Unreachable'
  | 'CallFailed';

export interface BlockHolders {
  /**
   * Writes the object without changing its blocks: no earlier write can take effect afterwards, because each is bound to a state
   * of it. Rejects only with the signal's reason.
   */
  supersede(holder: Holder, signal: AbortSignal): Promise<Assignment>;
  /** Reads the live object. Rejects only with the signal's reason. */
  read(name: string, signal: AbortSignal): Promise<HolderReading>;
  /** Whether it keeps its blocks and gets no others: it says so itself, or its Node does. */
  isLeftAlone(holder: Holder): boolean;
  /** Reports the condition of an object where its owner looks; undefined once it has none. Called for each change of it. */
  report?(holder: Holder, condition: BlockCondition | undefined): void;
  /** The object is gone. */
  forget?(holder: Holder): void;
}

/** Objects that show their blocks and nothing else of pools. */
export interface BlockWriter {
  /** Writes these blocks as the object's only ones, bound to its uid and version. Rejects only with the signal's reason. */
  assign(holder: Holder, blocks: readonly string[], signal: AbortSignal): Promise<Assignment>;
}
