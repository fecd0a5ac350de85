// Whether a newer state of a CiliumNode holds a write of somebody else to what only Headwater writes: the pool, and the
// provider's section of the status. Pure. Agents write whole objects too, but never these parts: they send them back as
// they read them, bound to the version they read, and an older agent drops fields that it does not know.
import type { CiliumNode, PoolEntry } from '../kubernetes/cilium-node.ts';
import { isObject, type Json, memberOf, valueAt } from '../kubernetes/json.ts';
import { applyMergePatch } from '../kubernetes/merge-patch.ts';
import type { OpenWrite } from '../kubernetes/own-writes.ts';
import { sameOnTheWire } from '../kubernetes/wire-form.ts';

export type WrittenPart = 'pool' | 'status';

export interface States {
  readonly previous: CiliumNode;
  readonly next: CiliumNode;
  /** The cloud's key in the status. */
  readonly statusKey: string;
  /** Writes of ours that may have changed `previous` unseen. */
  readonly open: readonly OpenWrite[];
}

/** Parts that differ from `previous` as no write of ours explains; both parts are two writes. */
export function foreignParts({ previous, next, statusKey, open }: States): readonly WrittenPart[] {
  const before = { pool: previous.ipam.pool, section: memberOf(previous.base.status, statusKey) };
  const after = { pool: next.ipam.pool, section: memberOf(next.base.status, statusKey) };
  const pools = [before.pool, ...open.map((write) => poolAfter(before.pool, write))];
  const sections = [before.section, ...open.map((write) => sectionAfter(before.section, write, statusKey))];
  const isPoolOurs = pools.some((pool) => isSamePool(pool, after.pool));
  const isSectionOurs = sections.some((section) => isSameSection(section, after.section));
  return [...(isPoolOurs ? [] : (['pool'] as const)), ...(isSectionOurs ? [] : (['status'] as const))];
}

type Pool = ReadonlyMap<string, PoolEntry>;

function poolAfter(pool: Pool, { part, patch }: OpenWrite): Pool {
  const changes = part === 'spec' ? valueAt(patch, 'ipam', 'pool') : undefined;
  if (!isObject(changes)) return pool;
  const after = new Map(pool);
  for (const [address, entry] of Object.entries(changes)) {
    const resource = memberOf(entry, 'resource');
    if (typeof resource === 'string') after.set(address, { resource, owner: '' });
    else after.delete(address);
  }
  return after;
}

function sectionAfter(section: Json | undefined, { part, patch }: OpenWrite, key: string): Json | undefined {
  const change = part === 'status' ? memberOf(patch, key) : undefined;
  return change === undefined ? section : applyMergePatch(section, change);
}

function isSamePool(a: Pool, b: Pool): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  return [...a].every(([address, { resource, owner }]) => {
    const other = b.get(address);
    return other?.resource === resource && other.owner === owner;
  });
}

/** Fields that came late: an older agent does not know them, and drops them when it writes the status back. */
const droppable: ReadonlySet<string> = new Set(['public-ip', 'ipv6-prefixes']);

/** Interfaces are compared one by one, everything beside them as it is. */
function isSameSection(a: Json | undefined, b: Json | undefined): boolean {
  const [enisOfA, enisOfB] = [interfacesIn(a), interfacesIn(b)];
  const ids = new Set([...Object.keys(enisOfA), ...Object.keys(enisOfB)]);
  const isSame = [...ids].every((id) => isSameInterface(memberOf(enisOfA, id), memberOf(enisOfB, id)));
  return isSame && sameOnTheWire(withoutInterfaces(a), withoutInterfaces(b));
}

function isSameInterface(before: Json | undefined, after: Json | undefined): boolean {
  if (!isObject(before) || !isObject(after)) return false;
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].every((field) => {
    const isDropped = memberOf(after, field) === undefined && droppable.has(field);
    return isDropped || sameOnTheWire(alone(before, field), alone(after, field));
  });
}

/** The field under its name, which says whether it is a map. */
function alone(object: Json, field: string): Json {
  return { [field]: memberOf(object, field) ?? null };
}

function interfacesIn(section: Json | undefined): { readonly [id: string]: Json } {
  const enis = memberOf(section, 'enis');
  return isObject(enis) ? enis : {};
}

function withoutInterfaces(section: Json | undefined): Json | undefined {
  if (!isObject(section)) return section;
  return Object.fromEntries(Object.entries(section).filter(([member]) => member !== 'enis'));
}
