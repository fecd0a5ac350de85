// A node whose blocks are of pools, as far as it is known.
import { ageOf } from '../../kubernetes/watch/resource-version.ts';
import type { BlockLedger } from '../allocation/block-ledger.ts';
import type { Cidr } from '../set/cidr.ts';
import { BlockReturns, type ShownBlocks } from './block-returns.ts';
import type { ListedBlock } from './pool-book.ts';
import type { PoolNodeHolder } from './pool-node-holder.ts';
import type { PoolWant } from './pool-want.ts';

export interface Known extends ShownBlocks {
  readonly returns: BlockReturns;
  /** Blocks that it lists, and does not hold. */
  unconfirmed: readonly Cidr[];
  /** Why its blocks of cluster-pool cannot move to the default pool. */
  unmoved: string | undefined;
  /** Blocks that are written, or were without an answer, and were never listed: nobody uses them yet. */
  reserved: readonly Cidr[];
  /** Blocks that its agent returned last. */
  returned: readonly Cidr[];
  /** The state that the last reservation is bound to, and what it adds. */
  version: string;
  added: readonly Cidr[];
  /** Blocks that it lacks; undefined until they are computed for these pools. */
  wants: readonly PoolWant[] | undefined;
}

export function newKnown(holder: PoolNodeHolder, listed: readonly ListedBlock[]): Known {
  return {
    holder,
    listed,
    unlisted: [],
    returns: new BlockReturns(),
    unconfirmed: [],
    unmoved: undefined,
    reserved: [],
    returned: [],
    version: '',
    added: [],
    wants: undefined,
  };
}

/** Blocks that its last write adds, as long as that may take effect: it meets another state once there is one. */
export function offeredTo({ version, holder, added }: Known): readonly Cidr[] {
  return version === holder.version ? added : [];
}

/** Names of pools that it asks or has blocks of. What it may get is still reserved after its agent no longer asks for it. */
export function usedPools(
  { holder, listed, unlisted, reserved }: Known,
  ledger: Pick<BlockLedger, 'poolOf'>,
): readonly string[] {
  const pools = [...holder.requested, ...listed, ...unlisted].map(({ pool }) => pool);
  return [...pools, ...reserved.flatMap((cidr) => ledger.poolOf(cidr)?.pool ?? [])];
}

/** A restored backup shows what once was, and not what was given back. */
export function isOlder(holder: PoolNodeHolder, before: PoolNodeHolder | undefined): boolean {
  return before !== undefined && ageOf(holder.version, before.version) === 'older';
}
