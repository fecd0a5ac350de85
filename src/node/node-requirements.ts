// What a node asks of its interfaces: the part of a CiliumNode spec that differs from cloud to cloud, reduced to what
// the planning needs.
import type { EniSpec } from '../kubernetes/cilium-node.ts';
import type { NetworkInterface, Tags } from '../providers/network-interface.ts';
import { carries } from '../providers/network-interface.ts';

export interface NodeRequirements {
  readonly instanceType: string;
  readonly networkId: string;
  readonly zone: string;
  /** The subnet of the node's own address; empty when the node doesn't say. */
  readonly nodeSubnetId: string;
  /** Interfaces below this device index get no pod addresses. */
  readonly firstInterfaceIndex: number;
  readonly excludeInterfaceTags: Tags;
  readonly usePrimaryAddress: boolean;
  /** Whether the node is to get prefixes rather than single addresses, as far as its instance can carry them. */
  readonly prefixDelegation: boolean;
  readonly deleteOnTermination: boolean;
  readonly subnetIds: readonly string[];
  readonly subnetTags: Tags;
  readonly securityGroupIds: readonly string[];
  readonly securityGroupTags: Tags;
}

/** Why pods get no addresses of this interface; undefined when they do. */
export function exclusionOf(item: NetworkInterface, requirements: NodeRequirements): string | undefined {
  if (item.reservedFor !== undefined) return `it is not for pods: ${item.reservedFor}`;
  const { firstInterfaceIndex, excludeInterfaceTags } = requirements;
  const index = item.attachment?.deviceIndex ?? 0;
  if (index < firstInterfaceIndex) {
    return `device index ${index} is below first-interface-index ${firstInterfaceIndex}`;
  }
  const excluding = Object.keys(excludeInterfaceTags).length > 0;
  if (excluding && carries(item.tags, excludeInterfaceTags))
    return 'it carries the tags of exclude-interface-tags';
  return undefined;
}

/** What holds for a node unless its agent says otherwise. */
export interface RequirementDefaults {
  readonly usePrimaryAddress: boolean;
  /** Whether nodes get prefixes; a node can only say that it wants none. */
  readonly prefixDelegation: boolean;
}

/** Reads them from the AWS section of a CiliumNode; says which fields are missing where that is not possible. */
export function requirementsOf(
  eni: EniSpec | undefined,
  options: RequirementDefaults,
): { readonly requirements: NodeRequirements } | { readonly missing: readonly string[] } {
  if (eni === undefined) return { missing: ['spec.eni'] };
  const { instanceType, vpcId, availabilityZone } = eni;
  if (instanceType === undefined || vpcId === undefined || availabilityZone === undefined) {
    const fields = { 'instance-type': instanceType, 'vpc-id': vpcId, 'availability-zone': availabilityZone };
    const missing = Object.entries(fields).filter(([, value]) => value === undefined);
    return { missing: missing.map(([name]) => `spec.eni.${name}`) };
  }
  return {
    requirements: {
      instanceType,
      networkId: vpcId,
      zone: availabilityZone,
      nodeSubnetId: eni.nodeSubnetId ?? '',
      firstInterfaceIndex: eni.firstInterfaceIndex,
      excludeInterfaceTags: eni.excludeInterfaceTags,
      usePrimaryAddress: eni.usePrimaryAddress || options.usePrimaryAddress,
      prefixDelegation: options.prefixDelegation && !eni.disablePrefixDelegation,
      deleteOnTermination: eni.deleteOnTermination,
      subnetIds: eni.subnetIds,
      subnetTags: eni.subnetTags,
      securityGroupIds: eni.securityGroups,
      securityGroupTags: eni.securityGroupTags,
    },
  };
}
