// How many addresses a node lacks, by its watermarks. Numbers in, numbers out.

export interface Watermarks {
  /** Free addresses to keep ready. */
  readonly preAllocate: number;
  /** Addresses to have in any case; 0 for none. */
  readonly minAllocate: number;
  /** Addresses never to exceed; 0 for no limit. */
  readonly maxAllocate: number;
  /** Addresses to take beyond the need whenever some are taken. */
  readonly maxAboveWatermark: number;
}

export interface Usage {
  /** Addresses that the node has for pods. */
  readonly available: number;
  /** Of these, taken by pods. */
  readonly used: number;
  /** Pods on the node that wait for an address. */
  readonly waitingPods: number;
}

/** Addresses that the watermarks ask for beyond what is there; never more than `maxAllocate` leaves room for. */
export function neededAddresses({ available, used }: Usage, marks: Watermarks): number {
  let needed = marks.preAllocate - (available - used);
  if (marks.minAllocate > 0) needed = Math.max(needed, marks.minAllocate - available);
  return Math.max(0, Math.min(needed, roomUnder(available, marks)));
}

/**
 * Addresses to ask the cloud for: the need, or as many as pods wait for when that is more, and the margin above the
 * watermark. 0 when the watermarks are met and no pod waits in vain. `maxAllocate` bounds the sum.
 */
export function addressesToAllocate(usage: Usage, marks: Watermarks): number {
  const needed = neededAddresses(usage, marks);
  const unserved = usage.waitingPods - (usage.available - usage.used);
  if (needed === 0 && unserved <= 0) return 0;
  const surge = needed > 0 ? Math.max(0, usage.waitingPods - needed) : unserved;
  return Math.max(0, Math.min(needed + marks.maxAboveWatermark + surge, roomUnder(usage.available, marks)));
}

/**
 * Addresses beyond what the watermarks keep: min-allocate and the margin above it, or what is in use, pre-allocate and
 * the margin, whichever is more (contract 2.2). Pods that wait have a claim to them.
 */
export function excessAddresses({ available, used, waitingPods }: Usage, marks: Watermarks): number {
  const { preAllocate, minAllocate, maxAboveWatermark } = marks;
  const floor = minAllocate + maxAboveWatermark;
  const kept = used + preAllocate <= floor ? floor : used + preAllocate + maxAboveWatermark;
  const spared = used <= floor && available <= floor;
  return spared ? 0 : Math.max(0, available - kept - waitingPods);
}

/** Addresses that `maxAllocate` leaves room for; Infinity without a limit, less than 0 when it is exceeded. */
export function roomUnder(available: number, { maxAllocate }: Watermarks): number {
  return maxAllocate > 0 ? maxAllocate - available : Infinity;
}
