// The base of our patches: the parts of a CiliumNode that we write, as read.
import { isObject, type Json, type JsonObject, memberOf, valueAt } from '../../runtime/json.ts';
import { lastManagerOf } from '../field-managers.ts';

/** Holds the parts that we write, exactly as read and in place. It keeps invalid values too. */
export class PatchBase {
  /** The cloud's section, and `operator-status`, `release-ips` and `assigned-static-ip` of `ipam`. */
  readonly status: JsonObject;
  /**
   * The last field managers of the pool and of the cloud's section of the status; undefined where it is us, or not
   * recorded: a writer that only removes fields leaves no trace.
   */
  readonly managers: { readonly pool: string | undefined; readonly status: string | undefined };
  readonly #pool: ReadonlyMap<string, unknown>;
  /** Pool keys that the typed pool lacks. */
  readonly #unreadable: readonly string[];

  /** `pool` is the typed form of the pool within `raw`, `section` the key of the cloud's section. */
  constructor(raw: JsonObject, pool: ReadonlyMap<string, unknown>, section: string) {
    const published = only(valueAt(raw, 'status'), section);
    const ipam = only(valueAt(raw, 'status', 'ipam'), 'operator-status', 'release-ips', 'assigned-static-ip');
    this.status = { ...published, ...(Object.keys(ipam).length > 0 && { ipam }) };
    this.managers = {
      pool: lastManagerOf(raw, 'spec', 'ipam', 'pool'),
      status: lastManagerOf(raw, 'status', section),
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
