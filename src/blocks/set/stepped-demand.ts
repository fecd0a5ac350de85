// How many addresses an agent asks for of what comes in blocks. Pure.

export interface DemandParts {
  readonly inUse: number;
  /** Requests that wait. */
  readonly pending: number;
  /** Free addresses to hold. */
  readonly preAllocate: number;
}

/** In whole steps of the addresses to hold, so that not every pod changes the demand: as Cilium agents count. */
export function steppedDemand({ inUse, pending, preAllocate }: DemandParts): number {
  const count = inUse + pending;
  if (preAllocate === 0) return count;
  const steps = Math.floor(count / preAllocate);
  return (count % preAllocate === 0 ? steps + 1 : steps + 2) * preAllocate;
}
