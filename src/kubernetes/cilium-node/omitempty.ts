// Decides which parts of a value survive the wire. Cilium's Go fields are `omitempty`: zero, false, the empty string,
// map or list, null and absence are equivalent in a CiliumNode. A read may return any of them. Map entries differ: a
// tag with an empty value is a tag.
import { isList, isObject, type Json, type JsonObject, memberOf } from '../../runtime/json.ts';
import { isEqual } from '../transport/merge-patch.ts';

/** Members of a CiliumNode that are maps with free keys; every other object has fixed fields. */
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
 * Whether two values at the same place in a CiliumNode's spec or status are equivalent to its readers. Map entries and
 * list items count even when empty. Do not use it on `spec.eni`, where `false` and absence differ.
 */
export function sameOnTheWire(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, index) => sameEntry(item, b[index]));
  return isObject(a) && isObject(b) && sameFields(a, b);
}

function sameFields(a: JsonObject, b: JsonObject): boolean {
  for (const name of Object.keys(a)) if (!sameField(name, a[name], memberOf(b, name))) return false;
  for (const name of Object.keys(b))
    if (!Object.hasOwn(a, name) && !isEmptyField(name, b[name])) return false;
  return true;
}

/** Whether two values of the field `name` are equivalent. The name decides whether they are maps. */
export function sameField(name: string, a: Json | undefined, b: Json | undefined): boolean {
  if (isMap(name, a) && isMap(name, b)) return sameMap(a, b);
  if (isEmptyField(name, a) || isEmptyField(name, b)) return isEmptyField(name, a) && isEmptyField(name, b);
  return !isMap(name, a) && !isMap(name, b) && sameOnTheWire(a, b);
}

function sameMap(a: JsonObject, b: JsonObject): boolean {
  for (const key of Object.keys(a))
    if (!sameEntry(a[key] ?? undefined, memberOf(b, key) ?? undefined)) return false;
  return Object.keys(b).every((key) => b[key] === null || (memberOf(a, key) ?? null) !== null);
}

function sameEntry(a: Json | undefined, b: Json | undefined): boolean {
  return isObject(a) && isObject(b) ? sameFields(a, b) : isEqual(a, b);
}

function isMap(name: string, value: Json | undefined): value is JsonObject {
  return maps.has(name) && isObject(value);
}

function isEmptyField(name: string, value: Json | undefined): boolean {
  if (!isMap(name, value)) return isEmpty(value);
  return Object.values(value).every((entry) => entry === null);
}

function isEmpty(value: Json | undefined): boolean {
  if (isList(value)) return value.length === 0;
  if (!isObject(value)) return !value;
  for (const name of Object.keys(value)) if (!isEmptyField(name, value[name])) return false;
  return true;
}
