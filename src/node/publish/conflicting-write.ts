// Detects a conflicting write: a newer CiliumNode state changes the pool or the provider's status section,
// which only Headwater writes. Pure. Agents write whole objects but send these parts back as they read them,
// bound to the version they read. Older agents drop fields that they do not know.
import type { CiliumNode, PoolEntry } from '../../kubernetes/cilium-node/cilium-node.ts';
import { isObject, type Json, memberOf, valueAt } from '../../kubernetes/transport/json.ts';
import { applyMergePatch } from '../../kubernetes/transport/merge-patch.ts';
import type { OpenWrite } from '../../kubernetes/cilium-node/own-writes.ts';
import { sameOnTheWire } from '../../kubernetes/cilium-node/omitempty.ts';

export type WrittenPart = 'pool' | 'status';

export interface States {
  readonly previous: CiliumNode;
  readonly next: CiliumNode;
  /** The cloud's key in the status. */
  readonly statusKey: string;
  /** Our own writes that may have changed `previous` without a confirmation. */
  readonly open: readonly OpenWrite[];
}

/**
 * Parts whose change none of our writes explains. The parts are checked separately because each takes its own
 * write.
 */
export function conflictingParts({ previous, next, statusKey, open }: States): readonly WrittenPart[] {
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

/** Recently introduced fields. An older agent does not know them and drops them when it writes the status back. */
const droppable: ReadonlySet<string> = new Set(['public-ip', 'ipv6-prefixes']);

/** Compares interfaces one by one, and the rest of the section as a whole. */
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

/** The field under its own name, because the name decides whether it is compared as a map. */
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
