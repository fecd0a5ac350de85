// Restores what the status lacks after another writer replaced it: interfaces that the pool names, and facts of
// interfaces that are shown, because agents of multi-pool read addresses there and ignore the pool. Pure. An agent cannot
// set up an address without its interface, so this write precedes any removal or change. It removes nothing.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { isList, isObject, type Json, type JsonObject, memberOf } from '../../runtime/json.ts';
import type { StatusLayout } from '../../providers/contract/cilium-node-section.ts';
import { additions, identities, interfacesIn, interfacesPatch } from './status-section.ts';

/** The offer: the cloud's section of the status, and the pool as interface id by address. */
interface Offered {
  readonly provider: { readonly key: string; readonly layout: StatusLayout; readonly value: Json };
  readonly pool: ReadonlyMap<string, string>;
}

/** Merge patch of the cloud's section that completes those interfaces; undefined if they are complete. */
export function repairOf(node: CiliumNode, { provider, pool }: Offered): JsonObject | undefined {
  const { key, layout, value } = provider;
  const published = memberOf(node.base.status, key);
  const [known, desired] = [interfacesIn(published, layout), interfacesIn(value, layout)];
  const named = namedBy(node, pool);
  const patches = [...desired].flatMap(([id, entry]) => {
    const [shown, addresses] = [known.get(id), named.get(id)];
    if (shown === undefined && addresses === undefined) return [];
    if (!isObject(entry) || isWhole(shown, { entry, addresses, layout })) return [];
    return [[id, additionsTo(shown, entry, layout)] as const];
  });
  if (patches.length === 0) return undefined;
  return { [key]: interfacesPatch(published, new Map(patches), layout) };
}

function additionsTo(known: Json | undefined, entry: JsonObject, layout: StatusLayout): JsonObject {
  const added = additions(known, entry, layout);
  return isObject(added) ? added : {};
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

interface Needed {
  readonly entry: JsonObject;
  /** The addresses that the pool names. */
  readonly addresses: readonly string[] | undefined;
  readonly layout: StatusLayout;
}

/** Whether an agent finds everything it needs to set up the addresses. */
function isWhole(known: Json | undefined, { entry, addresses = [], layout }: Needed): boolean {
  const facts = Object.entries(entry).filter(
    ([member, value]) => !isList(value) && !layout.incidental.has(member),
  );
  const shown = memberOf(known, layout.addresses);
  const listed = new Set(isList(shown) ? identities(shown, layout.addresses, layout) : []);
  return (
    facts.every(([member, value]) => additions(memberOf(known, member), value, layout) === undefined) &&
    addresses.every((address) => listed.has(address))
  );
}
