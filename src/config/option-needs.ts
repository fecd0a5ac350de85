// The needs of a scope that concern several options, as data: the process and the chart refuse the same in the same words.
import { cloudModes, isCloudMode } from './clouds/clouds.ts';
import type { OptionScope } from './option-scope.ts';
import type { OptionName } from './option-table.ts';
import { agentModes } from './options/agent-options.ts';

export interface OptionNeed {
  readonly scope: OptionScope;
  /** It holds where each of these options, given or by default, is one of these texts. */
  readonly where?: Readonly<Partial<Record<OptionName, readonly string[]>>>;
  /** It is met as soon as one of these is given. Without: never. */
  readonly metBy?: readonly OptionName[];
  /** The option to change. */
  readonly name: OptionName;
  readonly because: string;
  readonly accepted: string;
}

const following = ['CloudAllocator', 'IPAMFromCluster', 'IPAMFromCloud'];
const cloudsThatRoute = 'aws or gce, with a cidr-allocator-type that follows it';
const noNotion = 'routes no blocks to an instance, only single addresses of its interfaces';

export const optionNeeds = {
  clusterPoolNetwork: {
    scope: 'cluster-pool',
    metBy: ['cluster-pool-ipv4-cidr', 'cluster-pool-ipv6-cidr'],
    name: 'cluster-pool-ipv4-cidr',
    because: 'blocks come from nowhere',
    accepted: 'at least one CIDR for ipam=cluster-pool',
  },
  nodeNetwork: {
    scope: 'nodeipam',
    where: { 'cidr-allocator-type': ['RangeAllocator', 'IPAMFromCluster', 'IPAMFromCloud'] },
    metBy: ['cluster-cidr'],
    name: 'cluster-cidr',
    because: 'blocks come from nowhere',
    accepted: 'one CIDR, or one of each family',
  },
  cloud: {
    scope: 'nodeipam',
    where: { 'cidr-allocator-type': following },
    metBy: ['cloud-provider'],
    name: 'cloud-provider',
    because: 'the cloud to follow is not named',
    accepted: cloudsThatRoute,
  },
  azureRoutes: {
    scope: 'nodeipam',
    where: { 'cidr-allocator-type': following, 'cloud-provider': ['azure'] },
    name: 'cloud-provider',
    because: `Azure ${noNotion}`,
    accepted: cloudsThatRoute,
  },
  alibabaRoutes: {
    scope: 'nodeipam',
    where: { 'cidr-allocator-type': following, 'cloud-provider': ['alibabacloud'] },
    name: 'cloud-provider',
    because: `Alibaba Cloud ${noNotion}`,
    accepted: cloudsThatRoute,
  },
  awsChooses: {
    scope: 'nodeipam',
    where: { 'cidr-allocator-type': ['IPAMFromCluster'], 'cloud-provider': ['aws'] },
    name: 'cidr-allocator-type',
    because: 'EC2 itself chooses the prefixes of an interface',
    accepted: 'CloudAllocator or IPAMFromCloud with aws',
  },
  ipv4Network: {
    scope: 'cluster-pool',
    where: { 'enable-ipv4': ['true'] },
    metBy: ['cluster-pool-ipv4-cidr'],
    name: 'cluster-pool-ipv4-cidr',
    because: 'enable-ipv4 is true',
    accepted: 'at least one IPv4 CIDR',
  },
  ipv6Network: {
    scope: 'cluster-pool',
    where: { 'enable-ipv6': ['true'] },
    metBy: ['cluster-pool-ipv6-cidr'],
    name: 'cluster-pool-ipv6-cidr',
    because: 'enable-ipv6 is true',
    accepted: 'at least one IPv6 CIDR',
  },
  agentProtocol: {
    scope: 'agent',
    where: {
      'cilium-node-protocol': ['pools'],
      ipam: agentModes.filter((mode) => !isCloudMode(mode)),
    },
    name: 'cilium-node-protocol',
    because: `only with ipam=${cloudModes.join(', ')} are there addresses of interfaces`,
    accepted: 'used',
  },
  agentRange: {
    scope: 'agent',
    where: { ipam: ['host-scope'] },
    metBy: ['ipv4-range', 'ipv6-range'],
    name: 'ipv4-range',
    because: 'ipam=host-scope has no addresses without it, or without ipv6-range',
    accepted: 'an IPv4 CIDR, such as 10.10.0.0/24',
  },
} as const satisfies Readonly<Record<string, OptionNeed>>;
