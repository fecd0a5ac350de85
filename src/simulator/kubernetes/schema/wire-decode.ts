// Decodes JSON as the API server decodes a built-in type. Drops and reports unknown fields, omits empty ones,
// and rejects a value of the wrong type with the text of Go's decoder.
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';
import { DecodeError } from './decode-error.ts';
import { pathOf, type ValuePlace } from './value-place.ts';
import type { StructShape, WireField, WireShape } from './wire-shape.ts';

export interface WireDecoded {
  readonly value: JsonObject;
  /** Paths of fields unknown to the type, in request order. */
  readonly unknownFields: readonly string[];
}

/**
 * Decodes `value` as `shape`; throws `DecodeError`. Paths of unknown fields start with `prefix`, those of
 * errors do not, as in the real server.
 */
export function decodeWire(value: JsonValue, shape: StructShape, prefix = ''): WireDecoded {
  const unknownFields: string[] = [];
  const root = { up: undefined, step: prefix, isField: false, struct: shape.name, unknownFields };
  return { value: decodeStruct(value, shape, root), unknownFields };
}

interface Place extends ValuePlace {
  readonly up: Place | undefined;
  readonly isField: boolean;
  /** The innermost struct. */
  readonly struct: string;
  readonly unknownFields: string[];
}

function inside(up: Place, step: string | number): Place {
  return { up, step, isField: false, struct: up.struct, unknownFields: up.unknownFields };
}

/** The path in type errors: field names only. */
function fieldPath({ up, step, isField }: Place): readonly string[] {
  const outer = up === undefined ? [] : fieldPath(up);
  return isField ? [...outer, String(step)] : outer;
}

function decodeStruct(value: JsonValue, shape: StructShape, place: Place): JsonObject {
  if (value !== null && !isJsonObject(value)) throw wrongType(value, shape, place);
  const read = readFields(value ?? {}, shape, place);
  const decoded: Record<string, JsonValue> = {};
  for (let index = 0; index < shape.fields.length; index++) {
    const [name, field] = shape.fields[index] as StructShape['fields'][number];
    const result = written(read[index], field);
    if (result !== undefined) decoded[name] = result;
  }
  return decoded;
}

/** By their places, in request order: of several wrong values, the first is reported. */
function readFields(
  source: JsonObject,
  { name: struct, fields, places }: StructShape,
  place: Place,
): readonly (JsonValue | undefined)[] {
  const read: (JsonValue | undefined)[] = [];
  const { unknownFields } = place;
  for (const name of Object.keys(source)) {
    const value = source[name] ?? null;
    const index = places.get(name);
    const inner = { up: place, step: name, isField: true, struct, unknownFields };
    if (index === undefined) unknownFields.push(pathOf(inner));
    else if (value !== null) read[index] = decodeValue(value, fieldAt(fields, index).shape, inner);
  }
  return read;
}

function fieldAt(fields: StructShape['fields'], index: number): WireField {
  return (fields[index] as StructShape['fields'][number])[1];
}

function written(value: JsonValue | undefined, field: WireField): JsonValue | undefined {
  if (field.presence === 'always') return value ?? zeroOf(field.shape);
  return value !== undefined && field.presence === 'filled' && isEmpty(value, field.shape)
    ? undefined
    : value;
}

/** Go never treats a struct as empty. */
function isEmpty(value: JsonValue, shape: WireShape): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  if (isJsonArray(value)) return value.length === 0;
  return shape.kind === 'map' && isJsonObject(value) && Object.keys(value).length === 0;
}

function zeroOf(shape: WireShape): JsonValue {
  if (shape.kind === 'struct') return decodeWire({}, shape).value;
  return shape.kind === 'scalar' ? shape.zero : null;
}

function decodeValue(value: JsonValue, shape: WireShape, place: Place): JsonValue {
  switch (shape.kind) {
    case 'struct':
      return decodeStruct(value, shape, place);
    case 'list':
      return decodeList(value, shape, place);
    case 'map':
      return decodeMap(value, shape, place);
    case 'scalar': {
      const read = shape.read(value);
      if (read === undefined) throw wrongType(value, shape, place);
      return read;
    }
  }
}

function decodeList(value: JsonValue, shape: WireShape & { readonly kind: 'list' }, place: Place): JsonValue {
  if (!isJsonArray(value)) throw wrongType(value, shape, place);
  return value.map((item, index) =>
    item === null ? zeroOf(shape.items) : decodeValue(item, shape.items, inside(place, index)),
  );
}

function decodeMap(value: JsonValue, shape: WireShape & { readonly kind: 'map' }, place: Place): JsonValue {
  if (!isJsonObject(value)) throw wrongType(value, shape, place);
  const decoded: Record<string, JsonValue> = {};
  for (const key of Object.keys(value).toSorted()) {
    const item = value[key] ?? null;
    decoded[key] = item === null ? zeroOf(shape.values) : decodeValue(item, shape.values, inside(place, key));
  }
  return decoded;
}

function wrongType(value: JsonValue, shape: WireShape, place: Place): DecodeError {
  const path = fieldPath(place);
  const into = path.length === 0 ? 'value' : `struct field ${place.struct}.${path.join('.')}`;
  return new DecodeError(
    `json: cannot unmarshal ${jsonTypeOf(value)} into Go ${into} of type ${goTypeOf(shape)}`,
  );
}

function jsonTypeOf(value: JsonValue): string {
  if (isJsonArray(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function goTypeOf(shape: WireShape): string {
  switch (shape.kind) {
    case 'list':
      return `[]${goTypeOf(shape.items)}`;
    case 'map':
      return `map[string]${goTypeOf(shape.values)}`;
    case 'struct':
      return `v1.${shape.name}`;
    case 'scalar':
      return shape.goType;
  }
}
