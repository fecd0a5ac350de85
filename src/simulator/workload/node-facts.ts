// Facts that a machine knows before its agent runs: instance metadata and the agent's configuration.

/**
 * How an agent reports demand and releases addresses: ENI mode up to Cilium 1.19, and from 1.20 on; Azure mode up to 1.20,
 * and from 1.21 on. Agents on Alibaba Cloud speak only the first.
 */
export type Protocol = 'crd-allocator' | 'multi-pool';

/** Addresses that an agent takes for itself, used as their owner name. */
export type AgentAddress = 'router' | 'health';

export interface IpamWatermarks {
  readonly minAllocate?: number;
  readonly maxAllocate?: number;
  readonly preAllocate?: number;
  readonly maxAboveWatermark?: number;
  readonly staticIpTags?: Readonly<Record<string, string>>;
}

export interface EniOptions {
  readonly firstInterfaceIndex?: number;
  readonly securityGroups?: readonly string[];
  readonly securityGroupTags?: Readonly<Record<string, string>>;
  readonly subnetIds?: readonly string[];
  readonly subnetTags?: Readonly<Record<string, string>>;
  /** Both sides exclude interfaces that carry all of these tags. */
  readonly excludeInterfaceTags?: Readonly<Record<string, string>>;
  /** Interfaces below the index carry those tags, and the CiliumNode names the tags alone. */
  readonly namesTagsAlone?: true;
  readonly usePrimaryAddress?: boolean;
  readonly deleteOnTermination?: boolean;
  readonly disablePrefixDelegation?: boolean;
}

export interface AzureOptions {
  /** The only interface that carries pods. */
  readonly interfaceName?: string;
}

export interface AlibabaOptions {
  readonly vSwitches?: readonly string[];
  readonly vSwitchTags?: Readonly<Record<string, string>>;
  readonly securityGroups?: readonly string[];
  readonly securityGroupTags?: Readonly<Record<string, string>>;
}

/** Where a machine runs. */
export type CloudName = 'alibabacloud' | 'aws' | 'azure';

export interface NodeFacts {
  /** AWS by default. */
  readonly cloud?: CloudName;
  /** The name of the Node and of the CiliumNode. */
  readonly name: string;
  /** The instance id as the agent writes it. */
  readonly instanceId: string;
  readonly instanceType: string;
  /** The network of its addresses. */
  readonly vpcId: string;
  /** The primary CIDR of that network, where agents say it. */
  readonly networkCidr?: string;
  /** Availability zone by name, such as `us-west-2a`; empty if it has none. */
  readonly zone: string;
  /** Subnet of the primary interface. */
  readonly subnetId: string;
  /** Primary address of the primary interface: the node's own. */
  readonly primaryAddress: string;
  /** No cloud controller manager runs: its Node never names the instance. */
  readonly withoutProviderId?: boolean;
  readonly protocol: Protocol;
  /** Whether agents run with `enable-ipv6`. Agents of the CRD allocator ignore it. */
  readonly ipv6?: boolean;
  readonly ipam?: IpamWatermarks;
  readonly eni?: EniOptions;
  readonly azure?: AzureOptions;
  readonly alibaba?: AlibabaOptions;
  /** Router and health by default, as an agent with health checking takes them. */
  readonly agentAddresses?: readonly AgentAddress[];
}

const usualAgentAddresses: readonly AgentAddress[] = ['router', 'health'];

/** The addresses that this machine's agent takes for itself before it serves pods. */
export function agentAddressesOf(facts: NodeFacts): readonly AgentAddress[] {
  return facts.agentAddresses ?? usualAgentAddresses;
}
