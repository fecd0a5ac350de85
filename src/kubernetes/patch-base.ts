// What our patches are computed from: the parts of a CiliumNode that we write, as they were read.
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
  readonly #pool: ReadonlyMap<string, PoolEntry>;
  /** What stands in the pool beside what the typed pool has. */
  readonly #unreadable: readonly string[];

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
    const rawPool = valueAt(raw, 'spec', 'ipam', 'pool');
    this.#pool = pool;
    this.#unreadable = isObject(rawPool) ? Object.keys(rawPool).filter((key) => !pool.has(key)) : [];
  }

  /** The keys of `spec.ipam.pool`, addresses or not. */
  pooled(): readonly string[] {
    return [...this.#pool.keys(), ...this.#unreadable];
  }
}

function only(value: Json | undefined, ...names: readonly string[]): JsonObject {
  const found: Record<string, Json> = {};
  for (const name of names) {
    const member = memberOf(value, name);
    if (member !== undefined) found[name] = member;
  }
  return found;
}
