// Reads interfaces from ECS, and the instances that hold them.
import type {
  CallContext,
  ObservationScope,
  ObservedPage,
  DetachedScope,
  ObservedDetached,
} from '../contract/cloud.ts';
import { inParts, partsOf } from '../reading/in-parts.ts';
import type { Instance } from '../contract/facts.ts';
import { observedInParts } from '../reading/observed-in-parts.ts';
import {
  heldByInstances,
  refuseRepeated,
  refuseSpoiled,
  refuseUnrequested,
  type Tolerance,
  unclearItems,
  detachedAmong,
  requireTags,
} from '../reading/plausible.ts';
import type { TakenAddresses } from '../contract/block-census.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import { type Described, DescribedInstances } from '../reading/described-instances.ts';
import type { Tags } from '../contract/network-interface.ts';
import { isIdOf } from './ids.ts';
import { holderOf, prefixesOf, problemOf, readInterface, requestTags, tryRead } from './network-interface.ts';
import type { RpcInput, ShownInstance, ShownNetworkInterface } from './rpc-api.ts';
import type { RpcClient } from './rpc-client.ts';

/** The most results in a page, and the most ids in a request. */
export const interfacePage = 500;
const instancePage = 100;
export const maxIds = 100;

const action = 'DescribeNetworkInterfaces';

export interface Reading {
  readonly client: RpcClient;
  /** Tags that an instance must carry to be served. */
  readonly instanceTags: Tags;
  readonly tolerance: Tolerance;
  readonly context: CallContext;
}

export async function* observe(reading: Reading, scope: ObservationScope): AsyncGenerator<ObservedPage> {
  // Anything that cannot be an id has no interfaces; agents can write any text.
  if (scope.kind === 'all') {
    const networkIds = scope.networkIds.filter((id) => isIdOf('vpc', id));
    yield* observeNetworks(reading, networkIds);
    return;
  }
  const ids = scope.instanceIds.filter((id) => isIdOf('i', id));
  if (ids.length === 1 && hasNoTags(reading)) yield* observeInstance(reading, ids);
  else yield* inParts(ids, maxIds, (part) => observeInstances(reading, part));
}

/** A network that ECS refuses, or that RAM keeps from us, is named last. */
async function* observeNetworks(
  reading: Reading,
  networkIds: readonly string[],
): AsyncGenerator<ObservedPage> {
  const unreadNetworks: string[] = [];
  let startedAt: number | undefined;
  const ask = ([id = '']: readonly string[]): AsyncGenerator<ObservedPage> => observeNetwork(reading, id);
  for await (const page of inParts(networkIds, 1, ask, ({ value }) => unreadNetworks.push(value))) {
    ({ startedAt } = page);
    yield page;
  }
  if (startedAt !== undefined && unreadNetworks.length > 0)
    yield { startedAt, observations: [], unreadNetworks };
}

function hasNoTags({ instanceTags }: Reading): boolean {
  return Object.keys(instanceTags).length === 0;
}

async function* observeNetwork(reading: Reading, vpcId: string): AsyncGenerator<ObservedPage> {
  const { client, context, instanceTags, tolerance } = reading;
  const tagged = hasNoTags(reading)
    ? undefined
    : (await readInstances(reading, { vpcId, tag: requestTags(instanceTags) })).described.ids;
  const input = { vpcId, maxResults: interfacePage };
  for await (const { startedAt, items } of client.pages(action, input, context)) {
    const page = [...items];
    const held = heldByInstances(page, { idOf: ({ networkInterfaceId }) => networkInterfaceId, isHeld });
    refuseImplausible(held, { all: page.length, tolerance });
    refuseUnrequested(action, [vpcId], held, (item) => item.vpcId);
    const isObserved = (item: ShownNetworkInterface): boolean =>
      isHeld(item) && (tagged === undefined || tagged.has(holderOf(item) ?? ''));
    const nameless = unclearItems(action, problemsOf(page.filter(isNameless)), []);
    yield* observedInParts(page, startedAt, { isObserved, read: readInterface, taken: addressesTaken });
    if (nameless.unclear !== undefined) yield { startedAt, observations: [], ...nameless };
  }
}

/**
 * The interfaces of an instance prove that it exists. If there are none, or if the cloud does not know the instance, a
 * list of instances decides.
 */
async function* observeInstance(
  reading: Reading,
  [instanceId = '']: readonly string[],
): AsyncGenerator<ObservedPage> {
  let isMet = false;
  try {
    for await (const page of interfacesBy(reading, { instanceId }, [instanceId])) {
      isMet ||= page.observations.length > 0;
      yield page;
    }
  } catch (error) {
    const isUnknown = error instanceof CloudError && error.failure.kind === 'instanceGone';
    if (isMet || !isUnknown) throw error;
  }
  if (!isMet) yield* observeInstances(reading, [instanceId]);
}

/** By way of the instances, which name their interfaces: an interface is found only by its id or by one instance. */
async function* observeInstances(
  reading: Reading,
  instanceIds: readonly string[],
): AsyncGenerator<ObservedPage> {
  const tag = requestTags(reading.instanceTags);
  const { startedAt, described, interfaceIds } = await readInstances(reading, {
    instanceIds: JSON.stringify(instanceIds),
    ...(tag.length > 0 && { tag }),
  });
  yield { startedAt, ...described.answerFor(instanceIds, hasNoTags(reading)) };
  for (const networkInterfaceId of partsOf(interfaceIds, maxIds))
    yield* interfacesBy(reading, { networkInterfaceId }, instanceIds);
}

async function* interfacesBy(
  { client, tolerance, context }: Reading,
  by: Pick<RpcInput<'DescribeNetworkInterfaces'>, 'instanceId' | 'networkInterfaceId'>,
  instanceIds: readonly string[],
): AsyncGenerator<ObservedPage> {
  const input = { ...by, maxResults: interfacePage };
  for await (const { startedAt, items: page } of client.pages(action, input, context)) {
    refuseImplausible(page, { all: page.length, tolerance });
    const clear = page.filter((item) => !isUnclear(item));
    refuseUnrequested(action, instanceIds, clear, holderOf);
    yield {
      startedAt,
      observations: clear.flatMap((item) => readInterface(item) ?? []),
      ...unclearItems(action, problemsOf(page.filter(isUnclear)), instanceIds),
    };
  }
}

/**
 * Throws a CloudError if ECS cannot have sent these on a page of `all`. A malformed item keeps its place but proves nothing.
 */
function refuseImplausible(
  shown: readonly ShownNetworkInterface[],
  page: { readonly all: number; readonly tolerance: Tolerance },
): void {
  refuseRepeated(action, shown, ({ networkInterfaceId }) => networkInterfaceId);
  const spoiled = shown.flatMap((item) => {
    const problem = problemOf(item);
    return problem === undefined ? [] : [{ id: item.networkInterfaceId ?? 'an interface', problem }];
  });
  refuseSpoiled(action, spoiled, page);
}

/** Whether the interface does not show its id, or whether an instance has it. */
function isUnclear(shown: ShownNetworkInterface): boolean {
  const holder = holderOf(shown);
  if (!isIdOf('eni', shown.networkInterfaceId)) return true;
  return holder === undefined ? shown.status === undefined : !isIdOf('i', holder);
}

function problemsOf(unclear: readonly ShownNetworkInterface[]): readonly string[] {
  return unclear.map((item) => problemOf(item) ?? 'it names no instance');
}

function isNameless({ networkInterfaceId: id }: ShownNetworkInterface): boolean {
  return !isIdOf('eni', id);
}

function isHeld(shown: ShownNetworkInterface): boolean {
  return isIdOf('i', holderOf(shown));
}

function addressesTaken(shown: ShownNetworkInterface): TakenAddresses {
  const addresses = (shown.privateIpSets?.privateIpSet ?? []).flatMap((item) => item.privateIpAddress ?? []);
  return { subnetId: shown.vSwitchId ?? '', holdings: [...addresses, ...prefixesOf(shown)] };
}

/** Instances that match, and the ids of their interfaces. */
async function readInstances(
  { client, context }: Pick<Reading, 'client' | 'context'>,
  by: RpcInput<'DescribeInstances'>,
): Promise<{
  readonly startedAt: number;
  readonly described: DescribedInstances;
  readonly interfaceIds: readonly string[];
}> {
  const input = { ...by, maxResults: instancePage };
  const { startedAt, items } = await client.list('DescribeInstances', input, context);
  const readable = items.filter((shown) => !('problem' in describedAs(shown)));
  return {
    startedAt,
    described: new DescribedInstances(items.map(describedAs)),
    interfaceIds: [...new Set(readable.flatMap(interfacesIn))],
  };
}

function interfacesIn({ networkInterfaces }: ShownInstance): readonly string[] {
  const list = networkInterfaces?.networkInterface ?? [];
  return list.flatMap(({ networkInterfaceId: id }) => (isIdOf('eni', id) ? [id] : []));
}

const instanceStates: ReadonlyMap<string, Instance['state']> = new Map([
  ['Pending', 'pending'],
  ['Starting', 'pending'],
  ['Running', 'running'],
  ['Stopping', 'stopping'],
  ['Stopped', 'stopped'],
]);

function describedAs({ instanceId: id, status = '' }: ShownInstance): Described {
  if (!isIdOf('i', id)) return { id: undefined, problem: 'InstanceId of an instance is missing' };
  const state = instanceStates.get(status);
  return state === undefined ? { id, problem: `the state of ${id} is ${status}` } : { id, state };
}

/**
 * Reads detached interfaces from ECS. Its result may be deleted, so it verifies that the server applied the filters, and skips
 * what cannot be parsed.
 */
export async function readDetached(
  client: RpcClient,
  scope: DetachedScope,
  context: CallContext,
): Promise<ObservedDetached> {
  const { tags, networkId, ids } = scope;
  requireTags(scope);
  const input = {
    status: 'Available',
    tag: requestTags(tags),
    maxResults: interfacePage,
    ...(networkId !== undefined && { vpcId: networkId }),
    ...(ids !== undefined && { networkInterfaceId: ids }),
  };
  const { startedAt, items } = await client.list('DescribeNetworkInterfaces', input, context);
  return { startedAt, interfaces: detachedAmong(items.filter(isDetached).map(tryRead), scope) };
}

function isDetached(shown: ShownNetworkInterface): boolean {
  return holderOf(shown) === undefined && shown.status === 'Available';
}
