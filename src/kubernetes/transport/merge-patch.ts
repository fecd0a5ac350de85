// Computes and applies JSON merge patches: https://www.rfc-editor.org/rfc/rfc7386. They merge objects member by member,
// remove a member with null, and replace everything else, lists included.
import { isObject, type Json, type JsonObject, memberOf } from '../../runtime/json.ts';

/**
 * The smallest patch from `from` to `to`; undefined when they are equal. A null member of an object in `to` counts as
 * absent: a merge patch cannot tell them apart.
 */
export function mergePatch(from: Json | undefined, to: Json): Json | undefined {
  if (!isObject(to)) return isEqual(from, to) ? undefined : to;
  if (!isObject(from)) return withoutNulls(to);
  const removed = Object.keys(from)
    .filter((member) => memberOf(from, member) !== null && (memberOf(to, member) ?? null) === null)
    .map((member) => [member, null] as const);
  const changed = presentMembers(to).flatMap(([member, value]) => {
    const patch = mergePatch(memberOf(from, member) ?? undefined, value);
    return patch === undefined ? [] : [[member, patch] as const];
  });
  const members = [...removed, ...changed];
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** The result of sending `patch` to the API server for `target`. */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const kept = isObject(target)
    ? Object.entries(target).filter(([member]) => !Object.hasOwn(patch, member))
    : [];
  const set = presentMembers(patch).map(
    ([member, value]) => [member, applyMergePatch(memberOf(target, member), value)] as const,
  );
  return Object.fromEntries([...kept, ...set]);
}

/** Whether both are the same JSON. The order of lists counts, the order of members does not. */
export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item: Json, index) => isEqual(item, b[index] as Json));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const members = Object.keys(a);
  return (
    members.length === Object.keys(b).length &&
    members.every((member) => Object.hasOwn(b, member) && isEqual(a[member], b[member]))
  );
}

function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(
    presentMembers(object).map(
      ([member, value]) => [member, isObject(value) ? withoutNulls(value) : value] as const,
    ),
  );
}

function presentMembers(object: JsonObject): (readonly [string, Json])[] {
  return Object.entries(object).filter(([, value]) => value !== null);
}
