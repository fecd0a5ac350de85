// Reads interfaces from ECS, and the instances that hold them.
import type { CallContext, ObservationScope, ObservedPage } from '../contract/allocation-implementation.ts';
import type { TakenAddresses } from '../contract/block-census.ts';
import { CloudError, unreadable } from '../contract/cloud-failure.ts';
import { inParts } from '../contract/in-parts.ts';
import type { Tags } from '../contract/network-interface.ts';
import { askedInstances, type Instance, observedInParts } from '../contract/observation.ts';
import { isIdOf } from './ids.ts';
import { holderOf, prefixesOf, problemOf, readInterface, requestTags } from './network-interface.ts';
import { heldByInstances, refuseRepeated, refuseSpoiled, refuseUnrequested } from '../contract/plausible.ts';
import type { RpcInput, ShownInstance, ShownNetworkInterface } from './rpc-api.ts';
import { listed, type RpcClient } from './rpc-client.ts';

/** The most results in a page, and the most ids in a request. */
export const interfacePage = 500;
const instancePage = 100;
export const maxIds = 100;

export interface Reading {
  readonly client: RpcClient;
  /** Tags that an instance must carry to be served. */
  readonly instanceTags: Tags;
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
  const { client, context, instanceTags } = reading;
  const tagged = hasNoTags(reading)
    ? undefined
    : (await readInstances(reading, { vpcId, tag: requestTags(instanceTags) })).instances;
  const input = { vpcId, maxResults: interfacePage };
  for await (const { startedAt, output } of client.pages('DescribeNetworkInterfaces', input, context)) {
    const page = [...listed('DescribeNetworkInterfaces', output.networkInterfaceSets?.networkInterfaceSet)];
    const held = heldByInstances(page, { idOf: ({ networkInterfaceId }) => networkInterfaceId, isHeld });
    refuseImplausible(held, page.length);
    refuseUnrequested('DescribeNetworkInterfaces', [vpcId], held, (item) => item.vpcId);
    const isObserved = (item: ShownNetworkInterface): boolean =>
      isHeld(item) && (tagged === undefined || tagged.has(holderOf(item) ?? ''));
    yield* observedInParts(page, startedAt, { isObserved, read: readInterface, taken: addressesTaken });
  }
}

/** Its interfaces are enough, unless it has none, or the cloud refuses to know it: a list of instances tells then. */
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
  const { startedAt, instances, interfaceIds, problem } = await readInstances(reading, {
    instanceIds: JSON.stringify(instanceIds),
    ...(tag.length > 0 && { tag }),
  });
  refuseUnrequested('DescribeInstances', instanceIds, [...instances.keys()], (id) => id);
  // An instance in a form of no cloud may be any of those that are not shown.
  const isRead = (id: string): boolean => problem === undefined || instances.has(id);
  const error = unreadable('DescribeInstances', problem ?? '');
  yield {
    startedAt,
    observations: askedInstances(instanceIds.filter(isRead), instances, hasNoTags(reading)),
    failed: instanceIds.filter((id) => !isRead(id)).map((instanceId) => ({ instanceId, error })),
  };
  for (let from = 0; from < interfaceIds.length; from += maxIds)
    yield* interfacesBy(
      reading,
      { networkInterfaceId: interfaceIds.slice(from, from + maxIds) },
      instanceIds,
    );
}

async function* interfacesBy(
  { client, context }: Reading,
  by: Pick<RpcInput<'DescribeNetworkInterfaces'>, 'instanceId' | 'networkInterfaceId'>,
  instanceIds: readonly string[],
): AsyncGenerator<ObservedPage> {
  const input = { ...by, maxResults: interfacePage };
  for await (const { startedAt, output } of client.pages('DescribeNetworkInterfaces', input, context)) {
    const page = listed('DescribeNetworkInterfaces', output.networkInterfaceSets?.networkInterfaceSet);
    refuseImplausible(page, page.length);
    const clear = page.filter((item) => !isUnclear(item));
    refuseUnrequested('DescribeNetworkInterfaces', instanceIds, clear, holderOf);
    yield {
      startedAt,
      observations: clear.flatMap((item) => readInterface(item) ?? []),
      ...unclearAmong(page, instanceIds),
    };
  }
}

/**
 * Throws a CloudError if ECS cannot have sent these on a page of `all`. A malformed item keeps its place but proves nothing.
 */
export function refuseImplausible(shown: readonly ShownNetworkInterface[], all: number): void {
  const action = 'DescribeNetworkInterfaces';
  refuseRepeated(action, shown, ({ networkInterfaceId }) => networkInterfaceId);
  const spoiled = shown.flatMap((item) => {
    const problem = problemOf(item);
    return problem === undefined ? [] : [{ id: item.networkInterfaceId ?? 'an interface', problem }];
  });
  refuseSpoiled(action, spoiled, all);
}

/** It does not say which interface it is, or whether an instance has it. */
function isUnclear(shown: ShownNetworkInterface): boolean {
  const holder = holderOf(shown);
  if (!isIdOf('eni', shown.networkInterfaceId)) return true;
  return holder === undefined ? shown.status === undefined : !isIdOf('i', holder);
}

function unclearAmong(
  page: readonly ShownNetworkInterface[],
  instanceIds: readonly string[],
): Pick<ObservedPage, 'unclear'> {
  const [first, ...others] = page.filter(isUnclear);
  if (first === undefined) return {};
  const problem = `an item of DescribeNetworkInterfaces: ${problemOf(first) ?? 'it names no instance'}`;
  return { unclear: { count: 1 + others.length, problem, instanceIds } };
}

function isHeld(shown: ShownNetworkInterface): boolean {
  return isIdOf('i', holderOf(shown));
}

function addressesTaken(shown: ShownNetworkInterface): TakenAddresses {
  const addresses = (shown.privateIpSets?.privateIpSet ?? []).flatMap((item) => item.privateIpAddress ?? []);
  return { subnetId: shown.vSwitchId ?? '', holdings: [...addresses, ...prefixesOf(shown)] };
}

/** Instances that match, and the ids of their interfaces. `problem`: what is wrong with the first that is left out, if one is. */
async function readInstances(
  { client, context }: Reading,
  by: RpcInput<'DescribeInstances'>,
): Promise<{
  readonly startedAt: number;
  readonly instances: ReadonlyMap<string, Instance>;
  readonly interfaceIds: readonly string[];
  readonly problem: string | undefined;
}> {
  const instances = new Map<string, Instance>();
  const interfaceIds: string[] = [];
  let first: number | undefined;
  let problem: string | undefined;
  const input = { ...by, maxResults: instancePage };
  for await (const { startedAt, output } of client.pages('DescribeInstances', input, context)) {
    first ??= startedAt;
    for (const shown of listed('DescribeInstances', output.instances?.instance)) {
      const instance = readInstance(shown);
      if ('problem' in instance) {
        problem ??= instance.problem;
        continue;
      }
      if (instances.has(instance.id)) throw unreadable('DescribeInstances', `${instance.id} is shown twice`);
      instances.set(instance.id, instance);
      interfaceIds.push(...interfacesIn(shown));
    }
  }
  return { startedAt: first ?? 0, instances, interfaceIds, problem };
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

function readInstance({
  instanceId: id,
  status = '',
}: ShownInstance): Instance | { readonly problem: string } {
  if (!isIdOf('i', id)) return { problem: 'InstanceId of an instance is missing' };
  const state = instanceStates.get(status);
  if (state === undefined) return { problem: `the state of ${id} is ${status}` };
  return { id, state, managed: true };
}
