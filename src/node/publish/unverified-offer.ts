// Decides the content of a CiliumNode that no Node verifies: what its instance has, plus everything it
// already shows. Pure. Nothing is removed, because it is unknown whose pods use the addresses.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { isList, isObject, type Json, memberOf } from '../../kubernetes/transport/json.ts';
import type { Offer } from './next-write.ts';

/**
 * `onOthers`: addresses that the cloud shows on another instance. They do not belong to this node and are
 * removed anyway. An address that the instance has on another interface by now is shown there alone.
 */
export function unverifiedOffer(offer: Offer, node: CiliumNode, onOthers: ReadonlySet<string>): Offer {
  const { key, value } = offer.provider;
  const elsewhere = new Set([...onOthers, ...offer.pool.keys()]);
  const kept = [...node.ipam.pool].filter(([address]) => !elsewhere.has(address));
  const shown = memberOf(node.base.status, key) ?? {};
  const section = union(shown, value, elsewhere);
  return {
    ...offer,
    provider: { key, value: section },
    interfaces: new Set([...offer.interfaces, ...kept.map(([, { resource }]) => resource)]),
    pool: new Map([...offer.pool, ...kept.map(([address, { resource }]) => [address, resource] as const)]),
    staticIp: offer.staticIp === '' ? undefined : offer.staticIp,
  };
}

/**
 * Members of both. If both have a member, the wanted one counts; lists of strings append what was shown, if it is not
 * elsewhere.
 */
function union(shown: Json, wanted: Json, elsewhere: ReadonlySet<string>): Json {
  if (isObject(shown) && isObject(wanted)) {
    const members = Object.keys({ ...shown, ...wanted }).map((name): [string, Json] => [
      name,
      unionOf(memberOf(shown, name), memberOf(wanted, name), elsewhere),
    ]);
    return Object.fromEntries(members);
  }
  if (!isTexts(shown) || !isTexts(wanted)) return wanted;
  const present = new Set(wanted);
  return [...wanted, ...shown.filter((text) => !present.has(text) && !elsewhere.has(text))];
}

function unionOf(shown: Json | undefined, wanted: Json | undefined, elsewhere: ReadonlySet<string>): Json {
  if (shown === undefined) return wanted ?? null;
  if (wanted !== undefined) return union(shown, wanted, elsewhere);
  return withoutThese(shown, elsewhere);
}

function withoutThese(shown: Json, elsewhere: ReadonlySet<string>): Json {
  if (isTexts(shown)) return shown.filter((text) => !elsewhere.has(text));
  if (!isObject(shown)) return shown;
  return Object.fromEntries(
    Object.entries(shown).map(([name, each]) => [name, withoutThese(each, elsewhere)]),
  );
}

function isTexts(value: Json): value is readonly string[] {
  return isList(value) && value.every((item) => typeof item === 'string');
}
