// Reads VPCs, vSwitches and security groups, and how many addresses vSwitches have left.
import type { CallContext, ObservedCounts, ObservedInfrastructure } from '../contract/cloud.ts';
import type { Network, SecurityGroup, Subnet, UnreadablePart } from '../contract/infrastructure.ts';
import {
  byUniqueId,
  countInParts,
  ofFew,
  readInParts,
  unreadablePart,
  usableAmong,
} from '../reading/infrastructure-parts.ts';
import { parseBlock, sizeOf } from '../contract/ipv4.ts';
import { carries, sortedTags, type Tags } from '../contract/network-interface.ts';
import type { Tolerance } from '../reading/plausible.ts';
import { isIdOf } from './ids.ts';
import { readTags } from './network-interface.ts';
import type { ShownSecurityGroup, ShownVpc, ShownVSwitch } from './rpc-api.ts';
import type { RpcClient } from './rpc-client.ts';

/** The subnets that new interfaces may be in. */
export interface SubnetFilters {
  readonly subnetIds: readonly string[];
  readonly subnetTags: Tags;
}

export interface InfrastructureReading extends SubnetFilters {
  readonly client: RpcClient;
  readonly tolerance: Tolerance;
  readonly context: CallContext;
}

/** The most security groups in a page. */
const groupPage = 100;

const parts = { max: 1, isId: (id: string) => isIdOf('vpc', id) };

/** For ids that cannot exist or that the cloud refuses, it returns nothing. */
export function readInfrastructure(
  reading: InfrastructureReading,
  networkIds: readonly string[],
): Promise<ObservedInfrastructure> {
  return readInParts(networkIds, parts, ([id = '']) => readNetwork(reading, id));
}

async function readNetwork(reading: InfrastructureReading, vpcId: string): Promise<ObservedInfrastructure> {
  const { client, tolerance, context } = reading;
  const problems: UnreadablePart[] = [];
  const inNetwork = (shown: { readonly vpcId?: string | undefined }): string | undefined => shown.vpcId;
  const usable = usableAmong({ asked: [vpcId], networkOf: inNetwork, tolerance, problems });
  const readGroups = async (): Promise<readonly SecurityGroup[]> => {
    const input = { vpcId, maxResults: groupPage };
    const { items } = await client.list('DescribeSecurityGroups', input, context);
    const groups = usable('DescribeSecurityGroups', items, groupOf);
    return [...byUniqueId('DescribeSecurityGroups', groups).values()];
  };
  const [vpcs, switches, groups] = await Promise.all([
    client.numbered('DescribeVpcs', { vpcId }, context),
    client.numbered('DescribeVSwitches', { vpcId }, context),
    ofFew('security group', { networkIds: [vpcId], read: readGroups() }, problems),
  ]);
  const networks = byUniqueId('DescribeVpcs', usable('DescribeVpcs', vpcs.items, networkOf));
  const subnets = usable('DescribeVSwitches', switches.items, (shown) => subnetOf(shown, reading));
  return {
    startedAt: switches.startedAt,
    infrastructure: {
      networkIds: new Set([vpcId]),
      networks,
      subnets: byUniqueId('DescribeVSwitches', subnets),
      routeTables: [],
      securityGroups: groups.items,
      denied: { securityGroups: groups.denied },
    },
    problems,
  };
}

export function readSubnetCounts(
  reading: InfrastructureReading,
  networkIds: readonly string[],
): Promise<ObservedCounts> {
  const { client, context } = reading;
  return countInParts(networkIds, parts, async ([vpcId = '']) => {
    const { startedAt, items } = await client.numbered('DescribeVSwitches', { vpcId }, context);
    return { startedAt, subnets: items.map((shown) => subnetOf(shown, reading)) };
  });
}

function networkOf({
  vpcId: id,
  cidrBlock: primaryCidr,
  secondaryCidrBlocks,
}: ShownVpc): Network | UnreadablePart {
  const cidrs = secondaryCidrBlocks?.secondaryCidrBlock ?? [];
  if (!isIdOf('vpc', id)) return unreadablePart('network', id, 'VpcId is missing');
  if (primaryCidr === undefined) return unreadablePart('network', id, 'CidrBlock is missing');
  const broken = [primaryCidr, ...cidrs].find((cidr) => parseBlock(cidr) === undefined);
  if (broken !== undefined)
    return unreadablePart('network', id, `${JSON.stringify(broken)} is not an IPv4 block`);
  return { id, primaryCidr, cidrs };
}

function subnetOf(
  shown: ShownVSwitch,
  { subnetIds, subnetTags }: Pick<InfrastructureReading, 'subnetIds' | 'subnetTags'>,
): Subnet | UnreadablePart {
  const problem = subnetProblem(shown);
  if (problem !== undefined) return unreadablePart('subnet', shown.vSwitchId, problem);
  const tags = tagsOf(shown);
  const { vSwitchId: id = '', vpcId: networkId = '', zoneId: zone = '', cidrBlock: cidr = '' } = shown;
  const eligible = (subnetIds.length === 0 || subnetIds.includes(id)) && carries(tags, subnetTags);
  const { vSwitchName: name = '' } = shown;
  return {
    id,
    ...(name !== '' && { name }),
    networkId,
    zone,
    cidr,
    tags,
    freeAddresses: freeIn(shown),
    eligible,
  };
}

function tagsOf({ tags }: ShownVSwitch): Tags {
  return sortedTags((tags?.tag ?? []).map(({ key, value }) => [key, value]));
}

/** -1 if it is not shown. */
function freeIn({ availableIpAddressCount: free = -1 }: ShownVSwitch): number {
  return Number.isInteger(free) ? free : -1;
}

function subnetProblem(shown: ShownVSwitch): string | undefined {
  if (!isIdOf('vsw', shown.vSwitchId)) return 'VSwitchId is missing';
  if (!isIdOf('vpc', shown.vpcId)) return 'VpcId is missing';
  if (!shown.zoneId) return 'ZoneId is missing';
  const block = parseBlock(shown.cidrBlock ?? '');
  if (block === undefined) return `${JSON.stringify(shown.cidrBlock)} is not an IPv4 block`;
  const free = freeIn(shown);
  return free >= 0 && free <= sizeOf(block) ? undefined : `it has ${free} free addresses`;
}

function groupOf({
  securityGroupId: id,
  vpcId: networkId,
  tags,
}: ShownSecurityGroup): SecurityGroup | UnreadablePart {
  if (!isIdOf('sg', id) || !isIdOf('vpc', networkId))
    return unreadablePart('security group', id, 'SecurityGroupId or VpcId is missing');
  return { id, networkId, tags: readTags(tags?.tag) };
}
