// Prunes custom resources as the API server does: removes unknown fields, and nulls that the schema does not
// allow.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning
import { isJsonArray, type JsonObject, type JsonValue } from '../json-value.ts';
import { schemaOfField, type StructuralSchema } from './structural-schema.ts';
import { pathOf, type ValuePlace } from './value-place.ts';

const typeAndMetadata: readonly string[] = ['apiVersion', 'kind', 'metadata'];

export interface Pruned {
  readonly object: JsonObject;
  /** Paths of the removed fields, sorted. */
  readonly unknownFields: readonly string[];
}

/** Prunes a whole object; keeps its apiVersion, kind and metadata. */
export function pruneObject(object: JsonObject, schema: StructuralSchema): Pruned {
  const unknownFields: string[] = [];
  const root = { ...schema, 'x-kubernetes-embedded-resource': true };
  const pruned = pruneFields(object, root, { up: undefined, step: '', unknownFields });
  return { object: pruned, unknownFields: unknownFields.toSorted() };
}

interface Place extends ValuePlace {
  readonly unknownFields: string[];
}

/** Immutable values of stored objects that a schema does not change. */
const untouched = new WeakMap<object, StructuralSchema>();
const anything: StructuralSchema = {};

function prune(value: JsonValue, schema: StructuralSchema = anything, place: Place): JsonValue {
  if (typeof value !== 'object' || value === null || untouched.get(value) === schema) return value;
  const pruned = isJsonArray(value) ? pruneItems(value, schema, place) : pruneFields(value, schema, place);
  if (pruned === value && Object.isFrozen(value)) untouched.set(value, schema);
  return pruned;
}

/** Returns the same list if nothing is removed. */
function pruneItems(
  list: readonly JsonValue[],
  schema: StructuralSchema,
  place: Place,
): readonly JsonValue[] {
  const { unknownFields } = place;
  const pruned = list.map((item, index) =>
    prune(item, schema.items, { up: place, step: index, unknownFields }),
  );
  return pruned.every((item, index) => item === list[index]) ? list : pruned;
}

/** Returns the same object if nothing is removed. */
function pruneFields(object: JsonObject, schema: StructuralSchema, place: Place): JsonObject {
  const { unknownFields } = place;
  const kept: Record<string, JsonValue> = {};
  let isSame = true;
  for (const name of Object.keys(object)) {
    const value = object[name] as JsonValue;
    const fate = fateOf(name, schema);
    const inner = { up: place, step: name, unknownFields };
    if (fate === 'unknown') unknownFields.push(pathOf(inner));
    else if (fate === 'kept') kept[name] = value;
    else if (!isUselessNull(value, fate)) kept[name] = prune(value, fate, inner);
    isSame &&= kept[name] === value;
  }
  return isSame ? object : kept;
}

function fateOf(name: string, schema: StructuralSchema): StructuralSchema | 'kept' | 'unknown' {
  if (schema['x-kubernetes-embedded-resource'] === true && typeAndMetadata.includes(name)) return 'kept';
  const field = schemaOfField(schema, name);
  if (field !== undefined) return field;
  const open =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  return open ? 'kept' : 'unknown';
}

/** A null that is neither nullable nor defaulted counts as absent. */
function isUselessNull(value: JsonValue, schema: StructuralSchema): boolean {
  return value === null && schema.nullable !== true && schema.default === undefined;
}
