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
  const { securityGroupIds, securityGroupTags, networkId } = requirements;
  if (securityGroupIds.length > 0) return { kind: 'chosen', ids: [...new Set(securityGroupIds)] };
  const tags = Object.entries(securityGroupTags);
  if (tags.length > 0) {
    const tagged = infrastructure.securityGroups.filter(
      (group) => group.networkId === networkId && carries(group.tags, securityGroupTags),
    );
    if (tagged.length > 0) return { kind: 'chosen', ids: tagged.map((group) => group.id).sort() };
    const failure = infrastructure.denied?.securityGroups?.get(networkId);
    if (failure !== undefined) return { kind: 'networkUnreadable', failure };
    return {
      kind: 'noSecurityGroupMatches',
      wanted: tags.map(([key, value]) => `${key}=${value}`).join(', '),
    };
  }
  const first = primaryInterface(view);
  if (first === undefined || first.securityGroupIds.length === 0) return { kind: 'securityGroupsUnknown' };
  return { kind: 'chosen', ids: first.securityGroupIds };
}
