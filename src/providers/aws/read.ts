// Reads from EC2: interfaces, the network around them, instance types. An answer without the list it was asked for is an
// error; it never counts as "there are none".
import type {
  CallContext,
  InstanceLimits,
  ObservedCounts,
  ObservationScope,
  ObservedInfrastructure,
  ObservedPage,
  UnreadableLimits,
} from '../allocation-implementation.ts';
import { CloudError, type CloudFailure } from '../cloud-failure.ts';
import type { UnreadablePart } from '../infrastructure.ts';
import type { Instance, Observation } from '../observation.ts';
import type { Ec2InstanceType, Ec2NetworkInterface, Ec2Output, Filter, ListInput } from './ec2-api.ts';
import { type Ec2Edge, type ReadAction, unreadable } from './ec2-edge.ts';
import {
  isUnreadable,
  readNetwork,
  readRouteTable,
  readSecurityGroup,
  readSubnet,
} from './infrastructure.ts';
import { readInterface } from './network-interface.ts';
import type { ReadOptions } from './read-options.ts';

/** The most values that one filter takes. */
export const mostFilterValues = 200;

/** So many interfaces of a listing are made sense of at a time. */
const partSize = 50;

/** The largest page of DescribeRouteTables, and of DescribeInstanceTypes. */
const mostRouteTables = 100;
const mostInstanceTypes = 100;

export async function* observe(
  edge: Ec2Edge,
  scope: ObservationScope,
  options: ReadOptions,
  context: CallContext,
): AsyncGenerator<ObservedPage> {
  if (scope.kind === 'networks') yield* observeNetworks(edge, scope.networkIds, options, context);
  else yield* observeInterfacesOf(edge, scope.instanceIds, options, context);
}

async function* observeNetworks(
  edge: Ec2Edge,
  networkIds: readonly string[],
  options: ReadOptions,
  context: CallContext,
): AsyncGenerator<ObservedPage> {
  const inNetworks = { Name: 'vpc-id', Values: networkIds };
  const tagFilters = filtersOf(options.instanceTags);
  const tagged =
    tagFilters.length === 0
      ? undefined
      : await readInstances({ edge, context }, [inNetworks, ...tagFilters], options.pageSize);
  const input = {
    Filters: [inNetworks, { Name: 'status', Values: ['in-use'] }],
    MaxResults: options.pageSize,
  };
  for await (const { begunAt, output } of edge.pages('DescribeNetworkInterfaces', input, context)) {
    const page = listed('DescribeNetworkInterfaces', output, 'NetworkInterfaces');
    // A part at a time: whoever takes them has something else to do in between, for seconds while a fleet joins. What was
    // taken is let go.
    while (page.length > 0) {
      const part = page
        .splice(0, partSize)
        .filter(
          ({ Attachment }) => tagged === undefined || tagged.instances.has(Attachment?.InstanceId ?? ''),
        );
      yield { begunAt, observations: part.flatMap((item) => readInterface(item) ?? []) };
    }
  }
}

async function* observeInterfacesOf(
  edge: Ec2Edge,
  instanceIds: readonly string[],
  options: ReadOptions,
  context: CallContext,
): AsyncGenerator<ObservedPage> {
  const filter = { Name: 'attachment.instance-id', Values: instanceIds };
  const input = { Filters: [filter], MaxResults: options.pageSize };
  const met = new Set<string>();
  for await (const { begunAt, output } of edge.pages('DescribeNetworkInterfaces', input, context)) {
    const shown = listed('DescribeNetworkInterfaces', output, 'NetworkInterfaces');
    refuseNameless(shown);
    for (const item of shown)
      if (item.Attachment?.InstanceId !== undefined) met.add(item.Attachment.InstanceId);
    yield { begunAt, observations: shown.flatMap((item) => readInterface(item) ?? []) };
  }
  yield* observeInstances(edge, instanceIds, { options, met, context });
}

/** What is not shown by a look may be gone, so that everything that is shown must say what it is, and whose. */
function refuseNameless(shown: readonly Ec2NetworkInterface[]): void {
  for (const { NetworkInterfaceId: id, Attachment } of shown) {
    const missing = id === undefined ? 'NetworkInterfaceId' : 'Attachment.InstanceId';
    if (id !== undefined && Attachment?.InstanceId !== undefined) continue;
    throw unreadable('DescribeNetworkInterfaces', `${missing} of ${id ?? 'an interface'} is missing`);
  }
}

/** Asks for the instances themselves where their interfaces don't tell all: none were shown, or tags decide. */
async function* observeInstances(
  edge: Ec2Edge,
  instanceIds: readonly string[],
  asked: { readonly options: ReadOptions; readonly met: ReadonlySet<string>; readonly context: CallContext },
): AsyncGenerator<ObservedPage> {
  const tagFilters = filtersOf(asked.options.instanceTags);
  const unclear = tagFilters.length > 0 ? instanceIds : instanceIds.filter((id) => !asked.met.has(id));
  if (unclear.length === 0) return;
  const filters = [{ Name: 'instance-id', Values: unclear }, ...tagFilters];
  const { begunAt, instances } = await readInstances(
    { edge, context: asked.context },
    filters,
    asked.options.pageSize,
  );
  const absent = (id: string): Instance => ({ id, state: 'unknown', managed: tagFilters.length === 0 });
  const observations: Observation[] = unclear.map((id) => ({
    kind: 'instance',
    instance: instances.get(id) ?? absent(id),
  }));
  yield { begunAt, observations };
}

/** Instances that the filters let through, by id. */
async function readInstances(
  { edge, context }: { readonly edge: Ec2Edge; readonly context: CallContext },
  filters: readonly Filter[],
  pageSize: number,
): Promise<{ readonly begunAt: number; readonly instances: ReadonlyMap<string, Instance> }> {
  const input = { Filters: filters, MaxResults: pageSize };
  const { begunAt, items } = await readList({ edge, context }, 'DescribeInstances', 'Reservations', input);
  const instances = new Map<string, Instance>();
  for (const { InstanceId: id, State } of items.flatMap(({ Instances }) => Instances ?? [])) {
    if (id === undefined) throw unreadable('DescribeInstances', 'InstanceId of an instance is missing');
    instances.set(id, { id, state: stateOf(State?.Name), managed: true });
  }
  return { begunAt, instances };
}

export async function readInfrastructure(
  edge: Ec2Edge,
  networkIds: readonly string[],
  options: ReadOptions,
  context: CallContext,
): Promise<ObservedInfrastructure> {
  const input = { Filters: [{ Name: 'vpc-id', Values: networkIds }], MaxResults: options.pageSize };
  const from = { edge, context };
  const fewer = { ...input, MaxResults: Math.min(input.MaxResults, mostRouteTables) };
  // Few nodes need the last two; without the others nothing can be published.
  const [subnets, networks, routeTables, groups] = await Promise.all([
    readList(from, 'DescribeSubnets', 'Subnets', input),
    readList(from, 'DescribeVpcs', 'Vpcs', input),
    readList(from, 'DescribeRouteTables', 'RouteTables', fewer).catch(unlessDenied),
    readList(from, 'DescribeSecurityGroups', 'SecurityGroups', input).catch(unlessDenied),
  ]);
  const problems: UnreadablePart[] = [];
  const keep = <T>(read: T | UnreadablePart): T[] => {
    if (!isUnreadable(read)) return [read];
    problems.push(read);
    return [];
  };
  return {
    begunAt: subnets.begunAt,
    infrastructure: {
      networkIds: new Set(networkIds),
      subnets: byId(subnets.items.flatMap((shown) => keep(readSubnet(shown, options)))),
      networks: byId(networks.items.flatMap((shown) => keep(readNetwork(shown)))),
      routeTables: routeTables.items.flatMap((shown) => keep(readRouteTable(shown))),
      securityGroups: groups.items.flatMap((shown) => keep(readSecurityGroup(shown))),
      denied: {
        ...('denied' in routeTables && { routeTables: routeTables.denied }),
        ...('denied' in groups && { securityGroups: groups.denied }),
      },
    },
    problems,
  };
}

function unlessDenied(error: unknown): { readonly items: readonly []; readonly denied: CloudFailure } {
  if (!(error instanceof CloudError) || error.failure.permission === undefined) throw error;
  return { items: [], denied: error.failure };
}

export async function readSubnetCounts(
  edge: Ec2Edge,
  networkIds: readonly string[],
  options: ReadOptions,
  context: CallContext,
): Promise<ObservedCounts> {
  const input = { Filters: [{ Name: 'vpc-id', Values: networkIds }], MaxResults: options.pageSize };
  const { begunAt, items } = await readList({ edge, context }, 'DescribeSubnets', 'Subnets', input);
  const counts = items.flatMap((shown) => {
    const read = readSubnet(shown, options);
    return isUnreadable(read) ? [] : [[read.id, read.freeAddresses] as const];
  });
  return { begunAt, counts: new Map(counts) };
}

export async function readLimits(
  edge: Ec2Edge,
  instanceTypes: readonly string[],
  context: CallContext,
): Promise<ReadonlyMap<string, InstanceLimits | UnreadableLimits>> {
  // A filter, because a list of names is refused as a whole when one name is unknown.
  const input = {
    Filters: [{ Name: 'instance-type', Values: instanceTypes }],
    MaxResults: mostInstanceTypes,
  };
  const { items } = await readList({ edge, context }, 'DescribeInstanceTypes', 'InstanceTypes', input);
  return new Map(
    items.flatMap((shown) =>
      shown.InstanceType === undefined ? [] : [[shown.InstanceType, limitsOf(shown)] as const],
    ),
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
  if (!isCount(interfaces)) return { problem: `MaximumNetworkInterfaces is ${String(interfaces)}` };
  if (!isCount(addressesPerInterface))
    return { problem: `Ipv4AddressesPerInterface is ${String(addressesPerInterface)}` };
  // Only what is built on Nitro carries prefixes, and bare metal names no hypervisor
  // (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-prefix-eni.html).
  const prefixes = Hypervisor === 'nitro' || BareMetal === true;
  return { interfaces, addressesPerInterface, prefixes };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

const instanceStates: Readonly<Record<string, Instance['state']>> = {
  pending: 'pending',
  running: 'running',
  stopping: 'stopping',
  stopped: 'stopped',
  'shutting-down': 'terminating',
  terminated: 'terminated',
};

function stateOf(name: string | undefined): Instance['state'] {
  return instanceStates[name ?? ''] ?? 'unknown';
}

type ListMember<A extends ReadAction> = Exclude<keyof Ec2Output<A>, 'NextToken'>;
type Item<A extends ReadAction> =
  NonNullable<Ec2Output<A>[ListMember<A>]> extends readonly (infer T)[] ? T : never;

export async function readList<A extends ReadAction>(
  { edge, context }: { readonly edge: Ec2Edge; readonly context: CallContext },
  action: A,
  member: ListMember<A>,
  input: ListInput,
): Promise<{ begunAt: number; items: Item<A>[] }> {
  const items: Item<A>[] = [];
  let begun: number | undefined;
  for await (const { begunAt, output } of edge.pages(action, input, context)) {
    begun ??= begunAt;
    items.push(...listed(action, output, member));
  }
  return { begunAt: begun ?? 0, items };
}

function listed<A extends ReadAction>(action: A, output: Ec2Output<A>, member: ListMember<A>): Item<A>[] {
  const list: unknown = output[member];
  if (!Array.isArray(list)) throw unreadable(action, `the answer has no ${String(member)}`);
  return list as Item<A>[];
}

export function filtersOf(tags: Readonly<Record<string, string>>): Filter[] {
  return Object.entries(tags).map(([key, value]) => ({ Name: `tag:${key}`, Values: [value] }));
}

function byId<T extends { readonly id: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}
