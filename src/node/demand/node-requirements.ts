// What a node asks of its interfaces: the cloud's section of a CiliumNode spec, with what the options say about it.
import type { SectionRequirements } from '../../providers/contract/cilium-node-section.ts';
import type { InstanceView } from '../../providers/contract/instance-view.ts';
import { type NetworkInterface, type Tags, carries } from '../../providers/contract/network-interface.ts';

/** What the cloud's section does not say is empty. */
export interface NodeRequirements {
  readonly instanceType: string;
  readonly networkId: string;
  readonly zone: string;
  /** The only interface that gets new addresses, by its name; undefined for all of them. */
  readonly interfaceName?: string;
  /** The subnet of the node's own address. */
  readonly nodeSubnetId: string;
  /** Interfaces below this device index get no pod addresses. */
  readonly firstInterfaceIndex: number;
  /** Whether only the primary interface is below it, on every node of the cloud: no setting of a node says so. */
  readonly sparesPrimary?: boolean;
  readonly excludeInterfaceTags: Tags;
  readonly usePrimaryAddress: boolean;
  /** Whether the node requests prefixes instead of single addresses. Its instance must support them. */
  readonly prefixDelegation: boolean;
  readonly deleteOnTermination: boolean;
  readonly subnetIds: readonly string[];
  readonly subnetTags: Tags;
  readonly strictSubnets: boolean;
  readonly securityGroupIds: readonly string[];
  readonly securityGroupTags: Tags;
}

/** Why this interface gets no pod addresses; undefined if it does. */
export function exclusionOf(item: NetworkInterface, requirements: NodeRequirements): string | undefined {
  if (item.reservedFor !== undefined) return `it is not for pods: ${item.reservedFor}`;
  const { firstInterfaceIndex, sparesPrimary = false } = requirements;
  const index = item.attachment?.deviceIndex ?? 0;
  if (index < firstInterfaceIndex) {
    if (sparesPrimary) return 'it is the primary interface';
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

/** Reads the requirements from the section. Returns the names of missing required fields instead. */
export function requirementsOf(
  section: SectionRequirements,
  options: RequirementDefaults,
): { readonly requirements: AskedRequirements } | { readonly missing: readonly string[] } {
  if (section.missing.length > 0) return { missing: section.missing };
  return {
    requirements: {
      instanceType: section.instanceType ?? '',
      networkId: section.networkId,
      zone: section.zone ?? '',
      ...(section.interfaceName !== undefined && { interfaceName: section.interfaceName }),
      nodeSubnetId: section.nodeSubnetId ?? '',
      firstInterfaceIndex: section.firstInterfaceIndex,
      ...(section.sparesPrimary === true && { sparesPrimary: true }),
      excludeInterfaceTags: section.excludeInterfaceTags,
      usePrimaryAddress: section.usePrimaryAddress || options.usePrimaryAddress,
      prefixDelegation: options.prefixDelegation && !section.disablePrefixDelegation,
      deleteOnTermination: section.deleteOnTermination,
      subnetIds: section.subnetIds,
      subnetTags: section.subnetTags,
      strictSubnets: section.strictSubnets ?? false,
      securityGroupIds: section.securityGroupIds,
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
