// The facts from which the allocation of a node is planned.
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import type { InstanceOrphans } from '../../providers/orphans/orphans.ts';
import type { KnownInstance } from '../demand/capacity.ts';
import type { ScopeRefusal } from './blocked-resources.ts';
import type { PlannedStep } from './planned-step.ts';
import type { RefusedScope } from './refused-scope.ts';
import type { AskedInterface } from './refused-sizes.ts';

export interface AllocationFacts extends KnownInstance {
  readonly need: AllocationNeed;
  readonly network: NetworkSupply;
  /** Orphaned interfaces that were created for this instance. */
  readonly orphans: InstanceOrphans;
  readonly ongoing: OngoingChanges;
  readonly calls: CallRules;
}

/** How much a node is to gain, relative to the view; steps in flight are not subtracted. */
export interface AllocationNeed {
  /** Addresses to gain. */
  readonly wanted: number;
  /** Upper bound of addresses to gain. */
  readonly max: number;
  /** Whether the node needs an IPv6 prefix. `held`: it has one, or may be getting one already. */
  readonly ipv6: 'needless' | 'wanted' | 'held';
}

/** The subnets of the network, and what they have left. */
export interface NetworkSupply {
  readonly infrastructure: Infrastructure;
  /** Addresses of a subnet that may still be requested. */
  readonly free: (subnetId: string) => number;
  /** Most prefixes to request from a subnet at once; Infinity unless it recently refused some. */
  readonly maxPrefixes: (subnetId: string) => number;
}

/** Changes of the instance that the view does not show whole. */
export interface OngoingChanges {
  /** Steps in flight, or ended so recently that the view does not show them yet. */
  readonly steps: readonly PlannedStep[];
  /** Interfaces that must not change for now. */
  readonly frozen: ReadonlySet<string>;
}

/** Rules for the calls of a plan: how the cloud acts, what it recently refused, and which calls come first. */
export interface CallRules {
  readonly traits: Pick<CloudTraits, 'interfaces' | 'change' | 'maxPerCall'>;
  /** Why a scope is blocked: the cloud recently refused it. */
  readonly refusalOf: (scope: RefusedScope) => ScopeRefusal | undefined;
  /** Most addresses or prefixes to request for an interface at once; Infinity unless it recently refused more. */
  readonly maxFor: (interfaceId: AskedInterface) => number;
  /** New interfaces come before existing ones with room, because they are available sooner. */
  readonly preferNew: boolean;
}
