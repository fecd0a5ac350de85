// The plan of a node: the steps that it needs from the cloud now, and the obstacle to more of them.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { UnreadableInterface } from '../../providers/contract/facts.ts';
import type { ScopeRefusal } from './blocked-resources.ts';
import type { PlannedStep } from './planned-step.ts';

export interface AllocationPlan {
  readonly steps: readonly PlannedStep[];
  /** Wanted addresses that no step brings. */
  readonly unmet: number;
  /** No step in flight or planned will bring the rest. */
  readonly isStuck: boolean;
  /** The obstacle to the rest. */
  readonly obstacle: Obstacle | undefined;
  /** Blocked scopes that could have served the rest. */
  readonly refusals: readonly ScopeRefusal[];
  /** Why the node does not get the IPv6 prefix that it needs; absent if it does, or needs none. */
  readonly ipv6?: Ipv6Unmet;
}

/** An obstacle that keeps a node from being satisfied, whatever is tried. */
export type Obstacle =
  /** `below`: interfaces that first-interface-index excludes, beyond the primary one. */
  | {
      readonly kind: 'noInterfaceSlots';
      readonly interfaces: number;
      readonly below?: { readonly count: number; readonly firstInterfaceIndex: number };
    }
  /** Subnets match, but none has room for the smallest interface that serves pods. `selection`: by what they match, if one chose. */
  | (UntaggedSubnets & {
      readonly kind: 'subnetsExhausted';
      readonly subnetIds: readonly string[];
      readonly selection?: string;
    })
  /** The others have no room, and these cannot be read, or no longer. */
  | { readonly kind: 'interfacesUnreadable'; readonly interfaces: readonly UnreadableInterface[] }
  /** Only these could take more, and the cloud could not carry out their last change. */
  | { readonly kind: 'interfacesFailed'; readonly interfaceIds: readonly string[] }
  | InterfacesDetaching
  /** `wanted` describes what was requested. */
  | (UntaggedSubnets & { readonly kind: 'noSubnetMatches'; readonly wanted: string })
  /** Tags were requested and no group of the network carries them. */
  | { readonly kind: 'noSecurityGroupMatches'; readonly wanted: string }
  /** The groups of the primary interface apply, but it is unknown. */
  | { readonly kind: 'securityGroupsUnknown'; readonly networkId: string }
  /** Data that the choice depends on cannot be read. */
  | { readonly kind: 'networkUnreadable'; readonly failure: CloudFailure };

/** No other interface can serve the rest, and these are being detached. */
interface InterfacesDetaching {
  readonly kind: 'interfacesDetaching';
  readonly interfaceIds: readonly string[];
}

interface UntaggedSubnets {
  /** Other subnets of the node's place that show no tag, where tags decide; absent if there are none. */
  readonly untagged?: readonly string[];
}

/** An obstacle that keeps a node from the IPv6 prefix that its agent asks for. */
export type Ipv6Obstacle =
  | { readonly kind: 'ipv6Unsupported' }
  /** None of those that may serve the node has an IPv6 block. */
  | { readonly kind: 'noIpv6Subnet'; readonly subnetIds: readonly string[] }
  /** No interface has a free place for it, and none can be added. */
  | { readonly kind: 'noIpv6Room' }
  | InterfacesDetaching;

/** Some of them. */
export type ObstacleOf<Kind extends Obstacle['kind']> = Extract<Obstacle, { readonly kind: Kind }>;

/** Why nothing brings the prefix. */
export interface Ipv6Unmet {
  readonly kind: 'unmet';
  readonly obstacle: Ipv6Obstacle | undefined;
  /** Blocked scopes that could have brought it. */
  readonly refusals: readonly ScopeRefusal[];
}

/** The interfaces whose detachment is an obstacle. */
export function detachingIn(plan: Pick<AllocationPlan, 'obstacle' | 'ipv6'> | undefined): readonly string[] {
  const obstacles = [plan?.obstacle, plan?.ipv6?.obstacle];
  return obstacles.flatMap((each) => (each?.kind === 'interfacesDetaching' ? each.interfaceIds : []));
}
