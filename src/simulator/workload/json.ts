// Reading JSON the way the agents' language does: a field that is missing, null or of another kind reads as the zero of
// its type. Never changes what it is given.

import type { JsonObject as StrictObject } from '../kubernetes/json-value.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

const nothing: JsonObject = Object.freeze({});

/** The object that `text` spells. Throws a SyntaxError for what is no JSON, a TypeError for JSON that is no object. */
export function parseObject(text: string): JsonObject {
  const value = JSON.parse(text) as Json;
  if (!isObject(value)) throw new TypeError('the text spells JSON but not an object');
  return value;
}

/** The same without fields that are undefined, as text would have it; the same object where there are none. */
export function asJson(object: JsonObject): StrictObject {
  return spelt(object) as StrictObject;
}

/** What is frozen comes from the API, which holds nothing undefined. */
function spelt(value: Json): Json {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(spelt);
  const fields = Object.entries(value as JsonObject).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, spelt(field as Json)]));
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What lies at the end of `path`, undefined where the path breaks off. */
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

/** The texts of a list; what is no text is left out. */
export function textsAt(value: Json | undefined, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((item) => typeof item === 'string');
}

/** The texts of an object under their names; what is no text is left out. */
export function textMapAt(value: Json | undefined, ...path: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, text] of Object.entries(objectAt(value, ...path))) {
    if (typeof text === 'string') found.set(name, text);
  }
  return found;
}
