// Which CIDRs an agent of the multi-pool protocol drops, and which dropped ones it takes back, as pure functions.

export interface HeldCidr {
  readonly cidr: string;
  readonly used: number;
  readonly free: number;
}

export interface DroppedCidr {
  readonly cidr: string;
  readonly size: number;
}

/**
 * CIDRs to drop, from the last backwards: no address in use, and at least `freeNeeded` addresses stay free without
 * them.
 */
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
 * Dropped CIDRs to take back, in the order in which they were dropped, until at least `freeNeeded` addresses are free.
 * The caller passes only those that are attached still.
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
