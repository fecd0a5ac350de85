// The network around the instances, read in parts: what is left out of each part, and how the parts become one.
import type { ObservedCounts, ObservedInfrastructure } from '../contract/cloud.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { policyOf } from '../contract/failure-policy.ts';
import { allInParts } from './in-parts.ts';
import type { Infrastructure, PartOfFew, Subnet, UnreadablePart } from '../contract/infrastructure.ts';
import { refuseRepeated, refuseSpoiled, refuseUnrequested, type Tolerance } from './plausible.ts';

export interface NetworkParts {
  /** The most networks in a part. */
  readonly max: number;
  /** For ids that cannot exist, nothing is read. */
  readonly isId: (id: string) => boolean;
}

/**
 * Reads the networks in parts. A network that the cloud refuses is a problem of its own. Nothing is known of one that our role
 * may not read: its nodes alone wait, and are told why.
 */
export async function readInParts(
  networkIds: readonly string[],
  { max, isId }: NetworkParts,
  read: (part: readonly string[]) => Promise<ObservedInfrastructure>,
): Promise<ObservedInfrastructure> {
  const refused: UnreadablePart[] = [];
  const unreadNetworks = new Map<string, CloudFailure>();
  const parts = await allInParts(networkIds.filter(isId), max, read, ({ value, failure }) => {
    refused.push(unreadablePart('network', value, `${failure.code}: ${failure.message}`));
    if (failure.permission !== undefined) unreadNetworks.set(value, failure);
  });
  const all = parts.map(({ infrastructure }) => infrastructure);
  return {
    startedAt: firstOf(parts),
    infrastructure: {
      networkIds: new Set(networkIds),
      subnets: new Map(all.flatMap(({ subnets }) => [...subnets])),
      networks: new Map(all.flatMap(({ networks }) => [...networks])),
      routeTables: all.flatMap(({ routeTables }) => routeTables),
      securityGroups: all.flatMap(({ securityGroups }) => securityGroups),
      denied: { routeTables: deniedIn(all, 'routeTables'), securityGroups: deniedIn(all, 'securityGroups') },
      unreadNetworks,
      unreadZones: new Map(all.flatMap(({ unreadZones }) => [...(unreadZones ?? [])])),
      unreadTags: new Map(all.flatMap(({ unreadTags }) => [...(unreadTags ?? [])])),
    },
    problems: [...refused, ...parts.flatMap(({ problems }) => problems)],
  };
}

function deniedIn(all: readonly Infrastructure[], part: PartOfFew): ReadonlyMap<string, CloudFailure> {
  return new Map(all.flatMap(({ denied }) => [...(denied?.[part] ?? [])]));
}

/** Free addresses of the subnets in the networks. Counts of a subnet that cannot be parsed are left out. */
export async function countInParts(
  networkIds: readonly string[],
  { max, isId }: NetworkParts,
  read: (
    part: readonly string[],
  ) => Promise<{ startedAt: number; subnets: readonly (Subnet | UnreadablePart | undefined)[] }>,
): Promise<ObservedCounts> {
  const unreadNetworks = new Set<string>();
  const parts = await allInParts(networkIds.filter(isId), max, read, ({ value, failure }) => {
    if (failure.permission !== undefined) unreadNetworks.add(value);
  });
  const counts = parts.flatMap(({ subnets }) =>
    subnets.flatMap((subnet) =>
      subnet === undefined || isUnreadable(subnet) ? [] : [[subnet.id, subnet.freeAddresses] as const],
    ),
  );
  return { startedAt: firstOf(parts), counts: new Map(counts), unreadNetworks };
}

function firstOf(parts: readonly { readonly startedAt: number }[]): number {
  return Math.min(...parts.map(({ startedAt }) => startedAt), Infinity);
}

export interface NetworkAnswers<Shown> {
  /** The networks that were asked for, and the one that an item says it is in. */
  readonly asked: readonly string[];
  readonly networkOf: (shown: Shown) => string | undefined;
  readonly tolerance: Tolerance;
  /** Gets what cannot be parsed. */
  readonly problems: UnreadablePart[];
}

/**
 * Reads the usable items of each answer about some networks. `read`: undefined for what is of no use. Throws a CloudError if
 * the answer proves nothing.
 */
export function usableAmong<Shown>({ asked, networkOf, tolerance, problems }: NetworkAnswers<Shown>) {
  return <S extends Shown, R extends object>(
    action: string,
    items: readonly S[],
    read: (shown: S) => R | UnreadablePart | undefined,
  ): readonly R[] => {
    refuseUnrequested(action, asked, items, networkOf);
    const all = items.map(read);
    const unread = all.filter(isUnreadable);
    refuseSpoiled(action, unread, { all: items.length, tolerance });
    problems.push(...unread);
    return all.filter((item): item is R => item !== undefined && !isUnreadable(item));
  };
}

/** Throws a CloudError if one answer shows an item twice. */
export function byUniqueId<T extends { readonly id: string }>(
  action: string,
  items: readonly T[],
): ReadonlyMap<string, T> {
  refuseRepeated(action, items, ({ id }) => id);
  return new Map(items.map((item) => [item.id, item]));
}

export function unreadablePart(
  what: UnreadablePart['what'],
  id: string | undefined,
  problem: string,
): UnreadablePart {
  return { what, id: id || '(without an id)', problem };
}

export function isUnreadable(read: object | undefined): read is UnreadablePart {
  return read !== undefined && 'problem' in read;
}

export interface ReadOfFew<R> {
  readonly items: readonly R[];
  /** Why there are none, by network. */
  readonly denied: ReadonlyMap<string, CloudFailure>;
}

/**
 * Reads items that only a few nodes of these networks need. If the cloud refuses the read, or its answer proves nothing,
 * only those nodes wait. Rejects with errors that a repeated read may resolve. `problems` gets other errors than denials,
 * which the waiting nodes report.
 */
export async function ofFew<R>(
  what: UnreadablePart['what'],
  { networkIds, read }: { readonly networkIds: readonly string[]; readonly read: Promise<readonly R[]> },
  problems: UnreadablePart[],
): Promise<ReadOfFew<R>> {
  try {
    return { items: await read, denied: new Map() };
  } catch (error) {
    if (!(error instanceof CloudError) || !isLasting(error.failure)) throw error;
    const { failure, message } = error;
    if (failure.permission === undefined)
      problems.push(unreadablePart(what, `all of ${networkIds.join(', ')}`, message));
    return { items: [], denied: new Map(networkIds.map((id) => [id, failure])) };
  }
}

function isLasting(failure: CloudFailure): boolean {
  const { retry } = policyOf(failure);
  return retry === 'later' || retry === 'never';
}
