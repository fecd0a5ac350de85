// How many addresses of a pool a node asks for, and which blocks it keeps. Pure.
import type { DemandParts } from '../../blocks/set/stepped-demand.ts';
import type { BlockEnds } from './host-scope-allocator.ts';
import type { BlockUse } from './multi-pool-allocator.ts';

export type DemandRule = (parts: DemandParts) => number;

/** Exact, as Cilium agents count in clouds: controllers read the addresses in use from it. */
export function linearDemand({ inUse, pending, preAllocate }: DemandParts): number {
  return inUse + pending + preAllocate;
}

export interface Offered extends Omit<BlockUse, keyof BlockEnds> {
  /** Whether this node says that it holds the block. */
  readonly isListed: boolean;
}

/**
 * The blocks that a node is to say it holds. Blocks in use stay. Others are added in their order until `wantedFree` addresses
 * are free; of what is more, empty ones leave, the last first.
 */
export function blocksToHold(blocks: readonly Offered[], wantedFree: number): readonly string[] {
  const isHeld = ({ used, isListed, isOffered }: Offered): boolean => used > 0 || (isListed && isOffered);
  const held = new Set(blocks.filter(isHeld));
  let surplus = [...held].reduce((sum, { free, isOffered }) => sum + (isOffered ? free : 0), -wantedFree);
  for (const block of blocks) {
    if (surplus >= 0) break;
    if (held.has(block) || !block.isOffered) continue;
    held.add(block);
    surplus += block.free;
  }
  for (const block of blocks.toReversed()) {
    if (!held.has(block) || block.used > 0 || block.free > surplus) continue;
    held.delete(block);
    surplus -= block.free;
  }
  return blocks.filter((block) => held.has(block)).map(({ cidr }) => cidr);
}
