// Chooses the security groups of a new interface: those the node names, those with its tags, or those of its
// primary interface.
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import { type InstanceView, primaryInterface } from '../../providers/contract/facts.ts';
import { carries } from '../../providers/contract/network-interface.ts';
import type { NodeRequirements } from '../demand/node-requirements.ts';
import type { ObstacleOf } from './allocation-plan.ts';

export type SecurityGroupChoice =
  | { readonly kind: 'chosen'; readonly ids: readonly string[] }
  | ObstacleOf<'noSecurityGroupMatches' | 'networkUnreadable' | 'securityGroupsUnknown'>;

export function chooseSecurityGroups(
  requirements: NodeRequirements,
  infrastructure: Infrastructure,
  view: Pick<InstanceView, 'interfaces'>,
): SecurityGroupChoice {
  const { securityGroupIds, securityGroupTags, networkId, podNetworkId } = requirements;
  if (securityGroupIds.length > 0) return { kind: 'chosen', ids: [...new Set(securityGroupIds)] };
  if (Object.keys(securityGroupTags).length > 0) return groupsByTags(requirements, infrastructure);
  const first = primaryInterface(view);
  // A security group is of one network.
  const isElsewhere = podNetworkId !== undefined && first?.networkId !== podNetworkId;
  const ids = isElsewhere ? [] : (first?.securityGroupIds ?? []);
  return ids.length > 0 ? { kind: 'chosen', ids } : { kind: 'securityGroupsUnknown', networkId };
}

function groupsByTags(
  { securityGroupTags, networkId }: NodeRequirements,
  { securityGroups, denied }: Infrastructure,
): SecurityGroupChoice {
  const tagged = securityGroups.filter(
    (group) => group.networkId === networkId && carries(group.tags, securityGroupTags),
  );
  if (tagged.length > 0) return { kind: 'chosen', ids: tagged.map((group) => group.id).sort() };
  const failure = denied?.securityGroups?.get(networkId);
  if (failure !== undefined) return { kind: 'networkUnreadable', failure };
  const wanted = Object.entries(securityGroupTags).map(([key, value]) => `${key}=${value}`);
  return { kind: 'noSecurityGroupMatches', wanted: wanted.join(', ') };
}
