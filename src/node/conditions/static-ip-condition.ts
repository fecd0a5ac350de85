// The conditions of the public address that a node asks for by tags.
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { Tags } from '../../providers/contract/network-interface.ts';
import { failureCondition } from './call-condition.ts';
import type { NodeCondition } from './node-condition.ts';

/** No public address can be associated in this cloud, and agents from 1.20 on wait for one. */
export function impossibleStaticIp({ publicAddress }: CloudWords): NodeCondition {
  return {
    reason: 'StaticIpNotSupported',
    message: `Headwater associates no ${publicAddress} in this cloud, and agents from 1.20 on do not start without the one that spec.ipam.static-ip-tags asks for: remove ipam-static-ip-tags from the configuration of Cilium's agent, and ipam.static-ip-tags from its CNI configuration, then restart the agent`,
  };
}

/** The node is served without the public address that its tags ask for. */
export function missingStaticIp(
  kind: 'noneMatches' | 'noneFree',
  tags: Tags,
  { publicAddress }: CloudWords,
): NodeCondition {
  const wanted = Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
  return kind === 'noneMatches'
    ? {
        reason: 'NoStaticIpMatches',
        message: `no ${publicAddress} carries the tags ${wanted}: tag one, or correct ipam-static-ip-tags of Cilium's agent, which writes spec.ipam.static-ip-tags`,
      }
    : {
        reason: 'StaticIpsTaken',
        message: `every ${publicAddress} with the tags ${wanted} is in use: allocate and tag another, or free one`,
      };
}

/** The node is served while its public address cannot be associated. */
export function staticIpFailure(failure: CloudFailure): NodeCondition {
  return { reason: 'StaticIpNotAssociated', message: failureCondition(failure).message };
}
