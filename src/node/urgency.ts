// How badly a node needs what it asks for.
import type { Urgency } from '../providers/call-budget.ts';
import type { Usage } from './statistics.ts';

export function urgencyOf({ available, used, waitingPods }: Usage): Urgency {
  const free = Math.max(0, available - used);
  if (waitingPods > 0 && free === 0) return 'starving';
  if (waitingPods > free) return 'waiting';
  return 'toppingUp';
}
