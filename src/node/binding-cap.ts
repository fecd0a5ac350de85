// What bounds a node that has all it may have while pods wait on it. Pure.
import { roomUnder, type Usage, type Watermarks } from './statistics.ts';

/** Whoever set the maximum can raise it; the instance's own is fixed. */
export type BindingCap = 'maxAllocate' | 'instance';

/** `ownMaximum`: the CiliumNode's max-allocate; 0 for none, so that the instance's maximum is what bounds. */
export function bindingCap(usage: Usage, marks: Watermarks, ownMaximum: number): BindingCap | undefined {
  const free = Math.max(0, usage.available - usage.used);
  if (usage.waitingPods <= free || roomUnder(usage.available, marks) > 0) return undefined;
  return ownMaximum > 0 ? 'maxAllocate' : 'instance';
}
