// Reads VPCs, vSwitches and security groups, and how many addresses vSwitches have left.
import type {
  CallContext,
  ObservedCounts,
  ObservedInfrastructure,
} from '../contract/allocation-implementation.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { allInParts } from '../contract/in-parts.ts';
import type { Network, SecurityGroup, Subnet, UnreadablePart } from '../contract/infrastructure.ts';
import { parseBlock, sizeOf } from '../contract/ipv4.ts';
import { carries, type Tags } from '../contract/network-interface.ts';
import { isIdOf } from './ids.ts';
import { readTags } from './network-interface.ts';
import { refuseRepeated, refuseSpoiled, refuseUnrequested } from '../contract/plausible.ts';
import type { ShownSecurityGroup, ShownVpc, ShownVSwitch } from './rpc-api.ts';
import { listed, type NumberedAction, type RpcClient } from './rpc-client.ts';

export interface InfrastructureReading {
  readonly client: RpcClient;
  /** Restrict the subnets of new interfaces. */
  readonly subnetIds: readonly string[];
  readonly subnetTags: Tags;
  readonly context: CallContext;
}

/** For ids that cannot exist or that the cloud refuses, it returns nothing. */
export async function readInfrastructure(
  reading: InfrastructureReading,
  networkIds: readonly string[],
): Promise<ObservedInfrastructure> {
  const refused: UnreadablePart[] = [];
  const read = await allInParts(
    networkIds.filter((id) => isIdOf('vpc', id)),
    1,
    ([id = '']) => readNetwork(reading, id),
    ({ value, failure }) =>
      refused.push(unreadablePart('network', value, `${failure.code}: ${failure.message}`)),
  );
  const denied = read.find((part) => part.denied !== undefined)?.denied;
  return {
    startedAt: Math.min(...read.map(({ startedAt }) => startedAt), Infinity),
    infrastructure: {
      networkIds: new Set(networkIds),
      subnets: byId(read.flatMap(({ subnets }) => subnets)),
      networks: byId(read.flatMap(({ networks }) => networks)),
      routeTables: [],
      securityGroups: read.flatMap(({ securityGroups }) => securityGroups),
      denied: denied === undefined ? {} : { securityGroups: denied },
    },
    problems: [...refused, ...read.flatMap(({ problems }) => problems)],
  };
}

interface ReadNetwork {
  readonly startedAt: number;
  readonly networks: readonly Network[];
  readonly subnets: readonly Subnet[];
  readonly securityGroups: readonly SecurityGroup[];
  readonly denied: CloudFailure | undefined;
  readonly problems: readonly UnreadablePart[];
}

async function readNetwork(reading: InfrastructureReading, vpcId: string): Promise<ReadNetwork> {
  const { client, context } = reading;
  const [vpcs, switches, groups] = await Promise.all([
    client.numbered(
      'DescribeVpcs',
      { input: { vpcId }, items: (output) => listed('DescribeVpcs', output.vpcs?.vpc) },
      context,
    ),
    readSwitches(reading, vpcId),
    // Few nodes need them; without the others nothing can be published.
    client
      .numbered(
        'DescribeSecurityGroups',
        {
          input: { vpcId },
          items: (output) => listed('DescribeSecurityGroups', output.securityGroups?.securityGroup),
        },
        context,
      )
      .catch(unlessDenied),
  ]);
  const problems: UnreadablePart[] = [];
  const kept = <S extends { readonly vpcId?: string | undefined }, R extends { readonly id: string }>(
    action: NumberedAction,
    items: readonly S[],
    read: (shown: S) => R | UnreadablePart,
  ): readonly R[] => {
    refuseUnrequested(
      action,
      [vpcId],
      items.map((shown) => shown.vpcId),
    );
    const all = items.map(read);
    const unread = all.filter(isUnreadable);
    refuseSpoiled(action, unread, items.length);
    problems.push(...unread);
    const readable = all.filter((item): item is R => !isUnreadable(item));
    refuseRepeated(
      action,
      readable.map(({ id }) => id),
    );
    return readable;
  };
  return {
    startedAt: switches.startedAt,
    networks: kept('DescribeVpcs', vpcs.items, networkOf),
    subnets: kept('DescribeVSwitches', switches.items, (shown) => subnetOf(shown, reading)),
    securityGroups: kept('DescribeSecurityGroups', groups.items, groupOf),
    denied: 'denied' in groups ? groups.denied : undefined,
    problems,
  };
}

function readSwitches(
  { client, context }: InfrastructureReading,
  vpcId: string,
): Promise<{ readonly startedAt: number; readonly items: readonly ShownVSwitch[] }> {
  const items = (output: {
    readonly vSwitches?: { readonly vSwitch?: readonly ShownVSwitch[] | undefined } | undefined;
  }) => listed('DescribeVSwitches', output.vSwitches?.vSwitch);
  return client.numbered('DescribeVSwitches', { input: { vpcId }, items }, context);
}

export async function readSubnetCounts(
  reading: InfrastructureReading,
  networkIds: readonly string[],
): Promise<ObservedCounts> {
  const read = await allInParts(
    networkIds.filter((id) => isIdOf('vpc', id)),
    1,
    ([id = '']) => readSwitches(reading, id),
  );
  const subnets = read.flatMap(({ items }) => items.map((shown) => subnetOf(shown, reading)));
  return {
    startedAt: Math.min(...read.map(({ startedAt }) => startedAt), Infinity),
    counts: new Map(
      subnets.flatMap((subnet) => (isUnreadable(subnet) ? [] : [[subnet.id, subnet.freeAddresses] as const])),
    ),
  };
}

function isUnreadable(read: object): read is UnreadablePart {
  return 'problem' in read;
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
  return { id, networkId, zone, cidr, tags, freeAddresses: freeIn(shown), eligible };
}

function tagsOf({ tags }: ShownVSwitch): Tags {
  return readTags(tags?.tag?.map(({ key, value }) => ({ tagKey: key, tagValue: value })));
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

function unreadablePart(
  what: UnreadablePart['what'],
  id: string | undefined,
  problem: string,
): UnreadablePart {
  return { what, id: id || '(without an id)', problem };
}

function unlessDenied(error: unknown): { readonly items: readonly []; readonly denied: CloudFailure } {
  if (!(error instanceof CloudError) || error.failure.permission === undefined) throw error;
  return { items: [], denied: error.failure };
}

function byId<T extends { readonly id: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}
