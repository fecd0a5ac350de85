// Reads networks, subnets, route tables and security groups from EC2, and how many addresses subnets have left.
import type {
  CallContext,
  ObservedCounts,
  ObservedInfrastructure,
} from '../contract/allocation-implementation.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { allInParts } from '../contract/in-parts.ts';
import type { Infrastructure, UnreadablePart } from '../contract/infrastructure.ts';
import type { Filter } from './ec2-api.ts';
import type { Ec2Client, ReadAction } from './ec2-client.ts';
import { isNetworkId } from './ids.ts';
import {
  isUnreadable,
  readNetwork,
  readRouteTable,
  readSecurityGroup,
  readSubnet,
} from './infrastructure.ts';
import { refuseUnrequested, refuseRepeated, refuseSpoiled } from '../contract/plausible.ts';
import { maxFilterValues, readList, type ReadOptions } from './read-list.ts';
import { zoneByZone } from './zone-by-zone.ts';

/** The largest page of DescribeRouteTables. */
const maxRouteTables = 100;

/** For ids that cannot exist or that EC2 refuses, it returns nothing. */
export async function readInfrastructure(
  client: Ec2Client,
  networkIds: readonly string[],
  options: ReadOptions,
  context: CallContext,
): Promise<ObservedInfrastructure> {
  const problems: UnreadablePart[] = [];
  const ids = networkIds.filter(isNetworkId);
  const parts = await allInParts(
    ids,
    maxFilterValues,
    (part) => readNetworks(client, part, options, context),
    ({ value, failure }) =>
      problems.push({ what: 'network', id: value, problem: `${failure.code}: ${failure.message}` }),
  );
  return {
    ...together(parts, new Set(networkIds)),
    problems: [...problems, ...parts.flatMap((part) => part.problems)],
  };
}

function together(
  parts: readonly ObservedInfrastructure[],
  networkIds: ReadonlySet<string>,
): Omit<ObservedInfrastructure, 'problems'> {
  const read = parts.map(({ infrastructure }) => infrastructure);
  return {
    startedAt: Math.min(...parts.map(({ startedAt }) => startedAt), Infinity),
    infrastructure: {
      networkIds,
      subnets: new Map(read.flatMap(({ subnets }) => [...subnets])),
      networks: new Map(read.flatMap(({ networks }) => [...networks])),
      routeTables: read.flatMap(({ routeTables }) => routeTables),
      securityGroups: read.flatMap(({ securityGroups }) => securityGroups),
      denied: Object.assign({}, ...read.map(({ denied }) => denied)) as Infrastructure['denied'] & object,
      unreadZones: new Map(read.flatMap(({ unreadZones }) => [...(unreadZones ?? [])])),
    },
  };
}

async function readNetworks(
  client: Ec2Client,
  networkIds: readonly string[],
  options: ReadOptions,
  context: CallContext,
): Promise<ObservedInfrastructure> {
  const input = { Filters: [{ Name: 'vpc-id', Values: networkIds }], MaxResults: options.pageSize };
  const from = { client, context };
  const fewer = { ...input, MaxResults: Math.min(input.MaxResults, maxRouteTables) };
  // Few nodes need the last two; without the others nothing can be published.
  const [subnets, networks, routeTables, groups] = await Promise.all([
    zoneByZone(options.zones ?? [], context.signal, (zone) =>
      readList(from, 'DescribeSubnets', 'Subnets', {
        ...input,
        Filters: [...input.Filters, ...inZone(zone)],
      }),
    ),
    readList(from, 'DescribeVpcs', 'Vpcs', input),
    readList(from, 'DescribeRouteTables', 'RouteTables', fewer).catch(unlessDenied),
    readList(from, 'DescribeSecurityGroups', 'SecurityGroups', input).catch(unlessDenied),
  ]);
  const problems: UnreadablePart[] = [...subnets.unread].map(([id, { code, message }]) => ({
    what: 'zone',
    id,
    problem: `its subnets cannot be read: ${code}: ${message}`,
  }));
  const keep = <T extends { readonly VpcId?: string | undefined }, R>(
    action: ReadAction,
    items: readonly T[],
    read: (shown: T) => R | UnreadablePart | undefined,
  ): R[] => {
    refuseUnrequested(
      action,
      networkIds,
      items.map((shown) => shown.VpcId),
    );
    const all = items.map(read);
    const unread = all.filter(isUnreadable);
    refuseSpoiled(action, unread, items.length);
    problems.push(...unread);
    return all.filter((item): item is R & {} => item !== undefined && !isUnreadable(item));
  };
  return {
    startedAt: subnets.startedAt,
    infrastructure: {
      networkIds: new Set(networkIds),
      subnets: byId(
        'DescribeSubnets',
        keep('DescribeSubnets', subnets.items, (shown) => readSubnet(shown, options)),
      ),
      networks: byId('DescribeVpcs', keep('DescribeVpcs', networks.items, readNetwork)),
      routeTables: keep('DescribeRouteTables', routeTables.items, readRouteTable),
      securityGroups: keep('DescribeSecurityGroups', groups.items, readSecurityGroup),
      denied: {
        ...('denied' in routeTables && { routeTables: routeTables.denied }),
        ...('denied' in groups && { securityGroups: groups.denied }),
      },
      unreadZones: subnets.unread,
    },
    problems,
  };
}

function inZone(zone: string | undefined): Filter[] {
  return zone === undefined ? [] : [{ Name: 'availability-zone', Values: [zone] }];
}

function unlessDenied(error: unknown): { readonly items: readonly []; readonly denied: CloudFailure } {
  if (!(error instanceof CloudError) || error.failure.permission === undefined) throw error;
  return { items: [], denied: error.failure };
}

export async function readSubnetCounts(
  client: Ec2Client,
  networkIds: readonly string[],
  options: ReadOptions,
  context: CallContext,
): Promise<ObservedCounts> {
  const parts = await allInParts(networkIds.filter(isNetworkId), maxFilterValues, async (part) => {
    const input = { Filters: [{ Name: 'vpc-id', Values: part }], MaxResults: options.pageSize };
    const read = await readList({ client, context }, 'DescribeSubnets', 'Subnets', input);
    refuseUnrequested(
      'DescribeSubnets',
      part,
      read.items.map((shown) => shown.VpcId),
    );
    return read;
  });
  const counts = parts.flatMap(({ items }) =>
    items.flatMap((shown) => {
      const read = readSubnet(shown, options);
      return read === undefined || isUnreadable(read) ? [] : [[read.id, read.freeAddresses] as const];
    }),
  );
  return {
    startedAt: Math.min(...parts.map(({ startedAt }) => startedAt), Infinity),
    counts: new Map(counts),
  };
}

function byId<T extends { readonly id: string }>(
  action: ReadAction,
  items: readonly T[],
): ReadonlyMap<string, T> {
  refuseRepeated(
    action,
    items.map(({ id }) => id),
  );
  return new Map(items.map((item) => [item.id, item]));
}
