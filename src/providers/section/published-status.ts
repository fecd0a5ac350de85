// The base of the published statuses of clouds: interfaces in a map by id, addresses in lists of objects, and no empty field.
// Anyone may have written into them.
import { isAbsent, isObject, listAt, memberOf, textAt } from '../../runtime/json.ts';
import { isIPv4 } from 'node:net';
import type {
  SectionReading,
  ShownInterface,
  ShownInterfaces,
  SkippedEntry,
  StatusContext,
  RestoredState,
} from '../contract/cilium-node-section.ts';
import type { NetworkInterface } from '../contract/network-interface.ts';
import { ipv4Wording, noTexts } from './section-fields.ts';
import type { Network, Subnet } from '../contract/infrastructure.ts';
import { parseBlock } from '../contract/ipv4.ts';

/** Reads the interfaces in `status.<key>.enis`, a map by id. */
export function shownById(
  status: unknown,
  skip: SkippedEntry,
  read: (eni: object, skip: SkippedEntry) => ShownInterface,
): SectionReading<ShownInterfaces> {
  if (isAbsent(status)) return { value: new Map() };
  if (!isObject(status)) return { problems: [{ path: [], accepted: 'an object' }] };
  const enis = memberOf(status, 'enis');
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
  const list = memberOf(item, fields.list);
  if (isAbsent(list)) return noTexts;
  if (!Array.isArray(list)) {
    skip([fields.list], list, 'a list');
    return noTexts;
  }
  return (list as readonly unknown[]).flatMap((entry, index) => {
    const address = text(entry, fields.address);
    if (isIPv4(address)) return [address];
    skip([fields.list, index, fields.address], memberOf(entry, fields.address), ipv4Wording);
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
  const kept = Object.entries(memberOf(status, 'enis') ?? {}).filter(([id]) => !isGone(id));
  return { ...status, enis: Object.fromEntries(kept.map(([id, eni]) => [id, restricted(eni)])) };
}

/** An interface without the addresses that are gone. */
export function withoutAddresses(
  item: unknown,
  fields: AddressFields,
  isGone: (address: string) => boolean,
): unknown {
  const addresses = listAt(item, fields.list);
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

/** Empty if it is no text. */
export function text(value: unknown, name: string): string {
  return textAt(value, name) ?? '';
}

/** The texts of a list. */
export function textsIn(value: unknown, name: string): readonly string[] {
  return listAt(value, name).filter((item) => typeof item === 'string');
}

/** The members of a map, each as a text. */
export function textsByName(value: unknown, name: string): Readonly<Record<string, string>> {
  const entries = Object.entries(memberOf(value, name) ?? {});
  return Object.fromEntries(entries.map(([key, item]) => [key, String(item)]));
}

/** Where an interface names its subnet and its network: the member, and the names in it. */
export interface PlaceNames {
  readonly subnet: readonly [member: string, id: string, cidr: string];
  readonly network: readonly [member: string, id: string, cidr: string, cidrs: string];
}

interface Restoring {
  readonly names: PlaceNames;
  readonly zoneOf: (eni: unknown) => string;
  /** Undefined for an interface that is left out. */
  readonly restored: (
    id: string,
    eni: unknown,
    place: { readonly subnetId: string; readonly networkId: string },
  ) => NetworkInterface | undefined;
}

/**
 * Reads `status.<key>.enis`, a map by id, back: the state known before a restart. What it does not say is empty; a read of the
 * instance shows it again, as it does whatever is left out because agents could not have used it.
 */
export function restoreById(status: unknown, { names, zoneOf, restored }: Restoring): RestoredState {
  const [subnet, subnetId, subnetCidr] = names.subnet;
  const [network, networkId, primaryCidr, cidrs] = names.network;
  const enis = Object.entries(memberOf(status, 'enis') ?? {}).map(([id, eni]: readonly [string, unknown]) => {
    const place = {
      subnetId: text(memberOf(eni, subnet), subnetId),
      networkId: text(memberOf(eni, network), networkId),
    };
    return { id, eni, place };
  });
  return {
    interfaces: enis.flatMap(({ id, eni, place }) => restored(id, eni, place) ?? []),
    subnets: byId(
      enis.flatMap(({ eni, place }) => {
        const cidr = text(memberOf(eni, subnet), subnetCidr);
        return (
          restoredSubnet({ id: place.subnetId, networkId: place.networkId, cidr, zone: zoneOf(eni) }) ?? []
        );
      }),
    ),
    networks: byId(
      enis.flatMap(({ eni, place }) => {
        const shown = memberOf(eni, network);
        const all = { primaryCidr: text(shown, primaryCidr), cidrs: textsIn(shown, cidrs) };
        return restoredNetwork({ id: place.networkId, ...all }) ?? [];
      }),
    ),
  };
}

export function restoredSubnet(
  published: Pick<Subnet, 'id' | 'cidr' | 'networkId' | 'zone'>,
): Subnet | undefined {
  const { id, cidr, networkId } = published;
  if (id === '' || networkId === '' || parseBlock(cidr) === undefined) return undefined;
  return { ...published, tags: {}, freeAddresses: 0, eligible: false };
}

function restoredNetwork({ id, primaryCidr, cidrs }: Network): Network | undefined {
  if (id === '' || parseBlock(primaryCidr) === undefined) return undefined;
  return { id, primaryCidr, cidrs: cidrs.filter((cidr) => parseBlock(cidr) !== undefined) };
}
