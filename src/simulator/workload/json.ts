// Reads JSON as the agents' language does: a missing, null or mistyped field reads as the zero of its type.
// Never mutates its input.

import type { JsonObject as StrictObject } from '../kubernetes/json-value.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

const nothing: JsonObject = Object.freeze({});

/** Parses an object. Throws a SyntaxError for malformed JSON and a TypeError for JSON that is not an object. */
export function parseObject(text: string): JsonObject {
  const value = JSON.parse(text) as Json;
  if (!isObject(value)) throw new TypeError('the text spells JSON but not an object');
  return value;
}

/** The object without undefined fields, as serialization would drop them; the same object if there are none. */
export function asJson(object: JsonObject): StrictObject {
  return spelt(object) as StrictObject;
}

/** A frozen object comes from the API and has no undefined fields. */
function spelt(value: Json): Json {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(spelt);
  const fields = Object.entries(value as JsonObject).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, spelt(field as Json)]));
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at `path`; undefined if the path breaks off. */
export function valueAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value;
  for (const name of path) {
    if (!isObject(current)) return undefined;
    current = current[name];
  }
  return current;
}

export function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : nothing;
}

export function listAt(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? (found as readonly Json[]) : [];
}

export function textAt(value: Json | undefined, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function numberAt(value: Json | undefined, ...path: readonly string[]): number {
  const found = valueAt(value, ...path);
  return typeof found === 'number' ? found : 0;
}

/** The strings of a list; skips other items. */
export function textsAt(value: Json | undefined, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((item) => typeof item === 'string');
}

/** Without undefined fields and zeros: what an encoder omits. */
export function withoutZeros(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== 0));
}

/** The strings of an object by name; skips other fields. */
export function textMapAt(value: Json | undefined, ...path: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, text] of Object.entries(objectAt(value, ...path))) {
    if (typeof text === 'string') found.set(name, text);
  }
  return found;
}
