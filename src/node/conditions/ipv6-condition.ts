// The words for administrators about the IPv6 prefix of a node. An agent that asks for IPv6 does not get ready without it, so
// the node counts as blocked, although it is served with IPv4.
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { Ipv6Obstacle, Ipv6Unmet } from '../allocate/allocation-plan.ts';
import { inOneMessage, isTold, refusalsCondition } from './call-condition.ts';
import { detachingInterfaces } from './interface-condition.ts';
import { instanceOf, type NodeCondition } from './node-condition.ts';

const waits = 'its agent asks for IPv6 and does not get ready without an IPv6 prefix';

/** Why the node does not get its prefix; undefined if that may be transient. */
export function ipv6Condition(
  { obstacle, refusals }: Ipv6Unmet,
  instanceType: string,
  words: CloudWords,
): NodeCondition | undefined {
  if (obstacle !== undefined) return obstacleCondition(obstacle, instanceType, words);
  const told = refusalsCondition(refusals.filter(isTold));
  const [first] = told;
  if (first === undefined) return undefined;
  return { ...first, message: inOneMessage(told.map(({ message }) => message)) };
}

function obstacleCondition(
  obstacle: Ipv6Obstacle,
  instanceType: string,
  { remedies }: CloudWords,
): NodeCondition {
  switch (obstacle.kind) {
    case 'ipv6Unsupported':
      return {
        reason: 'Ipv6NotSupported',
        message: `${instanceOf(instanceType)} can have no IPv6 prefix, and ${waits}: use an instance type with IPv6 prefixes, or set enable-ipv6 to false for the agents`,
      };
    case 'noIpv6Subnet': {
      const where =
        obstacle.subnetIds.length === 0 ? 'no subnet' : `none of ${obstacle.subnetIds.join(', ')}`;
      return {
        reason: 'NoIpv6Subnet',
        message: `${where} that may serve the node has an IPv6 block, and ${waits}: associate one with a subnet, or select a subnet that has one`,
      };
    }
    case 'noIpv6Room':
      return {
        reason: 'NoInterfaceSlots',
        message: `no interface of the instance has a free place for an IPv6 prefix, and none can be added, and ${waits}: unassign an IPv6 address from one, or ${remedies.fullInstance}`,
      };
    case 'interfacesDetaching':
      return detachingInterfaces(obstacle.interfaceIds, `have an IPv6 prefix, and ${waits}`);
  }
}

/** No agent of this cloud can use a prefix of its interfaces. */
export function unsupportedIpv6(): NodeCondition {
  return {
    reason: 'Ipv6NotSupported',
    message:
      'the agent asks for IPv6 addresses in spec.ipam.pools.requested, and in this cloud no interface has an IPv6 prefix that an agent could use: set enable-ipv6 to false for the agents, which wait for it',
  };
}

/** The agent would not see a prefix. */
export function unshowableIpv6(): NodeCondition {
  return {
    reason: 'Ipv6NotSupported',
    message: `install the CRD of CiliumNodes of Cilium 1.20 or newer, allow Headwater to read it, and restart Headwater: as far as Headwater knows, the API server drops IPv6 prefixes from a status, and ${waits}`,
  };
}
