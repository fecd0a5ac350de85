// Reads interfaces from EC2, and the instances that hold them.
import type {
  CallContext,
  ObservationScope,
  ObservedPage,
  DetachedScope,
  ObservedDetached,
} from '../contract/cloud.ts';
import { observedInParts } from '../reading/observed-in-parts.ts';
import {
  heldByInstances,
  refuseRepeated,
  refuseSpoiled,
  refuseUnrequested,
  type Spoiled,
  type Tolerance,
  unclearItems,
  detachedAmong,
  requireTags,
} from '../reading/plausible.ts';
import { unreadable } from '../contract/cloud-failure.ts';
import { inParts } from '../reading/in-parts.ts';
import type { TakenAddresses } from '../contract/block-census.ts';
import type { Ec2NetworkInterface, Filter } from './ec2-api.ts';
import type { Ec2Client } from './ec2-client.ts';
import { isIdOf, isInstanceId, isNetworkId } from './ids.ts';
import { holderOf, readInterface, spoilageOf, tryRead } from './network-interface.ts';
import { readInstances } from './read-instances.ts';
import { filtersOf, maxFilterValues, type Reading, type ReadOptions, literalFiltersOf } from './read-list.ts';

const minPageSize = 5;

const action = 'DescribeNetworkInterfaces';

export async function reach(client: Ec2Client, context: CallContext): Promise<void> {
  await client.page('DescribeVpcs', { MaxResults: minPageSize }, context);
}

export async function* observe(reading: Reading, scope: ObservationScope): AsyncGenerator<ObservedPage> {
  // Anything that cannot be an id has no interfaces; agents can write any text.
  if (scope.kind === 'all') {
    const max = maxFilterValues - 1 - Object.keys(reading.options.instanceTags).length;
    const networkIds = scope.networkIds.filter(isNetworkId);
    yield* inParts(networkIds, max, (part) => observeNetworks(reading, part));
  } else {
    const instanceIds = scope.instanceIds.filter(isInstanceId);
    if (instanceIds.length > 0) yield* observeInterfacesOf(reading, instanceIds);
  }
}

async function* observeNetworks(
  reading: Reading,
  networkIds: readonly string[],
): AsyncGenerator<ObservedPage> {
  const { client, options, context } = reading;
  const inNetworks = { Name: 'vpc-id', Values: networkIds };
  const tagFilters = filtersOf(options.instanceTags);
  const tagged =
    tagFilters.length === 0
      ? undefined
      : (await readInstances(reading, [inNetworks, ...tagFilters], options.pageSize)).described.ids;
  const input = {
    Filters: [inNetworks, { Name: 'status', Values: ['in-use'] }],
    MaxResults: options.pageSize,
  };
  for await (const { startedAt, items } of client.pages(action, input, context)) {
    const page = believed(items, networkIds, options.tolerance);
    const isObserved = (item: Ec2NetworkInterface): boolean =>
      isHeld(item) && (tagged === undefined || tagged.has(holderOf(item) ?? ''));
    const nameless = unclearItems(
      action,
      page.flatMap((item) => namelessIn(item) ?? []),
      [],
    );
    yield* observedInParts(page, startedAt, { isObserved, read: readInterface, taken: subnetAddressesUsed });
    if (nameless.unclear !== undefined) yield { startedAt, observations: [], ...nameless };
  }
}

function subnetAddressesUsed(shown: Ec2NetworkInterface): TakenAddresses {
  const addresses = (shown.PrivateIpAddresses ?? []).flatMap((item) => item.PrivateIpAddress ?? []);
  const prefixes = (shown.Ipv4Prefixes ?? []).flatMap((item) => item.Ipv4Prefix ?? []);
  return { subnetId: shown.SubnetId ?? '', holdings: [...addresses, ...prefixes] };
}

async function* observeInterfacesOf(
  reading: Reading,
  instanceIds: readonly string[],
): AsyncGenerator<ObservedPage> {
  const met = new Set<string>();
  for await (const { startedAt, shown, ...left } of interfacesOf(reading, instanceIds, reading.options)) {
    for (const holder of shown.flatMap((item) => holderOf(item) ?? [])) met.add(holder);
    const observations = shown.flatMap((item) => readInterface(item) ?? []);
    yield { startedAt, observations, ...left };
  }
  yield* observeInstances(reading, instanceIds, met);
}

/** The interfaces of these instances, page by page. Rejects with a CloudError, too, if an answer proves nothing. */
export async function* interfacesOf(
  { client, context }: Pick<Reading, 'client' | 'context'>,
  instanceIds: readonly string[],
  { pageSize, tolerance }: Pick<ReadOptions, 'pageSize' | 'tolerance'>,
): AsyncGenerator<
  Pick<ObservedPage, 'startedAt' | 'unclear'> & { readonly shown: readonly Ec2NetworkInterface[] }
> {
  const filter = { Name: 'attachment.instance-id', Values: instanceIds };
  const input = { Filters: [filter], MaxResults: pageSize };
  for await (const { startedAt, items: page } of client.pages(action, input, context)) {
    refuseUntrue(page, instanceIds, tolerance);
    const shown = page.filter((item) => unclearIn(item) === undefined);
    const problems = page.flatMap((item) => unclearIn(item) ?? []);
    yield { startedAt, shown, ...unclearItems(action, problems, instanceIds) };
  }
}

/**
 * A page of a listing, if EC2 can have sent it. A malformed item keeps its place but proves nothing. What no instance holds is
 * counted as it is.
 */
function believed(
  page: readonly Ec2NetworkInterface[],
  networkIds: readonly string[],
  tolerance: Tolerance,
): Ec2NetworkInterface[] {
  const idOf = ({ NetworkInterfaceId }: Ec2NetworkInterface): string | undefined => NetworkInterfaceId;
  const held = heldByInstances(page, { idOf, isHeld });
  refuseRepeated(action, held, idOf);
  refuseScattered(held);
  refuseSpoiled(action, held.flatMap(spoiledIn), { all: page.length, tolerance });
  refuseUnrequested(action, networkIds, held, ({ VpcId }) => VpcId);
  return [...page];
}

function isHeld(shown: Ec2NetworkInterface): boolean {
  return isIdOf('i', holderOf(shown));
}

function spoiledIn(shown: Ec2NetworkInterface): readonly Spoiled[] {
  const problem = spoilageOf(shown);
  return problem === undefined ? [] : [{ id: shown.NetworkInterfaceId ?? 'an interface', problem }];
}

/** Why an item does not name itself. */
function namelessIn({ NetworkInterfaceId: id }: Ec2NetworkInterface): string | undefined {
  return isIdOf('eni', id) ? undefined : `NetworkInterfaceId of ${id ?? 'an interface'} is missing`;
}

/** Why an item does not name itself and its instance; undefined if it does. What a refresh does not show may be gone. */
function unclearIn(shown: Ec2NetworkInterface): string | undefined {
  const { NetworkInterfaceId: id, Attachment: attachment } = shown;
  const holder = attachment?.InstanceId;
  return (
    namelessIn(shown) ?? (holder === undefined ? `Attachment.InstanceId of ${id} is missing` : undefined)
  );
}

function refuseUntrue(
  shown: readonly Ec2NetworkInterface[],
  instanceIds: readonly string[],
  tolerance: Tolerance,
): void {
  refuseRepeated(action, shown, ({ NetworkInterfaceId }) => NetworkInterfaceId);
  refuseUnrequested(action, instanceIds, shown, ({ Attachment }) => Attachment?.InstanceId);
  refuseScattered(shown);
  refuseSpoiled(action, shown.flatMap(oddIn), { all: shown.length, tolerance });
}

function oddIn(shown: Ec2NetworkInterface): readonly Spoiled[] {
  const problem = unclearIn(shown);
  if (problem === undefined) return spoiledIn(shown);
  return [{ id: shown.NetworkInterfaceId ?? 'an interface', problem }];
}

/** Reads the instances themselves if their interfaces are not enough: none were shown, or tags decide. */
async function* observeInstances(
  reading: Reading,
  instanceIds: readonly string[],
  met: ReadonlySet<string>,
): AsyncGenerator<ObservedPage> {
  const { instanceTags, pageSize } = reading.options;
  const tagFilters = filtersOf(instanceTags);
  const unclear = tagFilters.length > 0 ? instanceIds : instanceIds.filter((id) => !met.has(id));
  if (unclear.length === 0) return;
  yield* inParts(unclear, maxFilterValues - tagFilters.length, async function* (part) {
    const filters = [{ Name: 'instance-id', Values: part }, ...tagFilters];
    const { startedAt, described } = await readInstances(reading, filters, pageSize);
    yield { startedAt, ...described.answerFor(part, tagFilters.length === 0) };
  });
}

/** Throws a CloudError if interfaces of one subnet appear in several networks or zones. */
function refuseScattered(shown: readonly Ec2NetworkInterface[]): void {
  const places = new Map<string, string>();
  for (const { SubnetId: id, VpcId, AvailabilityZone = '' } of shown) {
    if (id === undefined || VpcId === undefined) continue;
    const place = `${VpcId} ${AvailabilityZone}`;
    if ((places.get(id) ?? place) !== place)
      throw unreadable(action, `${id} is in ${places.get(id)} and in ${place}`);
    places.set(id, place);
  }
}

/**
 * Reads detached interfaces from EC2. Its result may be deleted, so it verifies that the server applied the filters, and skips
 * what cannot be parsed.
 */
export async function readDetached(
  client: Ec2Client,
  scope: DetachedScope,
  pageSize: number,
  context: CallContext,
): Promise<ObservedDetached> {
  const { tags, networkId, ids } = scope;
  requireTags(scope);
  const filters: Filter[] = [
    { Name: 'status', Values: ['available'] },
    ...literalFiltersOf(tags),
    ...(networkId === undefined ? [] : [{ Name: 'vpc-id', Values: [networkId] }]),
    ...(ids === undefined ? [] : [{ Name: 'network-interface-id', Values: ids }]),
  ];
  const input = { Filters: filters, MaxResults: pageSize };
  const read = await client.list('DescribeNetworkInterfaces', input, context);
  const detached = read.items.filter(isDetached).map(tryRead);
  return { startedAt: read.startedAt, interfaces: detachedAmong(detached, scope) };
}

function isDetached({ Attachment, Status = 'available' }: Ec2NetworkInterface): boolean {
  return Attachment === undefined && Status === 'available';
}
