// Determines what an API server keeps of a custom object: the fields in the schema of its definition.
//
// The rules:
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning
import { isList, isObject, type Json, type JsonObject, memberOf } from '../../runtime/json.ts';

export interface StructuralSchema {
  readonly fields: ReadonlyMap<string, StructuralSchema>;
  /** Schema of a map's entries, whatever their keys. */
  readonly entries?: StructuralSchema;
  /** Schema of a list's items. */
  readonly items?: StructuralSchema;
  /** Whether unknown fields are kept. */
  readonly open: boolean;
}

const nothing: ReadonlyMap<string, StructuralSchema> = new Map();

/** A place that keeps any value. */
export const anything: StructuralSchema = { fields: nothing, open: true };

/** Reads the `openAPIV3Schema` of a definition. */
export function structuralSchema(raw: Json | undefined): StructuralSchema {
  if (!isObject(raw)) return anything;
  const properties = memberOf(raw, 'properties');
  const additional = memberOf(raw, 'additionalProperties');
  const items = memberOf(raw, 'items');
  const fields = isObject(properties)
    ? new Map(Object.entries(properties).map(([name, inner]) => [name, structuralSchema(inner)] as const))
    : nothing;
  return {
    fields,
    ...(isPresent(additional) && { entries: structuralSchema(additional) }),
    ...(items !== undefined && { items: structuralSchema(items) }),
    open: raw['x-kubernetes-preserve-unknown-fields'] === true,
  };
}

/** The schema at `path` within `schema`, in which any text names an item of a list; undefined when the server drops that field. */
export function schemaAt(schema: StructuralSchema, path: readonly string[]): StructuralSchema | undefined {
  return path.reduce<StructuralSchema | undefined>((at, member) => at && schemaOf(at, member), schema);
}

function schemaOf(
  { fields, entries, items, open }: StructuralSchema,
  member: string,
): StructuralSchema | undefined {
  return fields.get(member) ?? entries ?? items ?? (open ? anything : undefined);
}

/** `value` without the fields that the server drops. */
export function prune(value: Json, schema: StructuralSchema): Json {
  if (isList(value)) return value.map((item) => prune(item, schema.items ?? anything));
  return isObject(value) ? pruneObject(value, schema) : value;
}

function pruneObject(object: JsonObject, schema: StructuralSchema): JsonObject {
  const kept: [string, Json][] = [];
  for (const [member, value] of Object.entries(object)) {
    const inner = schemaOf(schema, member);
    if (inner !== undefined) kept.push([member, prune(value, inner)]);
  }
  return Object.fromEntries(kept);
}

function isPresent(additional: Json | undefined): boolean {
  return additional !== undefined && additional !== false && additional !== null;
}
