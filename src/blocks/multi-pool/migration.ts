// Moves what cluster-pool gave a CiliumNode to the default pool: from `podCIDRs` to `pools.allocated`, in one write, so that the
// node has its blocks at every moment.
import type { Json, JsonObject } from '../../runtime/json.ts';
import { cidrText, contains, parseCidr } from '../set/cidr.ts';
import type { ListedBlock, PoolState } from './pool-book.ts';
import { listedEnds } from './pool-definition.ts';
import { type PoolNodeHolder, withBlocks } from './pool-node-holder.ts';

export type Move =
  /** The CiliumNode has nothing of cluster-pool. */
  | { readonly kind: 'none' }
  | { readonly kind: 'move'; readonly draft: readonly Json[] }
  /** `why` says what to do. */
  | { readonly kind: 'refused'; readonly why: string };

/** Decides what moves. Pure. `name`: of the default pool. */
export function moveOf(holder: PoolNodeHolder, name: string, pool: PoolState | undefined): Move {
  const { podCidrs, rawAllocated, allocated } = holder;
  if (podCidrs.length === 0) return { kind: 'none' };
  if (pool?.definition === undefined) {
    const problem = pool?.problem ?? 'there is no such CiliumPodIPPool';
    return { kind: 'refused', why: `pool ${name} cannot take its blocks: ${problem}` };
  }
  const listed = allocated.flatMap(({ cidrs }) => cidrs);
  const blocks: ListedBlock[] = [];
  for (const text of podCidrs) {
    const reading = parseCidr(text);
    if (reading.kind === 'invalid')
      return {
        kind: 'refused',
        why: `its pod CIDR ${JSON.stringify(text)} cannot be read because ${reading.why}`,
      };
    const { cidr } = reading;
    if (!hasBlock(pool, { pool: name, cidr }))
      return {
        kind: 'refused',
        why: `pool ${name} does not have its pod CIDR ${cidrText(cidr)} as a block: give the pool the networks and mask sizes of cluster-pool`,
      };
    if (!listed.includes(cidrText(cidr))) blocks.push({ pool: name, cidr });
  }
  return { kind: 'move', draft: withBlocks(rawAllocated, blocks, () => listedEnds(pool.definition)) };
}

function hasBlock(pool: PoolState, { cidr }: ListedBlock): boolean {
  const own = pool.definition?.cidrs ?? [];
  return own.some((each) => each.maskSize === cidr.length && contains(each.cidr, cidr));
}

/** The patch of `spec`. */
export function movePatch(draft: readonly Json[]): JsonObject {
  return { ipam: { podCIDRs: [], pools: { allocated: draft } } };
}
