// The base of the published statuses of clouds: interfaces in a map by id, addresses in lists of objects, and no empty field.
import { isObject } from '../../runtime/json.ts';
import { isIPv4 } from 'node:net';
import type {
  SectionReading,
  ShownInterface,
  ShownInterfaces,
  SkippedEntry,
  StatusContext,
} from '../contract/cilium-node-section.ts';
import type { NetworkInterface } from '../contract/network-interface.ts';
import { isAbsent, items, member, text } from './published-json.ts';
import { ipv4Wording, noTexts } from './section-fields.ts';

/** Reads the interfaces in `status.<key>.enis`, a map by id. */
export function shownById(
  status: unknown,
  skip: SkippedEntry,
  read: (eni: object, skip: SkippedEntry) => ShownInterface,
): SectionReading<ShownInterfaces> {
  if (isAbsent(status)) return { value: new Map() };
  if (!isObject(status)) return { problems: [{ path: [], accepted: 'an object' }] };
  const enis = member(status, 'enis');
  if (isAbsent(enis)) return { value: new Map() };
  if (!isObject(enis)) return { problems: [{ path: ['enis'], accepted: 'a map' }] };
  const interfaces = new Map<string, ShownInterface>();
  for (const [id, eni] of Object.entries(enis)) {
    const within: SkippedEntry = (path, ...said) => skip(['enis', id, ...path], ...said);
    if (isObject(eni)) interfaces.set(id, read(eni, within));
    else within([], eni, 'an object');
  }
  return { value: interfaces };
}

/** Where an interface lists its addresses: the list, and the field of the address in each object. */
export interface AddressFields {
  readonly list: string;
  readonly address: string;
}

export function shownAddresses(item: object, fields: AddressFields, skip: SkippedEntry): readonly string[] {
  const list = member(item, fields.list);
  if (isAbsent(list)) return noTexts;
  if (!Array.isArray(list)) {
    skip([fields.list], list, 'a list');
    return noTexts;
  }
  return (list as readonly unknown[]).flatMap((entry, index) => {
    const address = text(entry, fields.address);
    if (isIPv4(address)) return [address];
    skip([fields.list, index, fields.address], member(entry, fields.address), ipv4Wording);
    return [];
  });
}

/** A published `status.<key>`, whose `enis` are a map by id, without the interfaces that are gone. */
export function withoutById(
  status: unknown,
  isGone: (id: string) => boolean,
  restricted: (eni: unknown) => unknown,
): unknown {
  if (!isObject(status)) return {};
  const kept = Object.entries(member(status, 'enis') ?? {}).filter(([id]) => !isGone(id));
  return { ...status, enis: Object.fromEntries(kept.map(([id, eni]) => [id, restricted(eni)])) };
}

/** An interface without the addresses that are gone. */
export function withoutAddresses(
  item: unknown,
  fields: AddressFields,
  isGone: (address: string) => boolean,
): unknown {
  const addresses = items(item, fields.list);
  const kept = addresses.filter((entry) => !isGone(text(entry, fields.address)));
  return kept.length === addresses.length ? item : { ...(item as object), [fields.list]: kept };
}

/** The addresses of an interface without prefixes that agents are shown. */
export function publishedAddresses(item: NetworkInterface, context: StatusContext): readonly string[] {
  const { unfit, retired, excluded, usePrimaryAddress } = context;
  const isFit = !unfit.has(item.id);
  const isPrimaryShown = (isFit && usePrimaryAddress) || retired.has(item.primaryAddress);
  const secondary = item.addresses.filter((address) => isFit || retired.has(address));
  const all = new Set([...(isPrimaryShown ? [item.primaryAddress] : []), ...secondary]);
  return [...all].filter((address) => !excluded.has(address) && isIPv4(address));
}

/** Empty fields are omitted as Go's omitempty does. */
export function withoutEmpty(value: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(value)) if (!isEmpty(value[name])) kept[name] = value[name];
  return kept;
}

function isEmpty(item: unknown): boolean {
  if (item === undefined || item === '' || item === 0) return true;
  // Object.keys on a list would allocate a string for each of hundreds of addresses.
  if (Array.isArray(item)) return item.length === 0;
  return isObject(item) && Object.keys(item).length === 0;
}

export function byId<T extends { readonly id: string }>(all: readonly T[]): ReadonlyMap<string, T> {
  return new Map(all.map((item) => [item.id, item]));
}
