// Reads what nodes name: the interfaces of scale sets, and of single VMs. What one answer shows is used whole.
import { partsOf } from '../reading/in-parts.ts';
import type { CallContext, ObservationScope, ObservedPage } from '../contract/cloud.ts';
import type { Observation } from '../contract/facts.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import { groupKey, type InstanceRef, parseInstanceId, scaleSetKey } from './ids.ts';
import type { PublicIpPrefixes } from './public-ip-prefixes.ts';
import type { Subnets } from './subnets.ts';
import {
  type List,
  type Named,
  type Owner,
  readAList,
  readInstance,
  readOwner,
  type Whole,
  type WholeReadParts,
} from './whole-reads.ts';

export interface ReadParts extends WholeReadParts {
  readonly subnets: Subnets;
  readonly prefixes: Pick<PublicIpPrefixes, 'note'>;
  /** Whether the options let this instance be served. */
  readonly isInScope: (instance: InstanceRef) => boolean;
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
  const denied = new Set<string>();
  for await (const { source, pages } of listsAhead(parts, lists, context)) {
    failures.push(failureIn(pages));
    yield* withSubnets(parts, pages, denied, context);
    const left = isAll ? [] : leftOut(source, pages);
    single.push(...left.map((named) => ({ kind: 'instance' as const, named })));
  }
  if (isAll) refuseNothing(failures);
  const pages = await Promise.all(single.map((source) => pagesOf(parts, source, context)));
  yield* withSubnets(parts, pages.flat(), denied, context);
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
    // The loop below sees the rejection when it comes to this list. Until then nothing awaits it.
    pages.catch(() => undefined);
    return pages;
  };
  const reading = sources.slice(0, maxLists).map(begin);
  for (const [at, source] of sources.entries()) {
    const pages = await reading.shift();
    const next = sources[at + maxLists];
    if (next !== undefined) reading.push(begin(next));
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

/** Instances that a list lacks are asked for one by one: an instance may have just joined, or be gone. */
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

/** A source to read: a list, an instance, or the owner of instances that were not found. */
type Source =
  | List
  | { readonly kind: 'instance'; readonly named: Named }
  | (Owner & { readonly kind: 'owner' });

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
  const startedAt = parts.clock.monotonic();
  try {
    const { startedAt: sentAt, observations, unclear } = await readWhole(parts, source, context);
    const pages = partsOf(observations, partSize).map((part) => ({ startedAt: sentAt, observations: part }));
    return unclear === undefined ? pages : [...pages, { startedAt: sentAt, observations: [], unclear }];
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    const failed = namedIn(source).map(({ id }) => ({ instanceId: id, error }));
    return [{ startedAt, observations: [], failed }];
  }
}

function readWhole(parts: ReadParts, source: Source, context: CallContext): Promise<Whole> {
  if (source.kind === 'instance') return readInstance(parts, source.named, context);
  if (source.kind === 'owner') return readOwner(parts, source, context);
  return readAList(parts, source, context);
}

/**
 * Together with the first interfaces in a subnet, the subnet itself: no node can be served without it. `denied`: subnets
 * that Headwater may not read; no later page asks for them again.
 */
async function* withSubnets(
  { subnets }: ReadParts,
  pages: Iterable<ObservedPage>,
  denied: Set<string>,
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
    const news = subnets.news.filter((id) => !denied.has(id));
    if (news.length === 0) {
      yield page;
      continue;
    }
    const network = await subnets.readEach(news, context);
    for (const [id, { kind }] of network.unreadSubnets) if (kind === 'notAuthorized') denied.add(id);
    yield network.subnets.size === 0 ? page : { ...page, network };
  }
}
