// Decides how urgently a node needs addresses.
import type { Priority } from '../../providers/contract/priority.ts';
import type { Usage } from './statistics.ts';

/** `lacksIpv6`: without its prefix, an agent that asks for IPv6 does not start either. */
export function priorityOf({ available, used, pendingPods }: Usage, lacksIpv6: boolean): Priority {
  const free = Math.max(0, available - used);
  if (pendingPods > 0 && free === 0) return 'critical';
  // Without any address the agent does not start (docs/ciliumnode-contract.md 1.6), so no pod can be pending.
  if (pendingPods > free || available === 0 || lacksIpv6) return 'high';
  return 'normal';
}
