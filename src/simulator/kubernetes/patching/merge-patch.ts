// JSON merge patch (RFC 7386): objects are merged field by field, null takes a field away, anything else replaces.
import { isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';

/** `target` after `patch`; neither is changed. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  return mergeObjects(isJsonObject(target) ? target : {}, patch);
}

/** Like `mergePatch`, for the objects that API resources are. */
export function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, JsonValue> = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(Object.hasOwn(target, name) ? target[name] : undefined, value);
  }
  return merged;
}
