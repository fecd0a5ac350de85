// How badly a node needs what it asks for.
import type { Urgency } from '../providers/urgency.ts';
import type { Usage } from './statistics.ts';

export function urgencyOf({ available, used, waitingPods }: Usage): Urgency {
  const free = Math.max(0, available - used);
  if (waitingPods > 0 && free === 0) return 'starving';
  // Without any address its agent does not even start (contract 1.6), and no pod comes that could wait.
  if (waitingPods > free || available === 0) return 'waiting';
  return 'toppingUp';
}
