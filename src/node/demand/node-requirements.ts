// What a node asks of its interfaces: the cloud-specific part of a CiliumNode spec, reduced to what planning needs.
import type { InstanceView } from '../../providers/contract/instance-view.ts';
import type { EniSpec } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { CloudWords } from '../../providers/contract/allocation-implementation.ts';
import { type NetworkInterface, type Tags, carries } from '../../providers/contract/network-interface.ts';

export interface NodeRequirements {
  readonly instanceType: string;
  readonly networkId: string;
  readonly zone: string;
  /** The only interface whose addresses pods get, by its name; undefined for all of them. */
  readonly interfaceName?: string;
  /** The subnet of the node's own address; empty if the spec has none. */
  readonly nodeSubnetId: string;
  /** Interfaces below this device index get no pod addresses. */
  readonly firstInterfaceIndex: number;
  readonly excludeInterfaceTags: Tags;
  readonly usePrimaryAddress: boolean;
  /** Whether the node requests prefixes instead of single addresses. Its instance must support them. */
  readonly prefixDelegation: boolean;
  readonly deleteOnTermination: boolean;
  readonly subnetIds: readonly string[];
  readonly subnetTags: Tags;
  readonly securityGroupIds: readonly string[];
  readonly securityGroupTags: Tags;
}

/** Why this interface gets no pod addresses; undefined if it does. */
export function exclusionOf(item: NetworkInterface, requirements: NodeRequirements): string | undefined {
  if (item.reservedFor !== undefined) return `it is not for pods: ${item.reservedFor}`;
  const { firstInterfaceIndex, interfaceName } = requirements;
  if (interfaceName !== undefined && item.name !== interfaceName) {
    return `its name is not ${interfaceName}`;
  }
  const index = item.attachment?.deviceIndex ?? 0;
  if (index < firstInterfaceIndex) {
    return `device index ${index} is below first-interface-index ${firstInterfaceIndex}`;
  }
  return isExcludedByTags(item, requirements) ? 'it carries the tags of exclude-interface-tags' : undefined;
}

/** Whether the interface carries all tags of exclude-interface-tags, if there are any. */
export function isExcludedByTags(
  { tags }: Pick<NetworkInterface, 'tags'>,
  { excludeInterfaceTags }: Pick<NodeRequirements, 'excludeInterfaceTags'>,
): boolean {
  return Object.keys(excludeInterfaceTags).length > 0 && carries(tags, excludeInterfaceTags);
}

/** What a CiliumNode asks for. Where its section names no network, the cloud says which one the node is in. */
export type AskedRequirements = Omit<NodeRequirements, 'networkId'> & {
  readonly networkId: string | undefined;
};

/** Defaults that apply unless the agent overrides them. */
export interface RequirementDefaults {
  readonly usePrimaryAddress: boolean;
  /** Whether nodes get prefixes. A node can only opt out. */
  readonly prefixDelegation: boolean;
}

/**
 * Reads the requirements from the cloud's section of a CiliumNode. Returns the names of missing required
 * fields instead.
 */
export function requirementsOf(
  section: EniSpec | undefined,
  options: RequirementDefaults,
  fields: CloudWords['fields'],
): { readonly requirements: AskedRequirements } | { readonly missing: readonly string[] } {
  if (section === undefined) return { missing: [fields.section] };
  const { instanceType, vpcId: networkId, availabilityZone: zone } = section;
  if (instanceType === undefined || networkId === undefined || zone === undefined) {
    const needed = { instanceType, networkId, zone };
    const missing = (['instanceType', 'networkId', 'zone'] as const).filter(
      (name) => needed[name] === undefined,
    );
    return { missing: missing.map((name) => fields[name]) };
  }
  return {
    requirements: {
      instanceType,
      networkId,
      zone,
      nodeSubnetId: section.nodeSubnetId ?? '',
      firstInterfaceIndex: section.firstInterfaceIndex,
      excludeInterfaceTags: section.excludeInterfaceTags,
      usePrimaryAddress: section.usePrimaryAddress || options.usePrimaryAddress,
      prefixDelegation: options.prefixDelegation && !section.disablePrefixDelegation,
      deleteOnTermination: section.deleteOnTermination,
      subnetIds: section.subnetIds,
      subnetTags: section.subnetTags,
      securityGroupIds: section.securityGroups,
      securityGroupTags: section.securityGroupTags,
    },
  };
}

export interface Exclusion {
  readonly interfaceId: string;
  /** Undefined while it is not attached. */
  readonly deviceIndex: number | undefined;
  readonly why: string;
}

/** Exclusions, in the order of the view. */
export function exclusionsOf(view: InstanceView, requirements: NodeRequirements): readonly Exclusion[] {
  return view.interfaces.flatMap((item) => {
    const why = exclusionOf(item, requirements);
    return why === undefined
      ? []
      : [{ interfaceId: item.id, deviceIndex: item.attachment?.deviceIndex, why }];
  });
}
