// Decides which CIDRs a multi-pool agent drops and which dropped ones it reclaims. Pure.

export interface HeldCidr {
  readonly cidr: string;
  readonly used: number;
  readonly free: number;
}

export interface DroppedCidr {
  readonly cidr: string;
  readonly size: number;
}

/** CIDRs to drop, last first: those without an address in use, while at least `freeNeeded` addresses stay free. */
export function cidrsToDrop(held: readonly HeldCidr[], freeNeeded: number): readonly string[] {
  let free = freeOf(held);
  const dropped: string[] = [];
  for (const each of held.toReversed()) {
    if (each.used > 0 || free - each.free < freeNeeded) continue;
    free -= each.free;
    dropped.push(each.cidr);
  }
  return dropped;
}

/**
 * Dropped CIDRs to reclaim, in the order they were dropped, until at least `freeNeeded` addresses are free.
 * The caller passes only CIDRs that are still attached.
 */
export function cidrsToReclaim(
  dropped: readonly DroppedCidr[],
  held: readonly HeldCidr[],
  freeNeeded: number,
): readonly string[] {
  let free = freeOf(held);
  const reclaimed: string[] = [];
  for (const each of dropped) {
    if (free >= freeNeeded) break;
    free += each.size;
    reclaimed.push(each.cidr);
  }
  return reclaimed;
}

function freeOf(held: readonly HeldCidr[]): number {
  return held.reduce((sum, each) => sum + each.free, 0);
}
