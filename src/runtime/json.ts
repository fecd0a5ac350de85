// JSON as types. Everything read from or written to the API server uses them.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [member: string]: Json;
}

/** A JSON object, neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether there is nothing, or a null. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** The member of an object, undefined otherwise. Own members only: `__proto__` is a name like any other. */
export function memberOf(value: unknown, member: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, member) ? value[member] : undefined;
}

/** The value at a path of members; undefined when one is missing. */
export function valueAt(value: unknown, ...path: readonly string[]): Json | undefined {
  let inner = value as Json | undefined;
  for (const member of path) inner = memberOf(inner, member);
  return inner;
}

/** The items of the list at a path of members; none when it is missing or no list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly Json[] {
  const found = valueAt(value, ...path);
  return isList(found) ? found : [];
}

/** The object at a path of members; an empty one when it is missing or none. */
export function objectAt(value: unknown, ...path: readonly string[]): JsonObject {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : {};
}

/** The members of that object that are texts. */
export function textsAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  const texts = Object.entries(objectAt(value, ...path));
  return Object.fromEntries(texts.filter((each): each is [string, string] => typeof each[1] === 'string'));
}

/** The object that a text holds; undefined when it holds none. */
export function objectIn(text: string | undefined): JsonObject | undefined {
  try {
    const value = JSON.parse(text ?? '') as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The string at a path of members; undefined when it is missing or not a string. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : undefined;
}
