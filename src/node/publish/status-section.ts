// The JSON of a cloud's section of the status: its interfaces, and what two states of it have together. Pure. Some clouds
// hold interfaces and addresses in maps or lists of texts, others in lists of objects, which a merge patch replaces as a
// whole: the layout says which. Members that Headwater does not write belong to others: they stay until their interface
// goes, and are never a difference.
import { sameField, sameOnTheWire } from '../../kubernetes/cilium-node/omitempty.ts';
import { isList, isObject, type Json, type JsonObject, memberOf } from '../../runtime/json.ts';
import { applyMergePatch, mergePatch } from '../../kubernetes/transport/merge-patch.ts';
import type {
  CiliumNodeSection,
  OwnedMembers,
  StatusLayout,
} from '../../providers/contract/cilium-node-section.ts';

type Identities = Pick<StatusLayout, 'identifiedBy'>;

/**
 * The layout without fields of an interface that the API server drops, as far as known: Headwater cannot write them, so what is
 * there belongs to others.
 */
export function writableLayout(
  section: Pick<CiliumNodeSection, 'key' | 'layout'>,
  knows: (path: readonly string[]) => boolean,
): StatusLayout {
  const { layout } = section;
  const fields = Object.entries(layout.owned);
  const known = fields.filter(([name]) => knows(pathOfField(section, name)));
  return known.length === fields.length ? layout : { ...layout, owned: Object.fromEntries(known) };
}

/** Where the API server keeps a field of an interface, whichever it is. */
export function pathOfField(
  { key, layout }: Pick<CiliumNodeSection, 'key' | 'layout'>,
  name: string,
): readonly string[] {
  return ['status', key, layout.interfaces, '*', name];
}

/** The interfaces of a status by id. One that has no id, or the id of another one, gets a key of its own. */
export function interfacesIn(
  status: Json | undefined,
  { interfaces, identifiedBy }: Pick<StatusLayout, 'interfaces' | 'identifiedBy'>,
): ReadonlyMap<string, Json> {
  const held = memberOf(status, interfaces);
  const key = identifiedBy.get(interfaces);
  if (key !== undefined) return isList(held) ? keyed(held, key) : new Map();
  return new Map(isObject(held) ? Object.entries(held) : []);
}

type Fields = Pick<StatusLayout, 'interfaces' | 'identifiedBy' | 'owned'>;

/** Merge patch of the section to what is wanted; undefined if nothing that Headwater writes differs. */
export function sectionPatch(published: Json | undefined, wanted: Json, layout: Fields): Json | undefined {
  if (sameOnTheWire(published, wanted)) return undefined;
  const merged = withOthers(published, wanted, layout);
  return sameOnTheWire(published, merged) ? undefined : mergePatch(published, merged);
}

/** The wanted section, with the members of others, and with the published form where both are equal. */
function withOthers(published: Json | undefined, wanted: Json, layout: Fields): Json {
  if (!isObject(published) || !isObject(wanted)) return wanted;
  const [known, desired] = [interfacesIn(published, layout), interfacesIn(wanted, layout)];
  const merged = [...desired].map(([id, item]): [string, Json] => [
    id,
    mergedFields(known.get(id), item, layout.owned, layout),
  ]);
  const isKeyed = layout.identifiedBy.get(layout.interfaces) !== undefined;
  const interfaces = isKeyed ? merged.map(([, item]) => item) : Object.fromEntries(merged);
  return { ...published, ...wanted, [layout.interfaces]: interfaces };
}

function mergedFields(known: Json | undefined, wanted: Json, owned: OwnedMembers, layout: Identities): Json {
  if (!isObject(known) || !isObject(wanted)) return wanted;
  const names = new Set([...Object.keys(known), ...Object.keys(wanted)]);
  const members = [...names].flatMap((name) => {
    const [before, after] = [memberOf(known, name), memberOf(wanted, name)];
    const ours = Object.hasOwn(owned, name) ? owned[name] : undefined;
    const merged = ours === undefined ? before : mergedField(name, [before, after], ours, layout);
    return merged === undefined ? [] : [[name, merged] as const];
  });
  return Object.fromEntries(members);
}

function mergedField(
  name: string,
  [known, wanted]: readonly [Json | undefined, Json | undefined],
  owned: OwnedMembers | 'whole',
  layout: Identities,
): Json | undefined {
  if (known !== undefined && sameField(name, known, wanted)) return known;
  if (owned === 'whole') return wanted;
  if (isList(known) && isList(wanted))
    return mergedItems(known, wanted, { key: layout.identifiedBy.get(name), owned, layout });
  if (!isObject(known)) return wanted;
  const merged = mergedFields(known, wanted ?? {}, owned, layout);
  return sameField(name, merged, undefined) ? wanted : merged;
}

function mergedItems(
  known: readonly Json[],
  wanted: readonly Json[],
  by: { readonly key: string | undefined; readonly owned: OwnedMembers; readonly layout: Identities },
): Json {
  const { key } = by;
  if (key === undefined) return wanted;
  const items = keyed(known, key);
  return wanted.map((item) => {
    const id = memberOf(item, key);
    return mergedFields(typeof id === 'string' ? items.get(id) : undefined, item, by.owned, by.layout);
  });
}

/** Whether two states of one field of an interface are equal in what Headwater writes. */
export function sameOwned(
  name: string,
  [a, b]: readonly [Json | undefined, Json | undefined],
  owned: OwnedMembers | 'whole',
): boolean {
  return sameField(name, a, b) || sameField(name, onlyOwned(a, owned), onlyOwned(b, owned));
}

function onlyOwned(value: Json | undefined, owned: OwnedMembers | 'whole'): Json | undefined {
  if (owned === 'whole' || value === undefined) return value;
  if (isList(value)) return value.map((item) => onlyOwned(item, owned) ?? null);
  if (!isObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const ours = Object.hasOwn(owned, name) ? owned[name] : undefined;
    return ours === undefined ? [] : [[name, onlyOwned(member, ours) ?? null] as const];
  });
  return Object.fromEntries(members);
}

/** Merge patch of the section that applies a patch to each of these interfaces. It removes none. */
export function interfacesPatch(
  published: Json | undefined,
  patches: ReadonlyMap<string, JsonObject>,
  layout: Pick<StatusLayout, 'interfaces' | 'identifiedBy'>,
): JsonObject {
  if (layout.identifiedBy.get(layout.interfaces) === undefined)
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
  const key = layout.identifiedBy.get(name);
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

/** The keys of the items of a list: a member of each, or the item itself. */
export function identities(
  items: readonly Json[],
  name: string,
  { identifiedBy }: Identities,
): readonly Json[] {
  const key = identifiedBy.get(name);
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
