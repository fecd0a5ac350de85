// Reads parts of decoded objects with their types.
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, valueAt } from '../json-value.ts';
import type { KubernetesObject } from './kubernetes-object.ts';

/** A part of an object, such as `spec`; empty if absent. */
export function partOf(object: JsonObject, ...path: readonly string[]): JsonObject {
  const part = valueAt(object, ...path);
  return isJsonObject(part) ? part : {};
}

/** The items of a list; empty if absent. */
export function itemsOf(object: JsonValue | undefined, ...path: readonly string[]): readonly JsonValue[] {
  const items = valueAt(object, ...path);
  return isJsonArray(items) ? items : [];
}

/** `object` with one part from `source`. */
export function withPartOf(
  object: KubernetesObject,
  name: string,
  source: KubernetesObject,
): KubernetesObject {
  const part = source[name];
  return part === undefined ? object : { ...object, [name]: part };
}
