// What a node needs from the cloud now, and what keeps it from getting that.
import type { ScopeRefusal } from './blocked-resources.ts';
import type { Ipv6Unmet } from './ipv6-plan.ts';
import type { Obstacle } from './plan-obstacles.ts';
import type { PlannedStep } from './planned-step.ts';

export interface AllocationPlan {
  readonly steps: readonly PlannedStep[];
  /** Wanted addresses that no step brings. */
  readonly unmet: number;
  /** No step in flight or planned will bring the rest. */
  readonly isStuck: boolean;
  /** What prevents the rest. */
  readonly obstacle: Obstacle | undefined;
  /** Blocked scopes that could have served the rest. */
  readonly refusals: readonly ScopeRefusal[];
  /** Why the node does not get the IPv6 prefix that it needs; absent if it does, or needs none. */
  readonly ipv6?: Ipv6Unmet;
}
