// Reads the maps of a CiliumNode entry by entry. It reports and skips an invalid entry; the others count.
import { cidrWording, ipv4Wording, isCidr, isIPv4, isIpv4Cidr } from './addresses.ts';
import { type PoolEntry, type PublishedEni, type ReleaseState, releaseStates } from './cilium-node.ts';
import type { FieldPath, FieldProblems } from './field-problem.ts';
import { isList, isObject, type Json, type JsonObject } from '../transport/json.ts';

/** `spec.ipam.pool`. */
export function readPool(raw: JsonObject, problems: FieldProblems): ReadonlyMap<string, PoolEntry> {
  const pool = new Map<string, PoolEntry>();
  // All addresses of an interface share one entry object: thousands of nodes have hundreds of addresses each.
  const shared = new Map<string, PoolEntry>();
  const path = ['spec', 'ipam', 'pool'];
  for (const [address, entry] of Object.entries(raw)) {
    if (!isIPv4(address)) problems.add([...path, address], address, ipv4Wording);
    else if (!isPoolEntry(entry)) problems.add([...path, address], entry, poolEntryWording);
    else pool.set(address, sharedEntry(shared, { resource: entry.resource ?? '', owner: entry.owner ?? '' }));
  }
  return pool;
}

const poolEntryWording = 'an object with the texts resource and owner';

interface RawPoolEntry {
  readonly resource?: string | null;
  readonly owner?: string | null;
}

function isPoolEntry(entry: Json): entry is JsonObject & RawPoolEntry {
  return isObject(entry) && isTextOrNothing(entry['resource']) && isTextOrNothing(entry['owner']);
}

function sharedEntry(shared: Map<string, PoolEntry>, entry: PoolEntry): PoolEntry {
  const key = entry.owner === '' ? entry.resource : `${entry.resource}\n${entry.owner}`;
  const known = shared.get(key);
  if (known !== undefined) return known;
  shared.set(key, entry);
  return entry;
}

/** The addresses of `status.ipam.used`, without their owners. */
export function readUsed(raw: JsonObject, problems: FieldProblems): ReadonlySet<string> {
  const used = new Set<string>();
  for (const address of Object.keys(raw)) {
    if (isIPv4(address)) used.add(address);
    else problems.add(['status', 'ipam', 'used', address], address, ipv4Wording);
  }
  return used;
}

/** `status.ipam.release-ips`. */
export function readReleases(raw: JsonObject, problems: FieldProblems): ReadonlyMap<string, ReleaseState> {
  const releases = new Map<string, ReleaseState>();
  for (const [address, state] of Object.entries(raw)) {
    const path = ['status', 'ipam', 'release-ips', address];
    if (!isIPv4(address)) problems.add(path, address, ipv4Wording);
    else if (isReleaseState(state)) releases.set(address, state);
    else problems.add(path, state, `one of ${releaseStates.join(', ')}`);
  }
  return releases;
}

/** `status.eni.enis`. */
export function readEnis(raw: JsonObject, problems: FieldProblems): ReadonlyMap<string, PublishedEni> {
  const enis = new Map<string, PublishedEni>();
  for (const [id, eni] of Object.entries(raw)) {
    const path = ['status', 'eni', 'enis', id];
    if (!isObject(eni)) {
      problems.add(path, eni, 'an object');
      continue;
    }
    const list = (member: string, isValid: (text: string) => boolean, accepted: string): readonly string[] =>
      entriesOf({ raw: eni[member], path: [...path, member], isValid, accepted }, problems);
    enis.set(id, {
      addresses: list('addresses', isIPv4, ipv4Wording),
      prefixes: list('prefixes', isIpv4Cidr, cidrWording),
      ipv6Prefixes: list('ipv6-prefixes', isCidr, cidrWording),
    });
  }
  return enis;
}

interface Entries {
  readonly raw: Json | undefined;
  readonly path: FieldPath;
  readonly isValid: (text: string) => boolean;
  readonly accepted: string;
}

/** The valid entries of a list. A fully valid list is returned as is, so that memory holds it once. */
function entriesOf({ raw, path, isValid, accepted }: Entries, problems: FieldProblems): readonly string[] {
  if (raw === undefined || raw === null) return [];
  if (!isList(raw)) {
    problems.add(path, raw, 'a list');
    return [];
  }
  const isEntry = (entry: Json): entry is string => typeof entry === 'string' && isValid(entry);
  if (raw.every(isEntry)) return raw;
  return raw.filter((entry, index): entry is string => {
    if (isEntry(entry)) return true;
    problems.add([...path, index], entry, accepted);
    return false;
  });
}

export function isTextOrNothing(value: Json | undefined): value is string | null | undefined {
  return value === undefined || value === null || typeof value === 'string';
}

function isReleaseState(value: Json): value is ReleaseState {
  return (releaseStates as readonly Json[]).includes(value);
}
