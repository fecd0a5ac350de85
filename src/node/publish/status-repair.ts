// Restores interfaces that the pool names but the status lacks after a conflicting writer replaced the
// status. Pure. An agent cannot set up an address without its interface, so this write precedes any removal
// or change. It removes nothing.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { isList, isObject, type Json, type JsonObject, memberOf } from '../../kubernetes/transport/json.ts';

/** What to offer: the cloud's section of the status, and the pool as interface id by address. */
interface Offered {
  readonly provider: { readonly key: string; readonly value: Json };
  readonly pool: ReadonlyMap<string, string>;
}

/** Merge patch of the cloud's section that completes those interfaces; undefined if they are complete. */
export function repairOf(node: CiliumNode, { provider, pool }: Offered): JsonObject | undefined {
  const published = memberOf(node.base.status, provider.key);
  const named = namedBy(node, pool);
  const members = Object.entries(isObject(provider.value) ? provider.value : {}).flatMap(
    ([member, desired]) => {
      const patch = repairEach(named, memberOf(published, member), desired);
      return patch === undefined ? [] : [[member, patch] as const];
    },
  );
  return members.length === 0 ? undefined : { [provider.key]: Object.fromEntries(members) };
}

/** Addresses that the pool has and keeps, by interface. */
function namedBy({ ipam }: CiliumNode, pool: Offered['pool']): ReadonlyMap<string, readonly string[]> {
  const named = new Map<string, string[]>();
  for (const [address, id] of pool) {
    if (ipam.pool.get(address)?.resource !== id) continue;
    const addresses = named.get(id) ?? [];
    addresses.push(address);
    named.set(id, addresses);
  }
  return named;
}

/** Repairs a member that holds interfaces by id. */
function repairEach(
  named: ReadonlyMap<string, readonly string[]>,
  published: Json | undefined,
  desired: Json,
): JsonObject | undefined {
  const patches = [...named].flatMap(([id, addresses]) => {
    const entry = memberOf(desired, id);
    const known = memberOf(published, id);
    if (!isObject(entry) || isWhole(known, entry, addresses)) return [];
    return [[id, additions(known, entry) ?? {}] as const];
  });
  return patches.length === 0 ? undefined : Object.fromEntries(patches);
}

/** Fields that an agent does not need to set up an address. */
const incidental: ReadonlySet<string> = new Set(['description', 'public-ip', 'tags']);

/** Whether an agent finds everything it needs to set up the addresses. */
function isWhole(known: Json | undefined, entry: JsonObject, addresses: readonly string[]): boolean {
  const facts = Object.entries(entry).filter(([member, value]) => !isList(value) && !incidental.has(member));
  const shown = memberOf(known, 'addresses');
  const listed = new Set(isList(shown) ? shown : []);
  return (
    facts.every(([member, value]) => additions(memberOf(known, member), value) === undefined) &&
    addresses.every((address) => listed.has(address))
  );
}

/** Merge patch with what `to` has and `from` lacks. It removes nothing; undefined if nothing is missing. */
function additions(from: Json | undefined, to: Json): Json | undefined {
  if (from === undefined || from === null) return to;
  if (isList(from) && isList(to)) {
    const known = new Set(from);
    const added = to.filter((item) => !known.has(item));
    return added.length === 0 ? undefined : [...from, ...added];
  }
  if (!isObject(from) || !isObject(to)) return undefined;
  const members = Object.entries(to).flatMap(([member, value]) => {
    const added = additions(memberOf(from, member), value);
    return added === undefined ? [] : [[member, added] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
