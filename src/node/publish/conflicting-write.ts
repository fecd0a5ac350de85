// Detects a conflicting write: a newer CiliumNode state changes the pool or the provider's status section,
// which only Headwater writes. Pure. Agents write whole objects but send these parts back as they read them,
// bound to the version they read. Older agents drop fields that they do not know. Members that Headwater does not write
// belong to others, who may change them.
import type { CiliumNode, PoolEntry } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { CiliumNodeSection, StatusLayout } from '../../providers/contract/cilium-node-section.ts';
import { isObject, type Json, memberOf, valueAt } from '../../runtime/json.ts';
import { applyMergePatch } from '../../kubernetes/transport/merge-patch.ts';
import { protocolOf } from '../demand/demand.ts';
import type { OpenWrite } from '../../kubernetes/cilium-node/own-writes.ts';
import { interfacesIn, sameOwned } from './status-section.ts';

export type WrittenPart = 'pool' | 'status';

export interface States {
  readonly previous: CiliumNode;
  readonly next: CiliumNode;
  readonly section: Pick<CiliumNodeSection, 'key' | 'layout'>;
  /** Our own writes that may have changed `previous` without a confirmation. */
  readonly open: readonly OpenWrite[];
}

/**
 * Parts whose change none of our writes explains. The parts are checked separately because each takes its own
 * write.
 */
export function conflictingParts({ previous, next, section, open }: States): readonly WrittenPart[] {
  const { key, layout } = section;
  const before = { pool: previous.ipam.pool, section: memberOf(previous.base.status, key) };
  const after = { pool: next.ipam.pool, section: memberOf(next.base.status, key) };
  const pools = [before.pool, ...open.map((write) => poolAfter(before.pool, write))];
  const sections = [before.section, ...open.map((write) => sectionAfter(before.section, write, key))];
  const isPoolOurs = pools.some((pool) => isSamePool(pool, after.pool));
  // Agents that request pools know all of the fields.
  const droppable = protocolOf(next) === 'crd' ? layout.droppable : none;
  const known = { ...layout, droppable };
  const isSectionOurs = sections.some((published) => isSameSection(published, after.section, known));
  return [...(isPoolOurs ? [] : (['pool'] as const)), ...(isSectionOurs ? [] : (['status'] as const))];
}

/**
 * Whether the change sets a value in this part. Only then does its field manager say who wrote it: a writer that only removes
 * leaves no trace there.
 */
export function setsValue(
  { previous, next, section }: Pick<States, 'previous' | 'next' | 'section'>,
  part: WrittenPart,
): boolean {
  if (part === 'pool')
    return [...next.ipam.pool].some(
      ([address, entry]) => !isSameEntry(previous.ipam.pool.get(address), entry),
    );
  const { key, layout } = section;
  const before = interfacesIn(memberOf(previous.base.status, key), layout);
  return [...interfacesIn(memberOf(next.base.status, key), layout)].some(([id, item]) =>
    Object.entries(layout.owned).some(([field, owned]) => {
      const value = memberOf(item, field);
      return value !== undefined && !sameOwned(field, [memberOf(before.get(id), field), value], owned);
    }),
  );
}

const none: ReadonlySet<string> = new Set();

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
  return [...a].every(([address, entry]) => isSameEntry(b.get(address), entry));
}

function isSameEntry(a: PoolEntry | undefined, { resource, owner }: PoolEntry): boolean {
  return a?.resource === resource && a.owner === owner;
}

/** Compares what Headwater writes, interface by interface. */
function isSameSection(a: Json | undefined, b: Json | undefined, layout: StatusLayout): boolean {
  const [before, after] = [interfacesIn(a, layout), interfacesIn(b, layout)];
  const ids = new Set([...before.keys(), ...after.keys()]);
  return [...ids].every((id) => isSameInterface(before.get(id), after.get(id), layout));
}

function isSameInterface(before: Json | undefined, after: Json | undefined, layout: StatusLayout): boolean {
  if (!isObject(before) || !isObject(after)) return false;
  return Object.entries(layout.owned).every(([field, owned]) => {
    const isDropped = memberOf(after, field) === undefined && layout.droppable.has(field);
    return isDropped || sameOwned(field, [memberOf(before, field), memberOf(after, field)], owned);
  });
}
