// The JSON of a cloud's section of the status: its interfaces, and what two states of it have together. Pure. Some clouds
// hold interfaces and addresses in maps or lists of texts, others in lists of objects, which a merge patch replaces as a
// whole: the layout says which.
import { isList, isObject, type Json, type JsonObject, memberOf } from '../../kubernetes/transport/json.ts';
import { applyMergePatch } from '../../kubernetes/transport/merge-patch.ts';
import type { StatusLayout } from '../../providers/contract/cilium-node-section.ts';

type Identities = Pick<StatusLayout, 'identifiedBy'>;

/** The interfaces of a status by id. One that has no id, or the id of another one, gets a key of its own. */
export function interfacesIn(
  status: Json | undefined,
  { interfaces, identifiedBy }: Pick<StatusLayout, 'interfaces' | 'identifiedBy'>,
): ReadonlyMap<string, Json> {
  const held = memberOf(status, interfaces);
  const key = identifiedBy[interfaces];
  if (key !== undefined) return isList(held) ? keyed(held, key) : new Map();
  return new Map(isObject(held) ? Object.entries(held) : []);
}

/** Merge patch of the section that applies a patch to each of these interfaces. It removes none. */
export function interfacesPatch(
  published: Json | undefined,
  patches: ReadonlyMap<string, JsonObject>,
  layout: Pick<StatusLayout, 'interfaces' | 'identifiedBy'>,
): JsonObject {
  if (layout.identifiedBy[layout.interfaces] === undefined)
    return { [layout.interfaces]: Object.fromEntries(patches) };
  const known = interfacesIn(published, layout);
  const ids = new Set([...known.keys(), ...patches.keys()]);
  return {
    [layout.interfaces]: [...ids].toSorted().map((id) => {
      const patch = patches.get(id);
      return patch === undefined ? (known.get(id) ?? null) : applyMergePatch(known.get(id), patch);
    }),
  };
}

/**
 * Members of both. If both have a member, the wanted one counts. Lists of texts append what was shown, and lists of items
 * with an identity are sorted by it.
 */
export function unionOf(shown: Json, wanted: Json, layout: Identities): Json {
  if (isObject(shown) && isObject(wanted)) {
    const members = Object.keys({ ...shown, ...wanted }).map((name): [string, Json] => [
      name,
      unionOfMembers(name, [memberOf(shown, name), memberOf(wanted, name)], layout),
    ]);
    return Object.fromEntries(members);
  }
  if (!isTexts(shown) || !isTexts(wanted)) return wanted;
  const present = new Set(wanted);
  return [...wanted, ...shown.filter((text) => !present.has(text))];
}

function unionOfMembers(
  name: string,
  [shown, wanted]: readonly [Json | undefined, Json | undefined],
  layout: Identities,
): Json {
  if (shown === undefined || wanted === undefined) return wanted ?? shown ?? null;
  const key = layout.identifiedBy[name];
  if (key === undefined || !isList(shown) || !isList(wanted)) return unionOf(shown, wanted, layout);
  const both = keyed(shown, key);
  for (const [id, item] of keyed(wanted, key)) {
    const known = both.get(id);
    both.set(id, known === undefined ? item : unionOf(known, item, layout));
  }
  return [...both].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}

/** Merge patch with what `to` has and `from` lacks. It removes nothing; undefined if nothing is missing. */
export function additions(from: Json | undefined, to: Json, layout: Identities, name = ''): Json | undefined {
  if (from === undefined || from === null) return to;
  if (isList(from) && isList(to)) {
    const known = new Set(identities(from, name, layout));
    const all = identities(to, name, layout);
    const added = to.filter((_, index) => !known.has(all[index] ?? null));
    return added.length === 0 ? undefined : [...from, ...added];
  }
  if (!isObject(from) || !isObject(to)) return undefined;
  const members = Object.entries(to).flatMap(([member, value]) => {
    const added = additions(memberOf(from, member), value, layout, member);
    return added === undefined ? [] : [[member, added] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** What the items of a list are known by: a member, or the item itself. */
export function identities(
  items: readonly Json[],
  name: string,
  { identifiedBy }: Identities,
): readonly Json[] {
  const key = identifiedBy[name];
  return key === undefined ? items : items.map((item) => memberOf(item, key) ?? item);
}

function keyed(items: readonly Json[], key: string): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const [index, item] of items.entries()) {
    const id = memberOf(item, key);
    const isKnown = typeof id !== 'string' || found.has(id);
    found.set(isKnown ? `[${index}]` : id, item);
  }
  return found;
}

function isTexts(value: Json): value is readonly string[] {
  return isList(value) && value.every((item) => typeof item === 'string');
}
