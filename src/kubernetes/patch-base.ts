// What our patches are computed from: the parts of a CiliumNode that we write, as they were read.
import { isIPv4 } from './addresses.ts';
import type { PoolEntry } from './cilium-node.ts';
import { lastManagerOf } from './field-managers.ts';
import { isObject, type Json, type JsonObject, memberOf, valueAt } from './json.ts';

/** The clouds' sections of the status. */
const sectionNames = ['eni', 'azure', 'alibaba-cloud'] as const;

/**
 * The parts that we write, exactly as they were read and in their places. Nothing is left out for being wrong.
 */
export class PatchBase {
  /** The clouds' sections, and of `ipam`: `operator-status`, `release-ips` and `assigned-static-ip`. */
  readonly status: JsonObject;
  /** Field managers that last wrote the pool, and the clouds' sections of the status; undefined where nobody says. */
  readonly managers: { readonly pool: string | undefined; readonly status: string | undefined };
  readonly #preAllocate: Json | undefined;
  /**
   * Undefined when it is what we write ourselves: then it can be made of the typed pool, and a pool of hundreds of
   * addresses on thousands of nodes is in memory once instead of twice.
   */
  readonly #irregularPool: Json | undefined;
  readonly #pool: ReadonlyMap<string, PoolEntry> | undefined;

  /** `pool` is the typed form of the pool within `raw`. */
  constructor(raw: JsonObject, pool: ReadonlyMap<string, PoolEntry>) {
    const sections = only(valueAt(raw, 'status'), ...sectionNames);
    const ipam = only(valueAt(raw, 'status', 'ipam'), 'operator-status', 'release-ips', 'assigned-static-ip');
    this.status = { ...sections, ...(Object.keys(ipam).length > 0 && { ipam }) };
    const sectionManagers = sectionNames.map((name) => lastManagerOf(raw, 'status', name));
    this.managers = {
      pool: lastManagerOf(raw, 'spec', 'ipam', 'pool'),
      status: sectionManagers.find((manager) => manager !== undefined),
    };
    this.#preAllocate = valueAt(raw, 'spec', 'ipam', 'pre-allocate');
    const rawPool = valueAt(raw, 'spec', 'ipam', 'pool');
    if (isRegular(rawPool)) this.#pool = pool;
    else this.#irregularPool = rawPool;
  }

  /** Of `ipam`: `pool` and `pre-allocate`. Made anew on each call. */
  spec(): JsonObject {
    const pool = this.#pool === undefined ? this.#irregularPool : poolJson(this.#pool);
    const ipam = {
      ...(pool !== undefined && { pool }),
      ...(this.#preAllocate !== undefined && { 'pre-allocate': this.#preAllocate }),
    };
    return Object.keys(ipam).length === 0 ? {} : { ipam };
  }
}

/** Whether the typed pool says all that this says. */
function isRegular(pool: Json | undefined): pool is JsonObject {
  return (
    isObject(pool) &&
    Object.entries(pool).every(([address, entry]) => isIPv4(address) && isRegularEntry(entry))
  );
}

function isRegularEntry(entry: Json): boolean {
  if (!isObject(entry)) return false;
  const { resource } = entry;
  return typeof resource === 'string' && resource !== '' && Object.keys(entry).length === 1;
}

function poolJson(pool: ReadonlyMap<string, PoolEntry>): JsonObject {
  return Object.fromEntries([...pool].map(([address, { resource }]) => [address, { resource }] as const));
}

function only(value: Json | undefined, ...names: readonly string[]): JsonObject {
  const members = names.flatMap((name) => {
    const found = memberOf(value, name);
    return found === undefined ? [] : [[name, found] as const];
  });
  return Object.fromEntries(members);
}
