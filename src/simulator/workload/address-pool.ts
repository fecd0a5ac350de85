// `spec.ipam.pool` as an agent of the CRD allocator reads it.
import { isObject, type JsonObject, textAt, valueAt } from './json.ts';

export interface PoolEntry {
  /** Id of the interface that carries the address. */
  readonly resource: string;
  /** If set, the address is reserved for this owner. */
  readonly owner: string;
}

export type AddressPool = ReadonlyMap<string, PoolEntry>;

/** Undefined while the field is absent or null, which differs from an empty pool. */
export function addressPoolOf(node: JsonObject): AddressPool | undefined {
  const entries = valueAt(node, 'spec', 'ipam', 'pool');
  if (!isObject(entries)) return undefined;

  const pool = new Map<string, PoolEntry>();
  for (const [address, entry] of Object.entries(entries)) {
    pool.set(address, { resource: textAt(entry, 'resource'), owner: textAt(entry, 'owner') });
  }
  return pool;
}
