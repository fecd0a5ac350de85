// The words for administrators about a network interface of a node that is served by its others.
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import type { UnreadableInterface } from '../../providers/contract/facts.ts';
import type { RetiredUse } from '../release/retired-holdings.ts';
import type { NodeCondition } from './node-condition.ts';

/** An interface is skipped while the node is served by its other interfaces. */
export function unreadableInterface({ id, problem }: UnreadableInterface): NodeCondition {
  return {
    reason: 'InterfaceUnreadable',
    message: `interface ${id} cannot be read and is not used: ${problem}`,
  };
}

/** Something else than Headwater changes these interfaces, or detaches them, and does not end. The node gets no addresses on them meanwhile. */
export function changingInterfaces(ids: readonly string[]): NodeCondition {
  return {
    reason: 'InterfaceChanging',
    message: `end or repair in the cloud what keeps changing ${ids.join(', ')}, such as an upgrade of the instance or a detachment: Headwater adds no address there until it has ended`,
  };
}

/**
 * The only interfaces that could serve the instance, or whose slots could, are being detached: by something else, by a former
 * leader, or by a call of ours that nobody follows any longer. `lack`: of the others.
 */
export function detachingInterfaces(ids: readonly string[], lack: string): NodeCondition {
  const [are, them, they] = ids.length === 1 ? ['is', 'it', 'it is'] : ['are', 'them', 'they are'];
  return {
    reason: 'InterfaceChanging',
    message: `wait until ${ids.join(', ')} ${are} detached, or detach ${them} by force if ${they} stuck: no other interface can ${lack}`,
  };
}

/** The condition for an interface that can no longer be read. Pods keep its addresses. */
export function obscuredInterface({ id, problem }: UnreadableInterface): NodeCondition {
  return {
    reason: 'InterfaceUnreadable',
    message: `interface ${id} can no longer be read and gets no more addresses: ${problem}`,
  };
}

/** Its agent gets nothing of that prefix, and no other one is assigned beside it: the node is blocked if it lacks one. */
export function unusableIpv6({ id, ipv6Problem = '' }: NetworkInterface): NodeCondition {
  return {
    reason: 'InterfaceUnreadable',
    message: `correct what interface ${id} has of IPv6, which is not shown to the agent: ${ipv6Problem}`,
  };
}

/** Attached interfaces that the cloud should show by now. The node gets none of their addresses until it does. */
export function unseenInterfaces(ids: readonly string[], instanceId: string): NodeCondition {
  const which = `${ids.length === 1 ? 'interface' : 'interfaces'} ${ids.join(', ')}`;
  return {
    reason: 'InterfaceNotShown',
    message: `check in the cloud whether ${which} ${ids.length === 1 ? 'is' : 'are'} attached to instance ${instanceId}, and detach ${ids.length === 1 ? 'it if it is' : 'those that are'} stuck: the cloud accepted the attachment, but no read shows it, and its addresses are offered once one does`,
  };
}

/** Interfaces keep the groups that they were created with. `groups`: those of new interfaces. */
export function otherSecurityGroups(ids: readonly string[], groups: readonly string[]): NodeCondition {
  return {
    reason: 'SecurityGroupsDiffer',
    message: `give ${ids.join(', ')} the security groups of new interfaces of the node in the cloud, ${groups.join(', ')}, or replace the node: Headwater never changes those of an interface that exists`,
  };
}

/** Pods use excluded addresses: they keep them, and nothing new is offered there. */
export function excludedInUse({ interfaceId, why, addresses }: RetiredUse): NodeCondition {
  return {
    reason: 'ExcludedAddressesInUse',
    message: `pods use excluded addresses of interface ${interfaceId}: ${why}; they keep them, and no other pod gets one: restart those pods to move them`,
    addresses,
  };
}
