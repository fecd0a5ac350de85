// Reads interfaces from EC2, and the instances that hold them.
import type {
  CallContext,
  ObservationScope,
  ObservedPage,
  UnclearItems,
} from '../contract/allocation-implementation.ts';
import { unreadable } from '../contract/cloud-failure.ts';
import { inParts } from '../contract/in-parts.ts';
import type { TakenAddresses } from '../contract/block-census.ts';
import { askedInstances, type Instance, observedInParts } from '../contract/observation.ts';
import type { Ec2Instance, Ec2NetworkInterface, Filter } from './ec2-api.ts';
import type { Ec2Client } from './ec2-client.ts';
import { isIdOf, isInstanceId, isNetworkId } from './ids.ts';
import { holderOf, readInterface, spoilageOf } from './network-interface.ts';
import {
  heldByInstances,
  refuseRepeated,
  refuseSpoiled,
  refuseUnrequested,
  type Spoiled,
} from '../contract/plausible.ts';
import { filtersOf, listed, maxFilterValues, readList, type Reading } from './read-list.ts';

const minPageSize = 5;

export async function reach(client: Ec2Client, context: CallContext): Promise<void> {
  for await (const { output } of client.pages('DescribeVpcs', { MaxResults: minPageSize }, context)) {
    listed('DescribeVpcs', output, 'Vpcs');
    return;
  }
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
      : await readInstances(reading, [inNetworks, ...tagFilters], options.pageSize);
  const input = {
    Filters: [inNetworks, { Name: 'status', Values: ['in-use'] }],
    MaxResults: options.pageSize,
  };
  for await (const { startedAt, output } of client.pages('DescribeNetworkInterfaces', input, context)) {
    const page = believed(listed('DescribeNetworkInterfaces', output, 'NetworkInterfaces'), networkIds);
    const isObserved = (item: Ec2NetworkInterface): boolean =>
      isHeld(item) && (tagged === undefined || tagged.instances.has(holderOf(item) ?? ''));
    yield* observedInParts(page, startedAt, { isObserved, read: readInterface, taken: subnetAddressesUsed });
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
  const { pageSize } = reading.options;
  for await (const { startedAt, shown, unclear } of interfacesOf(reading, instanceIds, pageSize)) {
    for (const holder of shown.flatMap((item) => holderOf(item) ?? [])) met.add(holder);
    const observations = shown.flatMap((item) => readInterface(item) ?? []);
    yield { startedAt, observations, ...(unclear !== undefined && { unclear }) };
  }
  yield* observeInstances(reading, instanceIds, met);
}

/** The interfaces of these instances, page by page. Rejects with a CloudError, too, if an answer proves nothing. */
export async function* interfacesOf(
  { client, context }: Pick<Reading, 'client' | 'context'>,
  instanceIds: readonly string[],
  pageSize: number,
): AsyncGenerator<{
  readonly startedAt: number;
  readonly shown: readonly Ec2NetworkInterface[];
  readonly unclear: UnclearItems | undefined;
}> {
  const filter = { Name: 'attachment.instance-id', Values: instanceIds };
  const input = { Filters: [filter], MaxResults: pageSize };
  for await (const { startedAt, output } of client.pages('DescribeNetworkInterfaces', input, context)) {
    const page = listed('DescribeNetworkInterfaces', output, 'NetworkInterfaces');
    refuseUntrue(page, instanceIds);
    const shown = page.filter((item) => unclearIn(item) === undefined);
    yield { startedAt, shown, unclear: unclearAmong(page, instanceIds) };
  }
}

/**
 * A page of a listing, if EC2 can have sent it. A malformed item keeps its place but proves nothing. What no instance holds is
 * counted as it is.
 */
function believed(
  page: readonly Ec2NetworkInterface[],
  networkIds: readonly string[],
): Ec2NetworkInterface[] {
  const action = 'DescribeNetworkInterfaces';
  const idOf = ({ NetworkInterfaceId }: Ec2NetworkInterface): string | undefined => NetworkInterfaceId;
  const held = heldByInstances(page, { idOf, isHeld });
  refuseRepeated(action, held, idOf);
  refuseScattered(held);
  refuseSpoiled(action, held.flatMap(spoiledIn), page.length);
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

/** Why an item does not name itself and its instance; undefined if it does. What a refresh does not show may be gone. */
function unclearIn({ NetworkInterfaceId: id, Attachment }: Ec2NetworkInterface): string | undefined {
  if (!isIdOf('eni', id)) return `NetworkInterfaceId of ${id ?? 'an interface'} is missing`;
  return Attachment?.InstanceId === undefined ? `Attachment.InstanceId of ${id} is missing` : undefined;
}

function unclearAmong(
  page: readonly Ec2NetworkInterface[],
  instanceIds: readonly string[],
): UnclearItems | undefined {
  const [first, ...others] = page.flatMap((item) => unclearIn(item) ?? []);
  if (first === undefined) return undefined;
  return {
    count: 1 + others.length,
    problem: `an item of DescribeNetworkInterfaces: ${first}`,
    instanceIds,
  };
}

function refuseUntrue(shown: readonly Ec2NetworkInterface[], instanceIds: readonly string[]): void {
  const action = 'DescribeNetworkInterfaces';
  refuseRepeated(action, shown, ({ NetworkInterfaceId }) => NetworkInterfaceId);
  refuseUnrequested(action, instanceIds, shown, ({ Attachment }) => Attachment?.InstanceId);
  refuseScattered(shown);
  refuseSpoiled(action, shown.flatMap(oddIn), shown.length);
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
    const { startedAt, instances } = await readInstances(reading, filters, pageSize);
    refuseUnrequested('DescribeInstances', part, [...instances.keys()], (id) => id);
    yield { startedAt, observations: askedInstances(part, instances, tagFilters.length === 0) };
  });
}

function instancesOf({ Instances }: { readonly Instances?: readonly Ec2Instance[] | undefined }) {
  if (Instances === undefined) throw unreadable('DescribeInstances', 'Instances of a reservation is missing');
  return Instances;
}

/** Instances that match the filters, by id. */
export async function readInstances(
  from: Pick<Reading, 'client' | 'context'>,
  filters: readonly Filter[],
  pageSize: number,
): Promise<{ readonly startedAt: number; readonly instances: ReadonlyMap<string, Instance> }> {
  const input = { Filters: filters, MaxResults: pageSize };
  const { startedAt, items } = await readList(from, 'DescribeInstances', 'Reservations', input);
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

/** Throws a CloudError if interfaces of one subnet appear in several networks or zones. */
function refuseScattered(shown: readonly Ec2NetworkInterface[]): void {
  const places = new Map<string, string>();
  for (const { SubnetId: id, VpcId, AvailabilityZone = '' } of shown) {
    if (id === undefined || VpcId === undefined) continue;
    const place = `${VpcId} ${AvailabilityZone}`;
    if ((places.get(id) ?? place) !== place)
      throw unreadable('DescribeNetworkInterfaces', `${id} is in ${places.get(id)} and in ${place}`);
    places.set(id, place);
  }
}
