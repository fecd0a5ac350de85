// Reads networks, subnets, route tables and security groups from EC2, and how many addresses subnets have left and reserve.
import type { ObservedCounts, ObservedInfrastructure } from '../contract/cloud.ts';
import { type CloudFailure, unreadable } from '../contract/cloud-failure.ts';
import type {
  RouteTable,
  SecurityGroup,
  SubnetReservation,
  UnreadablePart,
} from '../contract/infrastructure.ts';
import { parseBlock } from '../contract/ipv4.ts';
import {
  byUniqueId,
  countInParts,
  ofFew,
  readInParts,
  usableAmong,
} from '../reading/infrastructure-parts.ts';
import { isNetworkId } from './ids.ts';
import { readNetwork, readRouteTable, readSecurityGroup, readSubnet } from './infrastructure.ts';
import { refuseUnrequested } from '../reading/plausible.ts';
import { maxFilterValues, type Reading } from './read-list.ts';
import type { SharedSubnetTags } from './shared-subnet-tags.ts';
import { type ReadZones, zoneByZone } from './zone-by-zone.ts';
import type { Ec2Subnet, Filter } from './ec2-api.ts';

/** The largest page of DescribeRouteTables. */
const maxRouteTables = 100;

const parts = { max: maxFilterValues, isId: isNetworkId };

export interface NetworkReading extends Reading {
  /** Absent: nothing reads the tags of subnets that another account shares. */
  readonly sharedTags?: SharedSubnetTags | undefined;
}

/** For ids that cannot exist or that EC2 refuses, it returns nothing. */
export function readInfrastructure(
  reading: NetworkReading,
  networkIds: readonly string[],
): Promise<ObservedInfrastructure> {
  return readInParts(networkIds, parts, (part) => readNetworks(reading, part));
}

async function readNetworks(
  from: NetworkReading,
  networkIds: readonly string[],
): Promise<ObservedInfrastructure> {
  const { client, options, context } = from;
  const input = { Filters: [{ Name: 'vpc-id', Values: networkIds }], MaxResults: options.pageSize };
  const fewer = { ...input, MaxResults: Math.min(input.MaxResults, maxRouteTables) };
  const problems: UnreadablePart[] = [];
  const networkOf = ({ VpcId }: { readonly VpcId?: string | undefined }): string | undefined => VpcId;
  const keep = usableAmong({ asked: networkIds, networkOf, tolerance: options.tolerance, problems });
  const readTables = async (): Promise<readonly RouteTable[]> => {
    const { items } = await client.list('DescribeRouteTables', fewer, context);
    return keep('DescribeRouteTables', items, readRouteTable);
  };
  const readGroups = async (): Promise<readonly SecurityGroup[]> => {
    const { items } = await client.list('DescribeSecurityGroups', input, context);
    return keep('DescribeSecurityGroups', items, readSecurityGroup);
  };
  // Without the first two, nothing can be published.
  const [subnets, networks, routeTables, groups] = await Promise.all([
    zoneByZone(options.zones ?? [], context.signal, (zone) =>
      client.list('DescribeSubnets', { ...input, Filters: [...input.Filters, ...inZone(zone)] }, context),
    ).then((read) => withTags(from, read, problems)),
    client.list('DescribeVpcs', input, context),
    ofFew('route table', { networkIds, read: readTables() }, problems),
    ofFew('security group', { networkIds, read: readGroups() }, problems),
  ]);
  for (const [id, { code, message }] of subnets.unread)
    problems.push({ what: 'zone', id, problem: `its subnets cannot be read: ${code}: ${message}` });
  const usableSubnets = keep('DescribeSubnets', subnets.items, (shown) => readSubnet(shown, options));
  return {
    startedAt: subnets.startedAt,
    infrastructure: {
      networkIds: new Set(networkIds),
      subnets: byUniqueId('DescribeSubnets', usableSubnets),
      networks: byUniqueId('DescribeVpcs', keep('DescribeVpcs', networks.items, readNetwork)),
      routeTables: routeTables.items,
      securityGroups: groups.items,
      denied: { routeTables: routeTables.denied, securityGroups: groups.denied },
      unreadZones: subnets.unread,
      unreadTags: subnets.unreadTags,
    },
    problems,
  };
}

function inZone(zone: string | undefined): readonly Filter[] {
  return zone === undefined ? [] : [{ Name: 'availability-zone', Values: [zone] }];
}

interface TaggedZones extends ReadZones<Ec2Subnet> {
  readonly unreadTags: ReadonlyMap<string, CloudFailure>;
}

/** The read subnets with the tags that their owners show. Denied tags are reported as a missing permission, others here. */
async function withTags(
  { sharedTags, context }: NetworkReading,
  read: ReadZones<Ec2Subnet>,
  problems: UnreadablePart[],
): Promise<TaggedZones> {
  if (sharedTags === undefined) return { ...read, unreadTags: new Map() };
  const { subnets, unread, failure } = await sharedTags.addTo(read.items, context);
  if (failure !== undefined && failure.permission === undefined) {
    const problem = `the tags of its subnets cannot be read: ${failure.code}: ${failure.message}`;
    problems.push({ what: 'account', id: sharedTags.account, problem });
  }
  return { ...read, items: subnets, unreadTags: unread };
}

export function readSubnetCounts(reading: Reading, networkIds: readonly string[]): Promise<ObservedCounts> {
  const { client, options, context } = reading;
  return countInParts(networkIds, parts, async (part) => {
    const input = { Filters: [{ Name: 'vpc-id', Values: part }], MaxResults: options.pageSize };
    const { startedAt, items } = await client.list('DescribeSubnets', input, context);
    refuseUnrequested('DescribeSubnets', part, items, ({ VpcId }) => VpcId);
    return { startedAt, subnets: items.map((shown) => readSubnet(shown, options)) };
  });
}

const uses: ReadonlyMap<string | undefined, SubnetReservation['use']> = new Map([
  ['prefix', 'prefixes'],
  ['explicit', 'namedAddresses'],
]);

/**
 * EC2 counts no free address in a reservation, and gives none to a request that names none
 * (https://docs.aws.amazon.com/vpc/latest/userguide/subnet-cidr-reservation.html).
 */
export async function readReservations(
  { client, context }: Pick<Reading, 'client' | 'context'>,
  subnetId: string,
): Promise<readonly SubnetReservation[]> {
  const { items } = await client.list('GetSubnetCidrReservations', { SubnetId: subnetId }, context);
  return items.map(({ Cidr: cidr = '', ReservationType: type }) => {
    const use = uses.get(type);
    if (use === undefined || parseBlock(cidr) === undefined)
      throw unreadable('GetSubnetCidrReservations', `a reservation is ${JSON.stringify({ cidr, type })}`);
    return { cidr, use };
  });
}
