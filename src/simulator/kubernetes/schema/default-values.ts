// Applies a schema's defaults to fields that are absent, or null and not nullable.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';
import { schemaOfField, type StructuralSchema } from './structural-schema.ts';

/** A copy of `object` with the defaults of `schema`. */
export function withDefaults(object: JsonObject, schema: StructuralSchema): JsonObject {
  const filled: Record<string, JsonValue> = { ...object };
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const given = filled[name];
    const missing = given === undefined || (given === null && field.nullable !== true);
    if (missing && field.default !== undefined) filled[name] = field.default;
  }
  for (const [name, value] of Object.entries(filled)) {
    const field = schemaOfField(schema, name);
    if (field !== undefined) filled[name] = defaultsInside(value, field);
  }
  return filled;
}

/** Whether a schema has any default. */
export function hasDefaults(schema: StructuralSchema): boolean {
  const { properties = {}, items, additionalProperties } = schema;
  const inner = [...Object.values(properties), items, additionalProperties];
  return schema.default !== undefined || inner.some((part) => typeof part === 'object' && hasDefaults(part));
}

function defaultsInside(value: JsonValue, schema: StructuralSchema): JsonValue {
  const { items } = schema;
  if (isJsonArray(value))
    return items === undefined ? value : value.map((item) => defaultsInside(item, items));
  return isJsonObject(value) ? withDefaults(value, schema) : value;
}
