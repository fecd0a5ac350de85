// Reads the maps of a CiliumNode entry by entry. It reports and skips an invalid entry; the others count.
import { isIPv4 } from 'node:net';
import { ipv4Wording } from '../../providers/section/section-fields.ts';
import { type PoolEntry, type ReleaseState, releaseStates } from './cilium-node.ts';
import type { FieldProblems } from './field-problems.ts';
import { isObject, type Json, type JsonObject, textAt, valueAt } from '../../runtime/json.ts';

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

/** The owners in `status.ipam.used`: pods by `namespace/name`, and what the host uses. */
export function* ownersOfUsed(raw: JsonObject): Generator<string> {
  const used = valueAt(raw, 'status', 'ipam', 'used');
  if (!isObject(used)) return;
  for (const entry of Object.values(used)) {
    const owner = textAt(entry, 'owner');
    if (owner !== undefined) yield owner;
  }
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

export function isTextOrNothing(value: Json | undefined): value is string | null | undefined {
  return value === undefined || value === null || typeof value === 'string';
}

function isReleaseState(value: Json): value is ReleaseState {
  return (releaseStates as readonly Json[]).includes(value);
}
