// What of a value reaches the other side. Cilium is written in Go and marks its fields `omitempty`: zero, false, the empty
// text, the empty map or list, null and absence are one and the same in a CiliumNode, and which of them is read back is
// chance. The entries of a map are another matter: a tag with the empty value is a tag.
import { isList, isObject, type Json, type JsonObject } from './json.ts';
import { isEqual } from './merge-patch.ts';

/** Members of a CiliumNode that are maps, with entries that somebody names; every other object has fixed fields. */
const maps: ReadonlySet<string> = new Set([
  'pool',
  'ipv6-pool',
  'used',
  'ipv6-used',
  'release-ips',
  'release-ipv6s',
  'enis',
  'tags',
  'static-ip-tags',
]);

/**
 * `value` without its empty fields; undefined when nothing is left. Entries of maps and items of lists stay, empty or not.
 * To be given a part of a CiliumNode's spec or status, not `spec.eni`, where `false` and absence differ.
 */
export function wireForm(value: Json | undefined): Json | undefined {
  if (isList(value)) return value.length === 0 ? undefined : value.map((item) => formOfEntry(item));
  if (!isObject(value)) return value === null || !value ? undefined : value;
  const fields = Object.entries(value).flatMap(([name, inner]) => {
    const form = maps.has(name) && isObject(inner) ? formOfMap(inner) : wireForm(inner);
    return form === undefined ? [] : [[name, form] as const];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

/** Whether two values at the same place of a CiliumNode are the same to whoever reads them. */
export function sameOnTheWire(a: Json | undefined, b: Json | undefined): boolean {
  return isEqual(wireForm(a), wireForm(b));
}

function formOfMap(map: JsonObject): JsonObject | undefined {
  const entries = Object.entries(map).filter(([, value]) => value !== null);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([key, value]) => [key, formOfEntry(value)] as const));
}

function formOfEntry(entry: Json): Json {
  return isObject(entry) ? (wireForm(entry) ?? {}) : entry;
}
