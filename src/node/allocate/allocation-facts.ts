// The facts from which the allocation of a node is planned.
import type { InstanceLimits, InstanceView } from '../../providers/contract/facts.ts';
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import type { InstanceOrphans } from '../../providers/orphans/orphans.ts';
import type { NodeRequirements } from '../demand/node-requirements.ts';
import type { ScopeRefusal } from './blocked-resources.ts';
import type { PlannedStep } from './planned-step.ts';
import type { RefusedScope } from './refused-scope.ts';
import type { AskedInterface } from './refused-sizes.ts';

export interface AllocationFacts {
  readonly view: InstanceView;
  readonly limits: InstanceLimits;
  readonly requirements: NodeRequirements;
  readonly infrastructure: Infrastructure;
  /** Addresses of a subnet that may still be requested. */
  readonly free: (subnetId: string) => number;
  /** Most prefixes to request from a subnet at once; Infinity unless it recently refused some. */
  readonly maxPrefixes: (subnetId: string) => number;
  /** Most addresses or prefixes to request for an interface at once; Infinity unless it recently refused more. */
  readonly maxFor: (interfaceId: AskedInterface) => number;
  /** Addresses to gain relative to the view; steps in flight are not subtracted. */
  readonly wanted: number;
  /** Upper bound of addresses to gain, counted the same way. */
  readonly max: number;
  /**
   * Whether the node needs an IPv6 prefix; steps in flight are not counted. `held`: it has one, or may be getting one already.
   */
  readonly ipv6: 'needless' | 'wanted' | 'held';
  /** Steps in flight, or ended so recently that the view does not show them yet. */
  readonly stepsInFlight: readonly PlannedStep[];
  /** Interfaces that must not change for now. */
  readonly frozen: ReadonlySet<string>;
  /** Why a scope is blocked: the cloud recently refused it. */
  readonly refusalOf: (scope: RefusedScope) => ScopeRefusal | undefined;
  /** Orphaned interfaces that were created for this instance. */
  readonly orphans: InstanceOrphans;
  readonly traits: Pick<CloudTraits, 'interfaces' | 'change' | 'maxPerCall'>;
  /** New interfaces come before existing ones with room, because they are available sooner. */
  readonly preferNew: boolean;
}
