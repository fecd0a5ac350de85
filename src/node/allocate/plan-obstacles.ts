// What prevents a node from being satisfied, whatever is tried.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { SecurityGroupChoice } from './security-group-choice.ts';
import type { SubnetChoice } from './subnet-choice.ts';

export type Obstacle =
  | { readonly kind: 'noInterfaceSlots'; readonly interfaces: number }
  | { readonly kind: 'subnetsExhausted'; readonly subnetIds: readonly string[] }
  /** Only these could take more, and the cloud could not carry out their last change. */
  | { readonly kind: 'interfacesFailed'; readonly interfaceIds: readonly string[] }
  | { readonly kind: 'noSubnetMatches'; readonly wanted: string }
  | { readonly kind: 'noSecurityGroupMatches'; readonly wanted: string }
  | { readonly kind: 'securityGroupsUnknown' }
  /** Data that the choice depends on cannot be read. */
  | { readonly kind: 'networkUnreadable'; readonly failure: CloudFailure };

/** Why there are no security groups for a new interface. */
export function withoutGroups(choice: Exclude<SecurityGroupChoice, { kind: 'chosen' }>): Obstacle {
  switch (choice.kind) {
    case 'noneMatches':
      return { kind: 'noSecurityGroupMatches', wanted: choice.wanted };
    case 'unreadable':
      return { kind: 'networkUnreadable', failure: choice.failure };
    case 'unknown':
      return { kind: 'securityGroupsUnknown' };
  }
}

/** Why there is no subnet for a new interface. */
export function withoutSubnet(choice: Exclude<SubnetChoice, { kind: 'chosen' }>): Obstacle {
  switch (choice.kind) {
    case 'noneMatches':
      return { kind: 'noSubnetMatches', wanted: choice.wanted };
    case 'unreadable':
      return { kind: 'networkUnreadable', failure: choice.failure };
    case 'exhausted':
      return { kind: 'subnetsExhausted', subnetIds: choice.subnetIds };
  }
}
