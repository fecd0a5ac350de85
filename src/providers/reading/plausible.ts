// Checks that an answer shows only what was requested, each item once, and most items in the vendor's form. Otherwise the
// whole answer proves nothing: neither what exists nor what is missing.
import type { DetachedScope, ObservedPage } from '../contract/cloud.ts';
import { unreadable } from '../contract/cloud-failure.ts';
import { isOfHost, parseBlock } from '../contract/ipv4.ts';
import { carries, type NetworkInterface } from '../contract/network-interface.ts';

/** Share of malformed items above which the answer is rejected. A single one among others is always tolerated. */
const tolerated = 1 / 4;

export interface Spoiled {
  readonly id: string;
  readonly problem: string;
}

/** How much of an answer may be malformed: a quarter, or as much as there is. */
export type Tolerance = 'few' | 'all';

/** Throws a CloudError if so many items are malformed that the answer itself must be wrong. */
export function refuseSpoiled(
  action: string,
  spoiled: readonly Spoiled[],
  { all, tolerance }: { readonly all: number; readonly tolerance: Tolerance },
): void {
  const [first] = spoiled;
  const isFew = spoiled.length < all && spoiled.length <= Math.max(1, all * tolerated);
  const isWithinThings = isFew || tolerance === 'all';
  if (first !== undefined && !isWithinThings)
    throw unreadable(
      action,
      `cannot understand ${spoiled.length} of ${all}: of ${first.id}, ${first.problem}`,
    );
}

/**
 * Items of a listing that must be in the vendor's form: those that instances hold, and those without an id. Services of
 * the vendor hold interfaces in forms of their own, which may be most of a page.
 */
export function heldByInstances<T>(
  items: readonly T[],
  { idOf, isHeld }: { readonly idOf: (item: T) => string | undefined; readonly isHeld: (item: T) => boolean },
): readonly T[] {
  return items.filter((item) => (idOf(item) ?? '') === '' || isHeld(item));
}

/** Several times what the largest instances can hold: no cloud shows more. */
const maxInterfaces = 256;
const maxAddresses = 1024;

export function isInterfaceLimit(value: unknown): value is number {
  return isCount(value, maxInterfaces);
}

/** Whether a value can be the number of addresses of an interface. */
export function isAddressLimit(value: unknown): value is number {
  return isCount(value, maxAddresses);
}

function isCount(value: unknown, max: number): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= max;
}

/** The first duplicate. */
export function repeated(items: readonly string[]): string | undefined {
  return new Set(items).size === items.length
    ? undefined
    : items.find((item, index) => items.indexOf(item) < index);
}

/** The problem of the addresses and prefixes of an interface; undefined if there is none. */
export function holdingProblem(
  addresses: readonly string[],
  prefixes: readonly string[] = [],
): string | undefined {
  const wrong = addresses.find((address) => !isOfHost(address));
  if (wrong !== undefined) return `${JSON.stringify(wrong)} is not an IPv4 address`;
  const broken = prefixes.find(
    (prefix) => parseBlock(prefix)?.length !== 28 || !isOfHost(prefix.slice(0, -3)),
  );
  if (broken !== undefined) return `${JSON.stringify(broken)} is not an IPv4 /28 prefix`;
  const twice = repeated([...addresses, ...prefixes]);
  return twice === undefined ? undefined : `it has ${twice} twice`;
}

/** Throws a CloudError if one answer shows an item twice. */
export function refuseRepeated<T>(
  action: string,
  items: readonly T[],
  idOf: (item: T) => string | undefined,
): void {
  const twice = repeated(items.map(idOf).filter((id) => id !== undefined));
  if (twice !== undefined) throw unreadable(action, `${twice} is shown twice`);
}

/**
 * The items of an answer that may be anyone's, as a page tells of them. `problems`: the fault of each. `instanceIds`: the
 * instances that may have them.
 */
export function unclearItems(
  action: string,
  [first, ...others]: readonly string[],
  instanceIds: readonly string[],
): Pick<ObservedPage, 'unclear'> {
  if (first === undefined) return {};
  return { unclear: { count: 1 + others.length, problem: `an item of ${action}: ${first}`, instanceIds } };
}

/** Throws a RangeError: what is read without tags belongs to others. */
export function requireTags({ tags }: DetachedScope): void {
  if (Object.keys(tags).length === 0)
    throw new RangeError('without tags, the interfaces of others would be read');
}

/** The detached interfaces that were asked for. The server may have ignored the filter. */
export function detachedAmong(
  shown: readonly ({ readonly interface: NetworkInterface } | { readonly problem: string })[],
  { tags, networkId, ids }: DetachedScope,
): readonly NetworkInterface[] {
  return shown
    .flatMap((read) => ('interface' in read ? [read.interface] : []))
    .filter((item) => carries(item.tags, tags))
    .filter((item) => networkId === undefined || item.networkId === networkId)
    .filter((item) => ids === undefined || ids.includes(item.id));
}

/** Throws a CloudError if an item belongs to none of the requested owners. */
export function refuseUnrequested<T>(
  action: string,
  asked: readonly string[],
  items: readonly T[],
  ownerOf: (item: T) => string | undefined,
): void {
  const known = new Set(asked);
  const unrequested = items.map(ownerOf).find((owner) => owner !== undefined && !known.has(owner));
  if (unrequested !== undefined) throw unreadable(action, `it shows ${unrequested}, which was not asked for`);
}
