// How many addresses a node lacks or has in excess, by its watermarks, and how urgently it needs some. Pure arithmetic.
import type { IpamSpec } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { Priority } from '../../providers/contract/priority.ts';

export type Watermarks = Pick<IpamSpec, 'preAllocate' | 'minAllocate' | 'maxAllocate' | 'maxAboveWatermark'>;

export interface Usage {
  /** Addresses that the node has for pods. */
  readonly available: number;
  /** Addresses in use by pods. */
  readonly used: number;
  /** Pods on the node that wait for an address. */
  readonly pendingPods: number;
}

/** Addresses missing to reach the watermarks, bounded by the room under `maxAllocate`. */
export function neededAddresses({ available, used }: Usage, marks: Watermarks): number {
  let needed = marks.preAllocate - (available - used);
  if (marks.minAllocate > 0) needed = Math.max(needed, marks.minAllocate - available);
  return Math.max(0, Math.min(needed, roomUnder(available, marks)));
}

/**
 * Addresses to request from the cloud: the deficit or the number of pending pods, whichever is more, plus the
 * margin above the watermark. 0 if the watermarks are met and every pod can get an address. `maxAllocate`
 * bounds the sum.
 */
export function addressesToAllocate(usage: Usage, marks: Watermarks): number {
  const needed = neededAddresses(usage, marks);
  const unserved = usage.pendingPods - (usage.available - usage.used);
  if (needed === 0 && unserved <= 0) return 0;
  const surge = needed > 0 ? Math.max(0, usage.pendingPods - needed) : unserved;
  return Math.max(0, Math.min(needed + marks.maxAboveWatermark + surge, roomUnder(usage.available, marks)));
}

/** Addresses above the watermarks or above the limit, whichever is more. None of them is in use. */
export function excessAddresses(usage: Usage, marks: Watermarks): number {
  return Math.max(beyondWatermarks(usage, marks), beyondLimit(usage, marks));
}

/**
 * Addresses above what the watermarks keep (docs/ciliumnode-contract.md 2.2). They keep min-allocate plus the
 * margin if that covers used plus pre-allocate; otherwise used, pre-allocate and the margin. Pending pods
 * reserve addresses too.
 */
function beyondWatermarks({ available, used, pendingPods }: Usage, marks: Watermarks): number {
  const { preAllocate, minAllocate, maxAboveWatermark } = marks;
  const floor = minAllocate + maxAboveWatermark;
  const kept = used + preAllocate <= floor ? floor : used + preAllocate + maxAboveWatermark;
  const isFloor = used <= floor && available <= floor;
  return isFloor ? 0 : Math.max(0, available - kept - pendingPods);
}

/**
 * Free addresses above `maxAllocate`. A lowered limit, or two leaders that each filled the node, can exceed
 * it. The watermarks alone would keep that excess while pods use enough addresses.
 */
function beyondLimit({ available, used, pendingPods }: Usage, { maxAllocate }: Watermarks): number {
  return maxAllocate > 0 ? Math.max(0, available - Math.max(maxAllocate, used + pendingPods)) : 0;
}

/** Room under `maxAllocate`: Infinity without a limit, negative if it is exceeded. */
export function roomUnder(available: number, { maxAllocate }: Watermarks): number {
  return maxAllocate > 0 ? maxAllocate - available : Infinity;
}

/** Users can raise max-allocate; the instance limit is fixed. */
export type BindingCap = 'maxAllocate' | 'instance';

/** `ownMaximum`: the CiliumNode's max-allocate; 0 for none, so the instance's maximum is the bound. */
export function bindingCap(usage: Usage, marks: Watermarks, ownMaximum: number): BindingCap | undefined {
  const free = Math.max(0, usage.available - usage.used);
  if (usage.pendingPods <= free || roomUnder(usage.available, marks) > 0) return undefined;
  return ownMaximum > 0 ? 'maxAllocate' : 'instance';
}

/** `lacksIpv6`: without its prefix, an agent that asks for IPv6 does not start either. */
export function priorityOf({ available, used, pendingPods }: Usage, lacksIpv6: boolean): Priority {
  const free = Math.max(0, available - used);
  if (pendingPods > 0 && free === 0) return 'critical';
  // Without any address the agent does not start (docs/ciliumnode-contract.md 1.6), so no pod can be pending.
  if (pendingPods > free || available === 0 || lacksIpv6) return 'high';
  return 'normal';
}
