// JSON merge patch (RFC 7386): merges objects field by field, removes a field with null, and replaces anything else.
import { isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';

/** `target` after `patch`; mutates neither. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  return mergeObjects(isJsonObject(target) ? target : {}, patch);
}

/** Like `mergePatch`, for the objects of API resources. */
export function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, JsonValue> = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(Object.hasOwn(target, name) ? target[name] : undefined, value);
  }
  return merged;
}
