// Reads interfaces, infrastructure and instance types from EC2. An answer without the requested list is an
// error; it never means "there are none".
import type {
  CallContext,
  InstanceLimits,
  ObservedCounts,
  ObservationScope,
  ObservedInfrastructure,
  ObservedPage,
  UnreadableLimits,
} from '../contract/allocation-implementation.ts';
import type { TakenAddresses } from '../contract/block-census.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import type { Infrastructure, UnreadablePart } from '../contract/infrastructure.ts';
import type { Instance, Observation } from '../contract/observation.ts';
import type {
  Ec2Instance,
  Ec2InstanceType,
  Ec2NetworkInterface,
  Ec2Output,
  Filter,
  ListInput,
} from './ec2-api.ts';
import { type Ec2Client, type ReadAction, unreadable } from './ec2-client.ts';
import { isIdOf, isInstanceId, isInstanceType, isNetworkId } from './ids.ts';
import { allInParts, inParts, mostFilterValues } from './in-parts.ts';
import {
  isUnreadable,
  readNetwork,
  readRouteTable,
  readSecurityGroup,
  readSubnet,
} from './infrastructure.ts';
import { holderOf, readInterface, spoilageOf } from './network-interface.ts';
import {
  refuseUnrequested,
  refuseRepeated,
  refuseScattered,
  refuseSpoiled,
  type Spoiled,
} from './plausible.ts';
import type { ReadOptions } from './read-options.ts';
import { zoneByZone } from './zone-by-zone.ts';

/** Interfaces of a listing parsed at a time. */
const partSize = 50;

/** The largest page of DescribeRouteTables and of DescribeInstanceTypes. */
const mostRouteTables = 100;
const mostInstanceTypes = 100;

/** The smallest page size of EC2. */
const leastPage = 5;

export async function reach(client: Ec2Client, context: CallContext): Promise<void> {
  for await (const { output } of client.pages('DescribeVpcs', { MaxResults: leastPage }, context)) {
    listed('DescribeVpcs', output, 'Vpcs');
    return;
  }
}

export async function* observe(
  client: Ec2Client,
  scope: ObservationScope,
  options: ReadOptions,
  context: CallContext,
): AsyncGenerator<ObservedPage> {
  // Anything that cannot be an id has no interfaces; agents can write any text.
  if (scope.kind === 'networks') {
    const most = mostFilterValues - 1 - Object.keys(options.instanceTags).length;
    const ask = (part: readonly string[]) => observeNetworks(client, part, options, context);
    yield* inParts(scope.networkIds.filter(isNetworkId), most, ask);
  } else {
    const instanceIds = scope.instanceIds.filter(isInstanceId);
    if (instanceIds.length > 0) yield* observeInterfacesOf(client, instanceIds, options, context);
  }
}

async function* observeNetworks(
  client: Ec2Client,
  networkIds: readonly string[],
  options: ReadOptions,
  context: CallContext,
): AsyncGenerator<ObservedPage> {
  const inNetworks = { Name: 'vpc-id', Values: networkIds };
  const tagFilters = filtersOf(options.instanceTags);
  const tagged =
    tagFilters.length === 0
      ? undefined
      : await readInstances({ client, context }, [inNetworks, ...tagFilters], options.pageSize);
  const input = {
    Filters: [inNetworks, { Name: 'status', Values: ['in-use'] }],
    MaxResults: options.pageSize,
  };
  for await (const { startedAt, output } of client.pages('DescribeNetworkInterfaces', input, context)) {
    const page = believed(listed('DescribeNetworkInterfaces', output, 'NetworkInterfaces'), networkIds);
    // Yields one part at a time: the caller works in between, for seconds while a fleet joins. Each part is
    // freed once it is taken.
    while (page.length > 0) {
      const part = page.splice(0, partSize);
      const isObserved = (item: Ec2NetworkInterface): boolean => {
        const holder = holderOf(item);
        return holder !== undefined && (tagged === undefined || tagged.instances.has(holder));
      };
      yield {
        startedAt,
        observations: part.filter(isObserved).flatMap((item) => readInterface(item) ?? []),
        others: part.filter((item) => !isObserved(item)).map(subnetAddressesUsed),
      };
    }
  }
}

function subnetAddressesUsed(shown: Ec2NetworkInterface): TakenAddresses {
  const addresses = (shown.PrivateIpAddresses ?? []).flatMap((item) => item.PrivateIpAddress ?? []);
  const prefixes = (shown.Ipv4Prefixes ?? []).flatMap((item) => item.Ipv4Prefix ?? []);
  return { subnetId: shown.SubnetId ?? '', holdings: [...addresses, ...prefixes] };
}

async function* observeInterfacesOf(
  client: Ec2Client,
  instanceIds: readonly string[],
  options: ReadOptions,
  context: CallContext,
): AsyncGenerator<ObservedPage> {
  const filter = { Name: 'attachment.instance-id', Values: instanceIds };
  const input = { Filters: [filter], MaxResults: options.pageSize };
  const met = new Set<string>();
  for await (const { startedAt, output } of client.pages('DescribeNetworkInterfaces', input, context)) {
    const shown = listed('DescribeNetworkInterfaces', output, 'NetworkInterfaces');
    refuseUnclear(shown, instanceIds);
    for (const holder of shown.flatMap((item) => holderOf(item) ?? [])) met.add(holder);
    yield { startedAt, observations: shown.flatMap((item) => readInterface(item) ?? []) };
  }
  yield* observeInstances(client, instanceIds, { options, met, context });
}

/** A page of a listing, if EC2 can have sent it. A malformed item keeps its place but proves nothing. */
function believed(
  page: readonly Ec2NetworkInterface[],
  networkIds: readonly string[],
): Ec2NetworkInterface[] {
  const action = 'DescribeNetworkInterfaces';
  refuseRepeated(
    action,
    page.map((item) => item.NetworkInterfaceId),
  );
  refuseScattered(page);
  const spoiled = page.flatMap(spoiledIn);
  refuseSpoiled(action, spoiled, page.length);
  refuseUnrequested(
    action,
    networkIds,
    page.map((item) => item.VpcId),
  );
  return [...page];
}

function spoiledIn(shown: Ec2NetworkInterface): readonly Spoiled[] {
  const problem = spoilageOf(shown);
  return problem === undefined ? [] : [{ id: shown.NetworkInterfaceId ?? 'an interface', problem }];
}

/** What a refresh does not show may be gone, so every item must name itself and its owner. */
function refuseUnclear(shown: readonly Ec2NetworkInterface[], instanceIds: readonly string[]): void {
  const action = 'DescribeNetworkInterfaces';
  for (const { NetworkInterfaceId: id, Attachment } of shown) {
    const missing = !isIdOf('eni', id) ? 'NetworkInterfaceId' : 'Attachment.InstanceId';
    if (isIdOf('eni', id) && Attachment?.InstanceId !== undefined) continue;
    throw unreadable(action, `${missing} of ${id ?? 'an interface'} is missing`);
  }
  refuseRepeated(
    action,
    shown.map((item) => item.NetworkInterfaceId),
  );
  refuseUnrequested(
    action,
    instanceIds,
    shown.map((item) => item.Attachment?.InstanceId),
  );
  refuseScattered(shown);
  refuseSpoiled(action, shown.flatMap(spoiledIn), shown.length);
}

/** Reads the instances themselves if their interfaces are not enough: none were shown, or tags decide. */
async function* observeInstances(
  client: Ec2Client,
  instanceIds: readonly string[],
  asked: { readonly options: ReadOptions; readonly met: ReadonlySet<string>; readonly context: CallContext },
): AsyncGenerator<ObservedPage> {
  const tagFilters = filtersOf(asked.options.instanceTags);
  const unclear = tagFilters.length > 0 ? instanceIds : instanceIds.filter((id) => !asked.met.has(id));
  if (unclear.length === 0) return;
  const absent = (id: string): Instance => ({ id, state: 'unknown', managed: tagFilters.length === 0 });
  yield* inParts(unclear, mostFilterValues - tagFilters.length, async function* (part) {
    const filters = [{ Name: 'instance-id', Values: part }, ...tagFilters];
    const from = { client, context: asked.context };
    const { startedAt, instances } = await readInstances(from, filters, asked.options.pageSize);
    refuseUnrequested('DescribeInstances', part, [...instances.keys()]);
    const observations: Observation[] = part.map((id) => ({
      kind: 'instance',
      instance: instances.get(id) ?? absent(id),
    }));
    yield { startedAt, observations };
  });
}

function instancesOf({ Instances }: { readonly Instances?: readonly Ec2Instance[] | undefined }) {
  if (Instances === undefined) throw unreadable('DescribeInstances', 'Instances of a reservation is missing');
  return Instances;
}

/** Instances that match the filters, by id. */
async function readInstances(
  { client, context }: { readonly client: Ec2Client; readonly context: CallContext },
  filters: readonly Filter[],
  pageSize: number,
): Promise<{ readonly startedAt: number; readonly instances: ReadonlyMap<string, Instance> }> {
  const input = { Filters: filters, MaxResults: pageSize };
  const { startedAt, items } = await readList(
    { client, context },
    'DescribeInstances',
    'Reservations',
    input,
  );
  const instances = new Map<string, Instance>();
  for (const shown of items.flatMap(instancesOf)) {
    const { InstanceId: id } = shown;
    if (!isIdOf('i', id)) throw unreadable('DescribeInstances', 'InstanceId of an instance is missing');
    const state = stateOf(shown);
    if ((instances.get(id)?.state ?? state) !== state)
      throw unreadable('DescribeInstances', `${id} is shown twice, in two states`);
    instances.set(id, { id, state, managed: true });
  }
  return { startedAt, instances };
}

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
  const fewer = { ...input, MaxResults: Math.min(input.MaxResults, mostRouteTables) };
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
  const parts = await allInParts(networkIds.filter(isNetworkId), async (part) => {
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

export async function readLimits(
  client: Ec2Client,
  instanceTypes: readonly string[],
  context: CallContext,
): Promise<ReadonlyMap<string, InstanceLimits | UnreadableLimits>> {
  // Uses a filter: EC2 rejects a whole list of names if one is unknown.
  const parts = await allInParts(instanceTypes.filter(isInstanceType), async (part) => {
    const input = { Filters: [{ Name: 'instance-type', Values: part }], MaxResults: mostInstanceTypes };
    const { items } = await readList({ client, context }, 'DescribeInstanceTypes', 'InstanceTypes', input);
    const types = items.map((shown) => shown.InstanceType);
    refuseRepeated('DescribeInstanceTypes', types);
    refuseUnrequested('DescribeInstanceTypes', part, types);
    return items;
  });
  return new Map(
    parts.flat().map((shown) => {
      const { InstanceType: type } = shown;
      if (type === undefined) throw unreadable('DescribeInstanceTypes', 'InstanceType is missing');
      return [type, limitsOf(shown)] as const;
    }),
  );
}

function limitsOf({
  NetworkInfo: network,
  Hypervisor,
  BareMetal,
}: Ec2InstanceType): InstanceLimits | UnreadableLimits {
  const card = network?.NetworkCards?.find(
    (item) => (item.NetworkCardIndex ?? 0) === (network.DefaultNetworkCardIndex ?? 0),
  );
  const interfaces = card?.MaximumNetworkInterfaces ?? network?.MaximumNetworkInterfaces;
  const addressesPerInterface = network?.Ipv4AddressesPerInterface;
  if (!isCount(interfaces, mostInterfaces))
    return { problem: `MaximumNetworkInterfaces is ${String(interfaces)}` };
  if (!isCount(addressesPerInterface, mostAddresses))
    return { problem: `Ipv4AddressesPerInterface is ${String(addressesPerInterface)}` };
  // Only Nitro instances support prefixes. Bare metal names no hypervisor
  // (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-prefix-eni.html).
  const prefixes = Hypervisor === 'nitro' || BareMetal === true;
  return { interfaces, addressesPerInterface, prefixes };
}

/** Several times the limits of the largest instances: EC2 sends no higher limit. */
const mostInterfaces = 256;
const mostAddresses = 1024;

function isCount(value: unknown, most: number): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= most;
}

/** By EC2's name, with EC2's number. */
const instanceStates = new Map<string, readonly [state: Instance['state'], code: number]>([
  ['pending', ['pending', 0]],
  ['running', ['running', 16]],
  ['shutting-down', ['terminating', 32]],
  ['terminated', ['terminated', 48]],
  ['stopping', ['stopping', 64]],
  ['stopped', ['stopped', 80]],
]);

/** The state that ends a node must agree by name and by number, if EC2 sends the number. */
function stateOf({ InstanceId: id, State }: Ec2Instance): Instance['state'] {
  const [state, code] = instanceStates.get(State?.Name ?? '') ?? [];
  if (state === undefined) throw unreadable('DescribeInstances', `the state of ${id} is ${State?.Name}`);
  // The high byte is internal to EC2.
  if (State?.Code !== undefined && State.Code % 256 !== code)
    throw unreadable('DescribeInstances', `the state of ${id} is both ${State.Name} and ${State.Code}`);
  return state;
}

type ListMember<A extends ReadAction> = Exclude<keyof Ec2Output<A>, 'NextToken'>;
type Item<A extends ReadAction> =
  NonNullable<Ec2Output<A>[ListMember<A>]> extends readonly (infer T)[] ? T : never;

export async function readList<A extends ReadAction>(
  { client, context }: { readonly client: Ec2Client; readonly context: CallContext },
  action: A,
  member: ListMember<A>,
  input: ListInput,
): Promise<{ startedAt: number; items: Item<A>[] }> {
  const items: Item<A>[] = [];
  let started: number | undefined;
  for await (const { startedAt, output } of client.pages(action, input, context)) {
    started ??= startedAt;
    items.push(...listed(action, output, member));
  }
  return { startedAt: started ?? 0, items };
}

function listed<A extends ReadAction>(action: A, output: Ec2Output<A>, member: ListMember<A>): Item<A>[] {
  const list: unknown = output[member];
  if (!Array.isArray(list)) throw unreadable(action, `the answer has no ${String(member)}`);
  return list as Item<A>[];
}

export function filtersOf(tags: Readonly<Record<string, string>>): Filter[] {
  return Object.entries(tags).map(([key, value]) => ({ Name: `tag:${key}`, Values: [value] }));
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
