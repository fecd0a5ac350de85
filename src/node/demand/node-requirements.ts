// The requirements of a node for its interfaces: the cloud's section of a CiliumNode spec, with what the options say about it.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { SectionRequirements } from '../../providers/contract/cilium-node-section.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import { type NetworkInterface, type Tags, carries } from '../../providers/contract/network-interface.ts';

type OfSection = Omit<
  SectionRequirements,
  | 'missing'
  | 'instanceId'
  | 'disablePrefixDelegation'
  | 'instanceType'
  | 'networkId'
  | 'zone'
  | 'nodeSubnetId'
>;

/** A requirement that the cloud's section does not name is empty. */
export interface NodeRequirements extends OfSection {
  readonly instanceType: string;
  /** The network of new interfaces: that of the pods if an option names one, else that of the instance. */
  readonly networkId: string;
  /** The only network that pods get addresses of; absent for that of the instance. */
  readonly podNetworkId?: string | undefined;
  readonly zone: string;
  readonly nodeSubnetId: string;
  /** Whether the node requests prefixes instead of single addresses. Its instance must support them. */
  readonly prefixDelegation: boolean;
  /** Interfaces that carry any of these tags are those of others. */
  readonly othersInterfaceTags?: Tags;
  /** Whether pods get no addresses of others. */
  readonly sparesOthers?: boolean;
}

/** A node whose instance is known. */
export interface ServedNode {
  readonly node: CiliumNode;
  readonly view: InstanceView;
  readonly requirements: NodeRequirements;
}

/** Why this interface gets no pod addresses; undefined if it does. */
export function exclusionOf(item: NetworkInterface, requirements: AskedRequirements): string | undefined {
  if (item.reservedFor !== undefined) return `it is not for pods: ${item.reservedFor}`;
  const { firstInterfaceIndex, sparesPrimary = false, podNetworkId = item.networkId } = requirements;
  if (item.networkId !== podNetworkId)
    return `it is in ${item.networkId}, and pods get addresses of ${podNetworkId}`;
  const index = item.attachment?.deviceIndex ?? 0;
  if (index < firstInterfaceIndex) {
    if (sparesPrimary) return 'it is the primary interface';
    return `device index ${index} is below first-interface-index ${firstInterfaceIndex}`;
  }
  return exclusionByTags(item, requirements);
}

/** `networkId`: that of the instance. Where its pods are elsewhere, its primary interface has no place for them. */
export function requirementsIn(networkId: string, asked: AskedRequirements): NodeRequirements {
  const { podNetworkId = networkId, firstInterfaceIndex: first } = asked;
  const firstInterfaceIndex = podNetworkId === networkId ? first : Math.max(1, first);
  return { ...asked, networkId: podNetworkId, firstInterfaceIndex };
}

const nothingSpared: readonly string[] = [];

/** Addresses that pods must not get of an interface whose others they may have. */
export function sparedOn(
  { ofOthers = nothingSpared }: NetworkInterface,
  { sparesOthers = false }: Pick<NodeRequirements, 'sparesOthers'>,
): readonly string[] {
  return sparesOthers ? ofOthers : nothingSpared;
}

/** Why pods must not get them. */
export const whySpared = 'others made these addresses, or something outside the cluster leads to them';

/** All tags that the node names, if there are any, or any tag that the options name. */
export function exclusionByTags(
  { tags }: Pick<NetworkInterface, 'tags'>,
  {
    excludeInterfaceTags,
    othersInterfaceTags = {},
  }: Pick<NodeRequirements, 'excludeInterfaceTags' | 'othersInterfaceTags'>,
): string | undefined {
  if (Object.keys(excludeInterfaceTags).length > 0 && carries(tags, excludeInterfaceTags))
    return 'it carries the tags of exclude-interface-tags';
  const mark = Object.entries(othersInterfaceTags).find(([key, value]) => tags[key] === value);
  return mark === undefined ? undefined : `it carries the tag ${mark.join('=')} of --exclude-interface-tags`;
}

/** Requirements as a CiliumNode asks for them. Where its section names no network, the cloud says which one the node is in. */
export type AskedRequirements = Omit<NodeRequirements, 'networkId'> & {
  readonly networkId: string | undefined;
};

/** Defaults that apply unless the agent overrides them. */
export interface RequirementDefaults {
  readonly usePrimaryAddress: boolean;
  /** Whether nodes get prefixes. A node can only opt out. */
  readonly prefixDelegation: boolean;
  readonly othersInterfaceTags?: Tags;
  readonly sparesOthers?: boolean;
  /** The network of the pods of every node; absent for that of its instance. */
  readonly podNetworkId?: string | undefined;
}

/** Reads the requirements from the section. Returns the names of missing required fields instead. */
export function requirementsOf(
  section: SectionRequirements,
  options: RequirementDefaults,
): { readonly requirements: AskedRequirements } | { readonly missing: readonly string[] } {
  const { missing, instanceId: _, disablePrefixDelegation, ...asked } = section;
  if (missing.length > 0) return { missing };
  return {
    requirements: {
      ...asked,
      instanceType: asked.instanceType ?? '',
      // An agent may name the network of its pods instead: then only the cloud says that of the instance.
      networkId: asked.networkId === options.podNetworkId ? undefined : asked.networkId,
      zone: asked.zone ?? '',
      nodeSubnetId: asked.nodeSubnetId ?? '',
      usePrimaryAddress: asked.usePrimaryAddress || options.usePrimaryAddress,
      prefixDelegation: options.prefixDelegation && !disablePrefixDelegation,
      ...(options.othersInterfaceTags !== undefined && { othersInterfaceTags: options.othersInterfaceTags }),
      ...(options.sparesOthers === true && { sparesOthers: true }),
      podNetworkId: options.podNetworkId,
    },
  };
}

export interface Exclusion {
  readonly interfaceId: string;
  /** Undefined while it is not attached. */
  readonly deviceIndex: number | undefined;
  readonly why: string;
  /** How many of its addresses; undefined for all of the interface. */
  readonly addresses?: number;
}

/** Exclusions, in the order of the view. */
export function exclusionsOf(view: InstanceView, requirements: NodeRequirements): readonly Exclusion[] {
  return view.interfaces.flatMap((item) => {
    const place = { interfaceId: item.id, deviceIndex: item.attachment?.deviceIndex };
    const why = exclusionOf(item, requirements);
    if (why !== undefined) return [{ ...place, why }];
    const { length: addresses } = sparedOn(item, requirements);
    return addresses === 0 ? [] : [{ ...place, why: whySpared, addresses }];
  });
}

/**
 * Whether the node may adopt an orphaned interface that was created for its instance, by the current state of its subnet and
 * tags. It has the security groups that the node asked for then.
 */
export function adoptableFor(
  item: NetworkInterface,
  requirements: NodeRequirements,
  infrastructure: Infrastructure,
): boolean {
  const { networkId, zone } = requirements;
  const subnet = infrastructure.subnets.get(item.subnetId);
  const isThere = subnet?.eligible === true && subnet.networkId === networkId && subnet.zone === zone;
  return isThere && exclusionByTags(item, requirements) === undefined;
}
