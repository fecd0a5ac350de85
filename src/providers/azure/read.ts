// Reads what nodes name: the interfaces of scale sets, and of single VMs. An answer is about one owner and is used whole:
// what a scale set does not show follows only from its last page.
import type { CallContext, ObservationScope, ObservedPage } from '../contract/allocation-implementation.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import { policyOf } from '../contract/failure-policy.ts';
import { isFirstSlot, isPrimaryInterface } from '../contract/network-interface.ts';
import type { Instance, Observation } from '../contract/observation.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Json, list, text } from './arm-api.ts';
import { type ArmClient, type ReadAnswer, unreadable } from './arm-client.ts';
import {
  groupKey,
  type InstanceRef,
  instanceKey,
  parseInstanceId,
  parseInterfaceId,
  type ScaleSetVm,
  scaleSetKey,
  type StandaloneVm,
} from './ids.ts';
import { inPlaces, readInterface, saidPrimary, type ShownInterface } from './network-interface.ts';
import type { FailedModels } from './failed-models.ts';
import type { PublicAddresses } from './public-addresses.ts';
import type { PublicIpPrefixes } from './public-ip-prefixes.ts';
import {
  interfacesInGroup,
  oneInterface,
  scaleSet,
  scaleSetInterfaces,
  scaleSetVm,
  scaleSetVmInterfaces,
  standaloneVm,
} from './requests.ts';
import type { Spellings } from './spellings.ts';
import type { Subnets } from './subnets.ts';

export interface ReadParts {
  readonly client: ArmClient;
  readonly spellings: Spellings;
  readonly subnets: Subnets;
  readonly failedModels: Pick<FailedModels, 'noteShown'>;
  readonly publicAddresses: Pick<PublicAddresses, 'complete'>;
  readonly prefixes: Pick<PublicIpPrefixes, 'note'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Whether the options let this instance be served. */
  readonly isInScope: (instance: InstanceRef) => boolean;
}

interface Named {
  readonly id: string;
  readonly ref: InstanceRef;
}

/** Observations given to the core at a time: it works in between. */
const partSize = 50;

/** From this number of instances of one scale set on, its list is fewer reads. */
const worthAList = 10;

/** Lists read at a time. What they show is held until the core takes it. */
const maxLists = 4;

export async function* observe(
  parts: ReadParts,
  scope: ObservationScope,
  context: CallContext,
): AsyncGenerator<ObservedPage> {
  // Anything that cannot be an id has no interfaces; agents can write any text.
  const named = scope.instanceIds.flatMap((id) => {
    const ref = parseInstanceId(id);
    return ref === undefined ? [] : [{ id, ref }];
  });
  const { inScope = [], outside = [] } = Object.groupBy(named, ({ ref }) =>
    parts.isInScope(ref) ? 'inScope' : 'outside',
  );
  for (const { ref } of inScope) parts.prefixes.note(ref);
  if (outside.length > 0) yield excluded(outside, parts.clock.monotonic());
  const isAll = scope.kind === 'all';
  const { list: lists = [], instance: single = [] } = Object.groupBy(
    sourcesFor(inScope, isAll),
    ({ kind }) => (kind === 'instance' ? 'instance' : 'list'),
  );
  const failures: (CloudError | undefined)[] = [];
  for await (const { source, pages } of listsAhead(parts, lists, context)) {
    failures.push(failureIn(pages));
    yield* withSubnets(parts, pages, context);
    const left = isAll ? [] : leftOut(source, pages);
    single.push(...left.map((named) => ({ kind: 'instance' as const, named })));
  }
  if (isAll) refuseNothing(failures);
  const pages = await Promise.all(single.map((source) => pagesOf(parts, source, context)));
  yield* withSubnets(parts, pages.flat(), context);
  const notFound = single.flatMap((source, at) => leftOut(source, pages[at] ?? []));
  const owners = await Promise.all(ownersOf(notFound).map((source) => pagesOf(parts, source, context)));
  yield* owners.flat();
}

/** Reads several lists at a time, and yields them in their order. */
async function* listsAhead(
  parts: ReadParts,
  sources: readonly Source[],
  context: CallContext,
): AsyncGenerator<{ readonly source: Source; readonly pages: readonly ObservedPage[] }> {
  const begin = (source: Source): Promise<readonly ObservedPage[]> => {
    const pages = pagesOf(parts, source, context);
    // Whoever takes it sees the rejection. Until then nobody waits for it.
    pages.catch(() => undefined);
    return pages;
  };
  const begun = sources.slice(0, maxLists).map(begin);
  for (const [at, source] of sources.entries()) {
    const pages = await begun.shift();
    const next = sources[at + maxLists];
    if (next !== undefined) begun.push(begin(next));
    if (pages !== undefined) yield { source, pages };
  }
}

function failureIn(pages: readonly ObservedPage[]): CloudError | undefined {
  return pages.flatMap(({ failed = [] }) => failed)[0]?.error;
}

/** Throws the reason if not one of the lists could be read: then nothing at all is known. */
function refuseNothing(failures: readonly (CloudError | undefined)[]): void {
  const [first] = failures;
  if (first !== undefined && failures.every((failure) => failure !== undefined)) throw first;
}

/** What a list lacks is asked for one by one: an instance may have just joined, or be gone. */
function leftOut(source: Source, pages: readonly ObservedPage[]): readonly Named[] {
  const met = new Set(
    pages.flatMap(({ observations, failed = [] }) => [
      ...observations.map(holderIn),
      ...failed.map(({ instanceId }) => instanceId),
    ]),
  );
  return namedIn(source).filter(({ id }) => !met.has(id));
}

function holderIn(observation: Observation): string | undefined {
  if (observation.kind === 'instance') return observation.instance.id;
  if (observation.kind === 'interface') return observation.interface.attachment?.instanceId;
  return observation.interface.instanceId;
}

/** One list, one instance, or the owner of instances that were not found, to read. */
type Source =
  | List
  | { readonly kind: 'instance'; readonly named: Named }
  | { readonly kind: 'owner'; readonly ref: InstanceRef; readonly named: readonly Named[] };

type List = { readonly isListing: boolean; readonly named: readonly Named[] } & (
  | { readonly kind: 'scaleSet'; readonly set: ScaleSetVm }
  | { readonly kind: 'group'; readonly vm: StandaloneVm }
);

function sourcesFor(named: readonly Named[], isAll: boolean): readonly Source[] {
  return byOwner(named, (first, members): readonly Source[] => {
    if (!isAll && members.length < worthAList)
      return members.map((each) => ({ kind: 'instance', named: each }));
    const whole = { isListing: isAll, named: members };
    return first.ref.kind === 'vm'
      ? [{ ...whole, kind: 'group', vm: first.ref }]
      : [{ ...whole, kind: 'scaleSet', set: first.ref }];
  });
}

/** One read of a scale set, or of a group, answers for all instances that it has lost: few such reads are allowed. */
function ownersOf(notFound: readonly Named[]): readonly Source[] {
  return byOwner(notFound, ({ ref }, named) => [{ kind: 'owner', ref, named }]);
}

/** By scale set, or by group. */
function byOwner(
  named: readonly Named[],
  sourcesOf: (first: Named, members: readonly Named[]) => readonly Source[],
): readonly Source[] {
  const owners = Map.groupBy(named, ({ ref }) => scaleSetKey(ref) ?? groupKey(ref));
  return [...owners.values()].flatMap((members) => {
    const [first] = members;
    return first === undefined ? [] : sourcesOf(first, members);
  });
}

/** The options exclude these instances, so nothing is asked about them. */
function excluded(named: readonly Named[], startedAt: number): ObservedPage {
  return {
    startedAt,
    observations: named.map(({ id }) => ({
      kind: 'instance',
      instance: { id, state: 'unknown', managed: false },
    })),
  };
}

function namedIn(source: Source): readonly Named[] {
  return source.kind === 'instance' ? [source.named] : source.named;
}

async function pagesOf(
  parts: ReadParts,
  source: Source,
  context: CallContext,
): Promise<readonly ObservedPage[]> {
  const begunAt = parts.clock.monotonic();
  try {
    const { startedAt, observations } = await readWhole(parts, source, context);
    const count = Math.ceil(observations.length / partSize);
    return Array.from({ length: count }, (_, at) => ({
      startedAt,
      observations: observations.slice(at * partSize, (at + 1) * partSize),
    }));
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    const failed = namedIn(source).map(({ id }) => ({ instanceId: id, error }));
    return [{ startedAt: begunAt, observations: [], failed }];
  }
}

interface Whole {
  readonly startedAt: number;
  readonly observations: readonly Observation[];
}

function readWhole(parts: ReadParts, source: Source, context: CallContext): Promise<Whole> {
  if (source.kind === 'instance') return readInstance(parts, source.named, context);
  if (source.kind === 'owner') return readOwner(parts, source, context);
  return readAList(parts, source, context);
}

async function readAList(parts: ReadParts, source: List, context: CallContext): Promise<Whole> {
  const request = source.kind === 'scaleSet' ? scaleSetInterfaces(source.set) : interfacesInGroup(source.vm);
  const names = new Map(source.named.map(({ id }) => [instanceKey(id), id]));
  const reading = parts.client.readList(
    request,
    (item) => {
      const shown = readInterface(item, parts.spellings);
      if (shown === undefined) return undefined;
      const id = names.get(shown.instanceId);
      return id === undefined ? undefined : { ...shown, instanceId: id };
    },
    context,
  );
  // Azure does not find the interfaces of a scale set without any VM.
  const noVm = { startedAt: parts.clock.monotonic(), items: [] };
  const { startedAt, items } = (await unlessMissing(reading)) ?? noVm;
  parts.failedModels.noteShown(items);
  const completed = await parts.publicAddresses.complete(items, context);
  const instances = placed(request, completed);
  // A listing is confirmed by refreshes where it shows too little.
  const told = source.isListing ? instances : instances.filter(showsPrimary);
  return { startedAt, observations: told.flat() };
}

/** By instance. */
function placed(
  request: Parameters<typeof unreadable>[0],
  shown: readonly ShownInterface[],
): readonly (readonly Observation[])[] {
  const met = new Set<string>();
  for (const { id } of shown) {
    if (met.has(id)) throw unreadable(request, `${id} is shown twice`);
    met.add(id);
  }
  return [...Map.groupBy(shown, ({ instanceId }) => instanceId).values()].map(inPlaces);
}

/** A list without the primary interface of a VM, which each VM has, may lack more of it. */
function showsPrimary(observations: readonly Observation[]): boolean {
  return observations.some(
    (each) =>
      (each.kind === 'interface' && isPrimaryInterface(each.interface)) ||
      (each.kind === 'unreadableInterface' && isFirstSlot(each.interface)),
  );
}

/** Shows nothing of an instance that is not found: only an answer of its owner says that it is gone. */
async function readInstance(parts: ReadParts, named: Named, context: CallContext): Promise<Whole> {
  const { ref } = named;
  const within = { ...context, instanceId: named.id };
  return ref.kind === 'vm'
    ? readStandaloneVm(parts, { ...named, ref }, within)
    : readScaleSetVm(parts, { ...named, ref }, within);
}

async function readScaleSetVm(
  parts: ReadParts,
  { id, ref }: Named & { readonly ref: ScaleSetVm },
  context: CallContext,
): Promise<Whole> {
  const { client, spellings, failedModels, publicAddresses } = parts;
  const request = scaleSetVmInterfaces(ref);
  const read = await unlessMissing(
    client.readList(request, (item) => readInterface(item, spellings), context),
  );
  const shown = (read?.items ?? []).filter((item) => item.instanceId === instanceKey(id));
  if (read !== undefined && shown.length > 0) {
    failedModels.noteShown(shown);
    const named = shown.map((item) => ({ ...item, instanceId: id }));
    const completed = await publicAddresses.complete(named, context);
    const observations = placed(request, completed).flat();
    if (!showsPrimary(observations)) throw unreadable(request, 'the primary interface is missing');
    return { startedAt: read.startedAt, observations };
  }
  const vm = await unlessMissing(client.readOne(scaleSetVm(ref), context));
  if (vm === undefined) return notFound(parts);
  return alone(vm.startedAt, { id, state: stateOf(vm.answer.body), managed: true });
}

/** Its interfaces may be in other groups, so its own list of them is followed. */
async function readStandaloneVm(
  parts: ReadParts,
  { id, ref }: Named & { readonly ref: StandaloneVm },
  context: CallContext,
): Promise<Whole> {
  const { client, spellings } = parts;
  const request = standaloneVm(ref);
  const vm = await unlessMissing(client.readOne(request, context));
  if (vm === undefined) return notFound(parts);
  const { startedAt, answer } = vm;
  const links = list(answer.body, 'properties', 'networkProfile', 'networkInterfaces');
  if (links === undefined)
    throw unreadable(request, 'properties.networkProfile.networkInterfaces is missing');
  const shown = await Promise.all(
    links.map((link) => readLinked({ client, spellings }, { id, link }, context)),
  );
  const observations = placed(
    request,
    shown.flatMap((item) => item ?? []),
  ).flat();
  if (observations.length > 0) return { startedAt, observations };
  return alone(startedAt, { id, state: stateOf(answer.body), managed: true });
}

async function readLinked(
  { client, spellings }: Pick<ReadParts, 'client' | 'spellings'>,
  { id, link }: { readonly id: string; readonly link: Json },
  context: CallContext,
): Promise<ShownInterface | undefined> {
  const interfaceId = parseInterfaceId(text(link, 'id') ?? '');
  if (interfaceId === undefined)
    throw unreadable({ operation: 'VirtualMachines.Get' }, 'it names no interface');
  const read = await unlessMissing(client.readOne(oneInterface(interfaceId), context));
  if (read === undefined) return notFoundBy(link, { id, spellings });
  const shown = readInterface(read.answer.body, spellings, id);
  return shown?.instanceId === instanceKey(id) ? { ...shown, instanceId: id } : undefined;
}

/** Its VM has it, so nothing that is known of it is gone. */
function notFoundBy(
  link: Json,
  { id, spellings }: { readonly id: string; readonly spellings: Spellings },
): ShownInterface {
  return {
    id: spellings.of(text(link, 'id') ?? ''),
    instanceId: id,
    isPrimary: saidPrimary(link),
    read: { problem: 'its VM names it, and Azure does not find it' },
  };
}

function notFound({ clock }: Pick<ReadParts, 'clock'>): Whole {
  return { startedAt: clock.monotonic(), observations: [] };
}

/** It is asked only after none of these instances was found. */
async function readOwner(
  parts: Pick<ReadParts, 'client'>,
  { ref, named }: Extract<Source, { kind: 'owner' }>,
  context: CallContext,
): Promise<Whole> {
  const { startedAt } = await (ref.kind === 'vm'
    ? readGroup(parts, ref, context)
    : parts.client.readOne(scaleSet(ref), context));
  const gone = named.map(({ id }) => ({ id, state: 'terminated', managed: true }) as const);
  return { startedAt, observations: gone.map((instance) => ({ kind: 'instance', instance })) };
}

/** A role with which Headwater lists the interfaces of a group would show it the VMs there. */
async function readGroup(
  { client }: Pick<ReadParts, 'client'>,
  vm: StandaloneVm,
  context: CallContext,
): Promise<ReadAnswer> {
  const owner = interfacesInGroup(vm);
  const read = await client.read(owner, context);
  if (list(read.answer.body, 'value') === undefined) throw unreadable(owner, 'value is missing');
  return read;
}

function alone(startedAt: number, instance: Instance): Whole {
  return { startedAt, observations: [{ kind: 'instance', instance }] };
}

/** A VM that is being deleted says so; nothing that it has left is missed. */
function stateOf(vm: Json): Instance['state'] {
  const state = text(vm, 'properties', 'provisioningState')?.toLowerCase();
  return state === 'deleting' ? 'terminating' : 'running';
}

/** ARM does not find what was asked for. Only together with an answer about its owner this shows that it is gone. */
async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof CloudError && policyOf(error.failure).invalidates === 'existence') return undefined;
    throw error;
  }
}

/** Together with the first interfaces in a subnet, the subnet itself: no node can be served without it. */
async function* withSubnets(
  { subnets }: ReadParts,
  pages: Iterable<ObservedPage>,
  context: CallContext,
): AsyncGenerator<ObservedPage> {
  for (const page of pages) {
    subnets.note(
      page.observations.flatMap((item) =>
        item.kind === 'interface'
          ? [item.interface.subnetId, ...(item.interface.addressSubnets?.values() ?? [])]
          : [],
      ),
    );
    const { news } = subnets;
    if (news.length === 0) {
      yield page;
      continue;
    }
    const network = await subnets.read(news, context).catch((error: unknown) => {
      if (!(error instanceof CloudError)) throw error;
      return undefined;
    });
    yield network === undefined ? page : { ...page, network };
  }
}
