// Why a node does not get what it needs, in words that tell the reader what to do. Texts hold no times and no counters,
// so that the same trouble reads the same each time.
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { Tags } from '../providers/network-interface.ts';
import { type StopReason, stopWords } from '../providers/mutation-permission.ts';
import type { UnreadableInterface } from '../providers/observation.ts';
import type { BindingCap } from './binding-cap.ts';
import type { Claimed } from './address-claims.ts';
import type { Obstacle } from './obstacle.ts';

export interface Diagnosis {
  /** Stable name: metric label and Event reason. */
  readonly reason: DiagnosisReason;
  readonly text: string;
}

export type DiagnosisReason =
  | 'NodeUnreadable'
  | 'DuplicateInstance'
  | 'OutsideNetwork'
  | 'InstanceNotManaged'
  | 'InstanceNotFound'
  | 'InstanceTerminated'
  | 'InstanceTypeUnknown'
  | 'InstanceTypeUnreadable'
  | 'NoInterfaceSlots'
  | 'InstanceFull'
  | 'MaxAllocateReached'
  | 'SubnetsExhausted'
  | 'NoSubnetMatches'
  | 'NoSecurityGroupMatches'
  | 'SecurityGroupsUnknown'
  | 'NetworkUnreadable'
  | 'InterfaceUnreadable'
  | 'CallFailed'
  | 'NoStaticIpMatches'
  | 'StaticIpsTaken'
  | 'StaticIpNotAssociated'
  | 'MutationsStopped'
  | 'ForeignWriter'
  | 'AddressesContested';

export function unreadableNode(problems: readonly string[]): Diagnosis {
  return {
    reason: 'NodeUnreadable',
    text: `the CiliumNode cannot be read: ${problems.join('; ')}`,
  };
}

export function duplicateInstance(instanceId: string, served: string): Diagnosis {
  return {
    reason: 'DuplicateInstance',
    text: `instance ${instanceId} is already served as CiliumNode ${served}: delete the one whose node is gone`,
  };
}

export function outsideNetwork(networkId: string, allowed: string): Diagnosis {
  return {
    reason: 'OutsideNetwork',
    text: `the node is in ${networkId} and --vpc-id restricts Headwater to ${allowed}`,
  };
}

export function unmanagedInstance(instanceId: string): Diagnosis {
  return {
    reason: 'InstanceNotManaged',
    text: `instance ${instanceId} does not carry the tags of --instance-tags-filter`,
  };
}

export function unknownInstanceType(instanceType: string): Diagnosis {
  return {
    reason: 'InstanceTypeUnknown',
    text: `the cloud knows no instance type ${JSON.stringify(instanceType)}: correct spec.eni.instance-type`,
  };
}

export function unreadableLimits(instanceType: string, problem: string): Diagnosis {
  return {
    reason: 'InstanceTypeUnreadable',
    text: `what the cloud says of instance type ${instanceType} cannot be read: ${problem}; it is asked again by itself`,
  };
}

export function deniedLimits(failure: CloudFailure): Diagnosis {
  return { reason: 'InstanceTypeUnreadable', text: diagnoseFailure(failure).text };
}

/** Addresses of the node that other nodes show as well; undefined without any. */
export function diagnoseClaim({ withheld, shared }: Claimed): Diagnosis | undefined {
  if (withheld.size > 0) {
    const text = `addresses of this node are still published on ${holdersIn(withheld)} and are withheld until they are struck there`;
    return { reason: 'AddressesContested', text };
  }
  if (shared.size === 0) return undefined;
  const text = `addresses of this node are published on ${holdersIn(shared)} as well: strike them there, or delete that CiliumNode if its node is gone`;
  return { reason: 'AddressesContested', text };
}

function holdersIn(contested: Claimed['shared']): string {
  return [...new Set([...contested.values()].flat())].sort().join(', ');
}

/** An interface that is left alone while the node is served by its others. */
export function unreadableInterface({ id, problem }: UnreadableInterface): Diagnosis {
  return {
    reason: 'InterfaceUnreadable',
    text: `interface ${id} cannot be read and is left alone: ${problem}`,
  };
}

/** The node is served without the public address that its tags ask for. */
export function missingStaticIp(kind: 'noneMatches' | 'noneFree', tags: Tags): Diagnosis {
  const wanted = Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
  return kind === 'noneMatches'
    ? {
        reason: 'NoStaticIpMatches',
        text: `no Elastic IP address carries the tags ${wanted}: tag one, or correct spec.ipam.static-ip-tags`,
      }
    : {
        reason: 'StaticIpsTaken',
        text: `every Elastic IP address with the tags ${wanted} is associated with something: allocate and tag another, or disassociate one`,
      };
}

/** The node is served while its public address cannot be associated. */
export function staticIpFailure(failure: CloudFailure): Diagnosis {
  return { reason: 'StaticIpNotAssociated', text: diagnoseFailure(failure).text };
}

/** What the cloud shows, or does not show, of the instance itself; undefined when it can be served. */
export function diagnoseInstance(view: InstanceView): Diagnosis | undefined {
  if (view.interfaces.length > 0) return undefined;
  const [unreadable] = view.unreadable;
  if (unreadable !== undefined) {
    return {
      reason: 'InterfaceUnreadable',
      text: `no interface of instance ${view.id} can be read; of ${unreadable.id}: ${unreadable.problem}`,
    };
  }
  const state = view.instance?.state ?? 'unknown';
  if (state === 'terminated') {
    return {
      reason: 'InstanceTerminated',
      text: `instance ${view.id} is terminated: delete the Node and its CiliumNode, unless a new instance takes the name over`,
    };
  }
  const found = state === 'unknown' ? 'is not found' : `is ${state} and has no interface`;
  return {
    reason: 'InstanceNotFound',
    text: `instance ${view.id} ${found}: correct spec.instance-id, or delete the CiliumNode if the node is gone`,
  };
}

/** `isGone`: whether a subnet does not exist any more. */
export function diagnoseObstacle(
  obstacle: Obstacle,
  isGone: (subnetId: string) => boolean = () => false,
): Diagnosis {
  switch (obstacle.kind) {
    case 'noInterfaceSlots':
      return {
        reason: 'NoInterfaceSlots',
        text: `every one of the instance's ${obstacle.interfaces} interfaces is full or excluded: use a larger instance type, or fewer pods on the node`,
      };
    case 'subnetsExhausted':
      return {
        reason: 'SubnetsExhausted',
        text: `${exhaustionOf(obstacle.subnetIds, isGone)}: add a subnet that the node's subnet selection matches, or free addresses there`,
      };
    case 'noSubnetMatches':
      return {
        reason: 'NoSubnetMatches',
        text: `nothing matches ${obstacle.wanted}: create or tag a subnet, or correct the node's subnet selection and Headwater's subnet filters`,
      };
    case 'noSecurityGroupMatches':
      return {
        reason: 'NoSecurityGroupMatches',
        text: `no security group of the node's network carries the tags ${obstacle.wanted}: tag one, or correct spec.eni.security-group-tags`,
      };
    case 'securityGroupsUnknown':
      return {
        reason: 'SecurityGroupsUnknown',
        text: 'the node names no security groups and those of its first interface are not known: set spec.eni.security-groups',
      };
    case 'networkUnreadable':
      return { reason: 'NetworkUnreadable', text: diagnoseFailure(obstacle.failure).text };
  }
}

function exhaustionOf(subnetIds: readonly string[], isGone: (subnetId: string) => boolean): string {
  const gone = subnetIds.filter(isGone);
  const full = subnetIds.filter((id) => !isGone(id));
  const parts = [
    ...(full.length > 0 ? [`no address is left in ${full.join(', ')}`] : []),
    ...(gone.length > 0 ? [`there is no subnet ${gone.join(', ')} any more`] : []),
  ];
  return parts.join(', and ');
}

/** Pods wait, and the node has all it may have; `most` is how much that is. */
export function diagnoseCap(cap: BindingCap, most: number, instanceType: string): Diagnosis {
  return cap === 'instance'
    ? {
        reason: 'InstanceFull',
        text: `pods wait for addresses, and instance type ${instanceType} can have no more than the ${most} that the node has: use a larger instance type, or fewer pods on the node`,
      }
    : {
        reason: 'MaxAllocateReached',
        text: `pods wait for addresses, and spec.ipam.max-allocate ${most} allows no more: raise it, or put fewer pods on the node`,
      };
}

export function diagnoseFailure(failure: CloudFailure): Diagnosis {
  const remedy = remedyFor(failure);
  const said = `${failure.action} answers ${failure.code}: ${failure.message}`;
  return { reason: 'CallFailed', text: remedy === undefined ? said : `${said} (${remedy})` };
}

/** What somebody can do about it; undefined where the failure itself says all that is known. */
export function remedyFor({ kind, permission }: CloudFailure): string | undefined {
  return permission === undefined ? remedies[kind] : `allow ${permission} to Headwater's role`;
}

/** Something would be done for the node, and nothing may be begun. */
export function mutationsStopped(reason: StopReason): Diagnosis {
  return {
    reason: 'MutationsStopped',
    text: `the node lacks addresses and gets none for now: ${stopWords[reason]}`,
  };
}

/** The pool or the interfaces of the CiliumNode were written by somebody else. */
export function foreignWriter(manager: string | undefined): Diagnosis {
  const who = manager === undefined ? 'somebody other than Headwater' : `${manager}, not Headwater,`;
  return {
    reason: 'ForeignWriter',
    text: `${who} wrote the pool or the interfaces of this CiliumNode: see to it that no cilium-operator manages it; Headwater holds back until there has been no such write for 5 minutes`,
  };
}

const remedies: Partial<Record<CloudFailure['kind'], string>> = {
  throttled: "the account's rate limit for this call is spent; it is tried again by itself",
  limitReached: 'raise the quota, or wait until interfaces or addresses are given back',
  instanceNotRunning: 'the instance must be running to get interfaces',
  notAuthorized: 'check the credentials that Headwater uses',
  unreachable: 'check the network path and the endpoint',
};
