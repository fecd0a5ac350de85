// Why a CiliumNode is not served, or not with all addresses: it cannot be read, or others claim the same.
import type { Claimed } from '../demand/address-claims.ts';
import type { NodeCondition } from './node-condition.ts';

export function unreadableNode(problems: readonly string[]): NodeCondition {
  return {
    reason: 'NodeUnreadable',
    message: `the CiliumNode cannot be read: ${problems.join('; ')}`,
  };
}

export function duplicateInstance(instanceId: string, served: string): NodeCondition {
  return {
    reason: 'DuplicateInstance',
    message: `instance ${instanceId} is already served as CiliumNode ${served}: delete the one whose node is gone`,
  };
}

/** The CiliumNode names `instanceId`, and the Node of its name is `ownInstance`. */
export function instanceMismatch(node: string, instanceId: string, ownInstance: string): NodeCondition {
  return {
    reason: 'InstanceMismatch',
    message: `spec.instance-id is ${instanceId} and the provider ID of Node ${node} names ${ownInstance}: correct spec.instance-id, or delete the Node if it is of a former instance`,
  };
}

export function instanceOfAnother(instanceId: string, owner: string): NodeCondition {
  return {
    reason: 'InstanceOfAnother',
    message: `instance ${instanceId} belongs to Node ${owner}: correct spec.instance-id, or delete this CiliumNode`,
  };
}

export function missingNode(node: string, instanceId: string): NodeCondition {
  return {
    reason: 'NodeMissing',
    message: `no Node ${node} names instance ${instanceId} by its provider ID, and --require-node is set: the CiliumNode is served once it does`,
  };
}

/** The condition for addresses that other nodes also show; undefined if there are none. */
export function claimCondition({ excluded: all, shared, unasked }: Claimed): NodeCondition | undefined {
  const excluded = new Map([...all].filter(([address]) => !unasked.has(address)));
  if (excluded.size > 0) {
    const message = `addresses of this node are still published on ${holdersIn(excluded)} and are withheld until they are removed there`;
    return { reason: 'AddressesContested', message };
  }
  if (shared.size === 0) return undefined;
  const message = `addresses of this node are published on ${holdersIn(shared)} as well: remove them there, or delete that CiliumNode if its node is gone`;
  return { reason: 'AddressesContested', message };
}

function holdersIn(contested: Claimed['shared']): string {
  return [...new Set([...contested.values()].flat())].sort().join(', ');
}
